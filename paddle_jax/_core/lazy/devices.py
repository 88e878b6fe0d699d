"""Devices of arrays, and HOST for the processor before JAX has started.

NumPy computes without XLA, and starting XLA's client takes as long as a hundred small operations. So the
processor has a name of its own here, HOST, in place of the device of a client. The client starts when
something is compiled or put into a jax array.
"""

from __future__ import annotations

import importlib.util
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import jax
from jax._src import config as jax_config  # the public `jax.config` takes twice as long
from jax._src import (
    xla_bridge,  # JAX has no public way to ask whether a backend is in use, or which there may be
)
from jax.sharding import NamedSharding

from paddle_jax._core.base import launch_variables
from paddle_jax._core.lazy import jax_plugins, tpu_compiler
from paddle_jax._core.lazy.settings import settings

if TYPE_CHECKING:
    import numpy as np


class _Host:
    """The first device of JAX's CPU backend, or what will be that."""

    __slots__ = ()
    platform = "cpu"
    id = 0

    def __repr__(self) -> str:
        return "HOST"


HOST = _Host()
# JAX's setting of the device that the program has chosen, with an attribute `value`; None: it is elsewhere
CHOSEN_DEVICE: Any = getattr(jax_config, "default_device", None)


class Devices:
    """The devices that are known so far.

    Attributes:
        default: device that JAX puts arrays on if nothing else is chosen, or None.
        host: device that HOST stands for, None until the client has started.
        stay_on_host: bool, whether this process touches no device before it must.
        meshes_over_processes: bool, whether there are meshes of one device in a program of several processes.
    """

    default: Any = None
    host: Any = None
    stay_on_host = False
    meshes_over_processes = False


# None, or the platform that a program is traced for on a machine without it; a part of JAX's cache keys
_target = jax.make_user_context(None)


# None, or the compute capability of the GPU that a program is lowered for, such as "9.0"
_capability = jax.make_user_context(None)


def lowered_for(capability: str | None) -> AbstractContextManager[None]:
    """A block in which programs are lowered for a GPU that is not there."""
    return _capability(capability)


def compute_capability() -> tuple[int, int]:
    """The compute capability of the GPU that programs are lowered for; (0, 0) where there is none."""
    found = _capability.value or getattr(default_device(), "compute_capability", None) or "0.0"
    major, _, minor = str(found).partition(".")
    if not major.isdigit():  # an AMD GPU has a name there
        return 0, 0
    return int(major), int(minor or 0)


def traced_for(platform: str) -> AbstractContextManager[None]:
    """A block in which programs are traced for another platform than that of this machine."""
    return _target(platform)


def target_platform() -> str | None:
    """The platform of the innermost `traced_for`, or None."""
    return _target.value


def traced_platform() -> str:
    """The platform that what is traced now will run on, as far as is known: that of the default device."""
    if _target.value is not None:
        return _target.value
    device = default_device()
    return getattr(device, "platform", device)


def default_device() -> Any:
    """The device that new arrays are put on: HOST, a device of JAX, or the name of a platform."""
    chosen = jax.config.jax_default_device  # pyright: ignore[reportAttributeAccessIssue]
    if chosen is not None:
        return canonical_device(chosen)
    return Devices.default or _find_default()


def may_interpret(device: Any) -> bool:
    """Whether NumPy may compute what belongs on a device."""
    return settings.interpreter and device is default_device() and device.platform == "cpu"


def _find_default() -> Any:
    if _has_only_cpu():
        Devices.default = HOST
    else:
        Devices.default = canonical_device(jax.local_devices()[0])
        if getattr(Devices.default, "platform", "") == "tpu":
            tpu_compiler.refuse_complex128()
    return Devices.default


def _has_only_cpu() -> bool:
    """Whether JAX, once it starts, will find the processor and nothing else.

    False if it has started, and if listing devices connects the processes of a program.
    """
    if xla_bridge._backends or launch_variables.size() > 1:
        return False
    platforms = jax.config.jax_platforms  # pyright: ignore[reportAttributeAccessIssue]
    if platforms:
        return platforms == "cpu"
    try:
        if not jax_plugins.none_installed():
            xla_bridge._discover_and_register_pjrt_plugins()
        others = xla_bridge._backend_factories.keys() - {"cpu", "proxy"}
    except AttributeError:  # another version of JAX
        return False
    return not others or others == {"tpu"} and importlib.util.find_spec("libtpu") is None


def canonical_device(device: Any) -> Any:
    """HOST for the device that it stands for; any other as it is."""
    # HOST stands for a device that is known once the CPU has started.
    if Devices.host is None and isinstance(device, jax.Device):
        _start_host()
    if device is Devices.host:
        return HOST
    return device


def jax_device(device: Any) -> Any:
    """The device of JAX behind HOST, whose client starts now; any other as it is."""
    if device is not HOST:
        return device
    return Devices.host or _start_host()


def _start_host() -> Any:
    try:
        Devices.host = jax.local_devices(backend="cpu")[0]
    except RuntimeError:  # the program's settings allow accelerators only
        Devices.host = HOST
    return Devices.host


def device_of(array: jax.Array) -> Any:
    """The device of a jax array; a frozenset of those of a mesh."""
    devices = array.sharding.device_set
    # a mesh of one device may lie in another process, so results must stay bound to it
    is_on_mesh = Devices.meshes_over_processes and isinstance(array.sharding, NamedSharding)
    if len(devices) == 1 and not is_on_mesh:
        return canonical_device(next(iter(devices)))
    return frozenset(devices)


def bind_to_meshes() -> None:
    """Keeps results of values on a mesh of one device bound to that mesh."""
    Devices.meshes_over_processes = True


def stay_on_host() -> None:
    """Keeps new Tensors of this process NumPy arrays; JAX starts at the first computation with one."""
    Devices.stay_on_host = True


def keep_on_host(array: np.ndarray) -> np.ndarray | None:
    """A NumPy array that nobody will change, if a Tensor may hold it as it is; else None.

    That is so in a process that has no device in use and wants none.
    """
    if Devices.stay_on_host and not xla_bridge._backends:
        return array
    return None
