"""Where LazyArrays lie.

What NumPy computes needs nothing of XLA's, and starting XLA's client takes as long as a hundred small
operations. So the processor has a name of its own here, HOST, in place of the device of a client, which
starts when something is compiled or put into a jax array.
"""

import importlib.util

import jax
from jax._src import (
    xla_bridge,  # JAX has no public way to ask whether a backend is in use, or which there may be
)

from paddle_jax._core.base import launch_variables
from paddle_jax._core.lazy import jax_plugins


class _Host:
    """The first device of JAX's CPU backend, or what will be that."""

    __slots__ = ()
    platform, id = "cpu", 0

    def __repr__(self):
        return "HOST"


HOST = _Host()


class _Known:
    first = None  # what JAX puts arrays on by itself
    host = None  # the device that HOST stands for, once the client has started
    late = False  # whether this process touches no device before it must


def default_device():
    """The device that new arrays are put on: HOST, a device of JAX's, or the name of a platform."""
    chosen = jax.config.jax_default_device
    if chosen is not None:
        return canonical_device(chosen)
    return _Known.first or _first()


def _first():
    _Known.first = HOST if _only_cpu() else canonical_device(jax.local_devices()[0])
    return _Known.first


def _only_cpu():
    """Whether JAX, once it starts, will find the processor and nothing else. False where it has started, and
    where a look at devices connects the processes of a program."""
    if xla_bridge._backends or launch_variables.size() > 1:
        return False
    platforms = jax.config.jax_platforms
    if platforms:
        return platforms == "cpu"
    try:
        if not jax_plugins.none_installed():
            xla_bridge._discover_and_register_pjrt_plugins()
        others = xla_bridge._backend_factories.keys() - {"cpu", "proxy"}
    except AttributeError:  # another version of JAX
        return False
    return not others or others == {"tpu"} and importlib.util.find_spec("libtpu") is None


def canonical_device(device):
    """HOST for the device that it stands for; any other as it is."""
    if _Known.host is None and isinstance(device, jax.Device):
        _start()
    return HOST if device is _Known.host else device


def jax_device(device):
    """The device of JAX's behind HOST, whose client starts now; any other as it is."""
    if device is not HOST:
        return device
    return _Known.host or _start()


def _start():
    try:
        _Known.host = jax.local_devices(backend="cpu")[0]
    except RuntimeError:  # this program was told to use accelerators only
        _Known.host = HOST
    return _Known.host


def device_of(array):
    """The device an array of JAX's is on; a frozenset for several."""
    devices = array.sharding.device_set
    return canonical_device(next(iter(devices))) if len(devices) == 1 else frozenset(devices)


def stay_on_host():
    """New Tensors of this process stay NumPy arrays; JAX starts when one of them is computed with."""
    _Known.late = True


def keep_on_host(array):
    """What a Tensor holds of a NumPy array that nobody will change, in a process that has no device in use
    and wants none; else None."""
    return array if _Known.late and not xla_bridge._backends else None
