"""A machine with accelerators, on a machine without: four devices of a second CPU client of XLA that call
themselves GPUs, or another kind.

Programs are lowered for a CPU, since the client is one. What asks a device for its platform, or JAX for its
default backend, gets the name of the fake. Only for processes of their own: `install` has to come before JAX
looks for its backends.
"""

import functools

import jax
from jax._src import hardware_utils, xla_bridge
from jax._src.lib import xla_client

DEVICES = 4


def install(kind):
    """Adds the fake devices, which become JAX's default.

    Args:
        kind: "gpu", or any other name of a platform.
    """
    fake = []
    platform = xla_client.Device.platform
    default_backend = jax.default_backend

    def client():
        fake.append(xla_client.make_cpu_client(num_devices=DEVICES, asynchronous=True))
        return fake[0]

    def platform_of(device):
        if fake and device.client is fake[0]:
            return kind
        return platform.__get__(device)

    @functools.wraps(default_backend)
    def name_of_default():
        if xla_bridge.get_backend() is fake[0]:
            return kind
        return default_backend()

    xla_client.Device.platform = property(platform_of)
    jax.default_backend = name_of_default
    hardware_utils.has_visible_nvidia_gpu = lambda: kind == "gpu"
    xla_bridge.register_backend_factory("cuda" if kind == "gpu" else kind, client, priority=500)
    jax.config.update("jax_platforms", None)
