"""Places: Paddle's names for devices, mapped to devices of JAX.

Code here touches no device before a program needs one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.core
import numpy as np

from paddle_jax._core.lazy.device_put import put_uncommitted
from paddle_jax._core.lazy.devices import HOST, canonical_device, default_device, device_of
from paddle_jax._core.lazy.lazy_array import LazyArray, persistent_from_numpy
from paddle_jax._core.lazy.multi_device import MultiDevice
from paddle_jax._core.lazy.recording import run_pending
from paddle_jax._core.lazy.symbol import ABSTRACT_TYPES
from paddle_jax._core.lazy.transfer import to_array

_CLASS_NAMES = {"gpu": "CUDAPlace", "xpu": "XPUPlace"}
# The extra of JAX with the plugin for a device, for the message.
_JAX_EXTRAS = {"gpu": "cuda13", "cuda": "cuda13", "tpu": "tpu"}
# Paddle's kinds for JAX's platforms.
_KINDS = {"cpu": "cpu", "gpu": "gpu", "cuda": "gpu", "rocm": "gpu", "xpu": "xpu", "tpu": "tpu"}
# what a Tensor may hold that is on no device yet
_ANYWHERE = (*ABSTRACT_TYPES, np.ndarray, np.generic, jax.ShapeDtypeStruct)


class Place:
    """A device: a kind such as "cpu" or "gpu" and a number."""

    _kind = "cpu"
    _index = 0

    def is_cpu_place(self) -> bool:
        """True for the CPU."""
        return self._kind == "cpu"

    def is_gpu_place(self) -> bool:
        """True for a GPU."""
        return self._kind == "gpu"

    def is_xpu_place(self) -> bool:
        """True for an XPU."""
        return self._kind == "xpu"

    def is_cuda_pinned_place(self) -> bool:
        """True for page-locked host memory."""
        return isinstance(self, CUDAPinnedPlace)

    def is_ipu_place(self) -> bool:
        """False: there are no IPUs."""
        return False

    is_xpu_pinned_place = is_ipu_place

    def set_place(self, place: Place) -> None:
        """Makes this place the same as another one."""
        self._kind = place._kind
        self._index = place._index

    def is_custom_place(self) -> bool:
        """True for devices that Paddle has no name for, such as TPUs."""
        return self._kind not in ("cpu", "gpu", "xpu")

    def gpu_device_id(self) -> int:
        """The number of the GPU."""
        return self._index

    get_device_id = gpu_device_id
    custom_device_id = gpu_device_id
    xpu_device_id = gpu_device_id
    ipu_device_id = gpu_device_id

    def custom_device_type(self) -> str:
        """The kind of a custom device."""
        return self._kind

    get_device_type = custom_device_type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and (self._kind, self._index) == (other._kind, other._index)

    def __hash__(self) -> int:
        return hash((self._kind, self._index))

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (type(self).__name__, self._kind, self._index)

    def _equals(self, other: Any) -> bool:
        if not isinstance(other, Place):
            raise TypeError(f"_equals: other: got {type(other).__name__}; it must be a Place")
        return self == other

    def __repr__(self) -> str:
        if self._kind == "cpu":
            return "Place(cpu)"
        return f"Place({self._kind}:{self._index})"

    __str__ = __repr__


class CPUPlace(Place):
    """The CPU.

    Example:
        >>> paddle.CPUPlace()
        Place(cpu)
    """

    def __init__(self, *args: Any) -> None:
        self._kind = "cpu"
        self._index = 0


class CUDAPlace(Place):
    """GPU number `device_id`.

    Args:
        device_id: int.
    Raises:
        TypeError: device_id is not an int.
        ValueError: this machine has no such GPU.
    Example:
        >>> places = [paddle.CUDAPlace(i) for i in range(paddle.device.cuda.device_count())]
    """

    def __init__(self, device_id: int) -> None:
        self._kind = "gpu"
        self._index = _checked_number("CUDAPlace", "gpu", device_id)


class CUDAPinnedPlace(Place):
    """Host memory for fast transfer to a GPU; the same as the CPU here, since XLA manages transfers.

    Differs from Paddle: it can be made without a GPU, too.
    Example:
        >>> paddle.CUDAPinnedPlace()
        Place(gpu_pinned)
    """

    def __init__(self) -> None:
        self._kind = "cpu"
        self._index = 0

    def __repr__(self) -> str:
        return "Place(gpu_pinned)"

    __str__ = __repr__


class XPUPlace(Place):
    """XPU number `device_id`.

    Args:
        device_id: int.
    Raises:
        TypeError: device_id is not an int.
        ValueError: this machine has no such XPU.
    Example:
        >>> places = [paddle.XPUPlace(i) for i in range(paddle.device.xpu.device_count())]
    """

    def __init__(self, device_id: int) -> None:
        self._kind = "xpu"
        self._index = _checked_number("XPUPlace", "xpu", device_id)


class CustomPlace(Place):
    """Device number `device_id` of any kind that JAX knows, e.g. CustomPlace("tpu", 0).

    Args:
        device_type: str, the kind, as in `paddle.device.get_all_custom_device_type()`.
        device_id: int.
    Raises:
        TypeError: device_type is not a text, or device_id not an int.
        ValueError: this machine has no such device.
    Example:
        >>> kinds = paddle.device.get_all_custom_device_type()
        >>> places = [paddle.CustomPlace(kind, 0) for kind in kinds]
    """

    def __init__(self, device_type: str, device_id: int) -> None:
        if not isinstance(device_type, str):
            raise TypeError(
                f"CustomPlace: device_type: got {type(device_type).__name__}; it must be a text such as 'tpu'"
            )
        self._kind = device_type
        self._index = _checked_number("CustomPlace", device_type, device_id)


def _checked_number(name: str, kind: str, number: Any) -> int:
    """The number of a device that this machine has. name: the class of the Place."""
    if isinstance(number, bool) or not isinstance(number, int | np.integer):
        raise TypeError(f"{name}: device_id: got {number!r}; it must be an int, 0 for the first device")
    place = restored(name, kind, int(number))
    jax_device(place)
    return int(number)


for _cls in (Place, CPUPlace, CUDAPlace, CUDAPinnedPlace, XPUPlace, CustomPlace):
    _cls.__module__ = "paddle"
_CLASSES = {
    _cls.__name__: _cls for _cls in (Place, CPUPlace, CUDAPlace, CUDAPinnedPlace, XPUPlace, CustomPlace)
}


def restored(name: str, kind: str, index: int) -> Place:
    """A place by the name of its class, its kind and number; pickles of places call it."""
    place = object.__new__(_CLASSES[name])
    place._kind = str(kind)
    place._index = int(index)
    return place


class _Current:
    """The place of new tensors.

    Attributes:
        place: Place that set_device chose; None: JAX's own default.
    """

    place: Place | None = None


def make(kind: str, index: int = 0) -> Place:
    """The Place of a kind and number."""
    if kind == "cpu":
        return CPUPlace()
    return restored(_CLASS_NAMES.get(kind, "CustomPlace"), kind, index)


def of(value: Any) -> Place:
    """The Place of an array; that of the first device where it is on several."""
    if isinstance(value, _ANYWHERE):
        return current()
    if type(value) is not LazyArray:
        return of_device(_first(value.devices()))
    if value.array is not None:
        device = value.device
    else:
        device = value.segment.device
    if isinstance(device, frozenset):
        return of_device(_first(device))
    if isinstance(device, jax.Device):
        return of_device(device)
    # host numbers, or a result of host numbers only
    if device is HOST:
        return CPUPlace()
    return current()


def elsewhere(value: Any) -> Place | None:
    """The Place of an array that is on one device, but not where new arrays are put; else None."""
    # Nearly always: no Tensor was ever put elsewhere.
    if not MultiDevice.placed:
        return None
    if type(value) is LazyArray:
        device = value.device if value.array is not None else value.segment.device
    elif isinstance(value, jax.Array) and not isinstance(value, ABSTRACT_TYPES):
        device = device_of(value)
    else:
        return None
    if device is default_device() or not (device is HOST or isinstance(device, jax.Device)):
        return None
    return of(value)


def beside(array: Any, place: Place) -> Any:
    """The array on a Place. As it is where it is there, in a trace, and while no device was named."""
    if not MultiDevice.placed or isinstance(array, ABSTRACT_TYPES) or of(array) == place:
        return array
    return put(array, place)


def _first(devices: Any) -> Any:
    """The device with the least number."""
    return min(devices, key=lambda device: device.id)


def of_device(device: Any) -> Place:
    """The Place of a jax device.

    It has the number of the device on this machine, not that among the devices of all processes.
    """
    number = device.id
    if device.platform != "cpu" and device.local_hardware_id is not None:
        number = device.local_hardware_id
    return make(_KINDS.get(device.platform, device.platform), number)


def current() -> Place:
    """The Place new tensors are put on."""
    if _Current.place is not None:
        return _Current.place
    if default_device() is HOST:
        platform = "cpu"
    else:
        platform = jax.default_backend()
    return make(_KINDS.get(platform, platform), 0)


def parse(device: Any) -> Place:
    """A Place from "cpu", "gpu:0", "gpu", a Place, or a jax device.

    Raises:
        ValueError: the text is not of this form.
    """
    if isinstance(device, Place):
        return device
    if isinstance(device, jax.Device):
        return of_device(device)
    if not isinstance(device, str):
        raise ValueError(f"device: got {device!r}; allowed are 'cpu', 'gpu', 'gpu:0', 'tpu:0', or a Place")
    kind, _, number = device.lower().partition(":")
    if kind in ("gpu_pinned", "cuda_pinned"):
        return CUDAPinnedPlace()
    if (number and not number.isdigit()) or not kind:
        raise ValueError(f"device: got {device!r}; allowed are 'cpu', 'gpu', 'gpu:0', 'tpu:0'")
    return make(_KINDS.get(kind, kind), int(number or 0))


def jax_device(place: Place) -> Any:
    """The jax device of a Place.

    Raises:
        ValueError: this machine has no such device.
    """
    try:
        devices = jax.local_devices(backend=place._kind)
    except RuntimeError:
        raise ValueError(
            f"device: got {place}; JAX finds {', '.join(local_kinds())} here; {_remedy(place._kind)}"
        ) from None
    device = _device_numbered(devices, place._index)
    if device is None:
        numbers = ", ".join(str(of_device(each)._index) for each in devices)
        raise ValueError(f"device: got {place}; this process has the numbers {numbers}; choose one of them")
    if not _is_default(device):
        # From now on Tensors may be on different devices.
        MultiDevice.placed = True
    return device


def _is_default(device: Any) -> bool:
    """Whether new arrays are put on a device anyway."""
    default = default_device()
    return canonical_device(device) is default or (device.platform == "cpu" and default is HOST)


def local_kinds() -> list[str]:
    """The kinds of devices of this process, in Paddle's words: "cpu", "gpu", "tpu", ..."""
    return sorted({str(_KINDS.get(d.platform, d.platform)) for d in jax.local_devices()})


def accelerator_kind() -> str | None:
    """The kind of accelerator that `Tensor.cuda` means: one that Paddle has no name for comes first. None
    where there is no accelerator."""
    kinds = [kind for kind in local_kinds() if kind != "cpu"]
    return min(kinds, key=lambda kind: kind in _CLASS_NAMES, default=None)


def _remedy(kind: str) -> str:
    """What to do about a kind of device that JAX does not find."""
    package = _JAX_EXTRAS.get(kind)
    if package is None:
        return "choose another device"
    return f'install JAX\'s package for it, `pip install "jax[{package}]"`, or choose another device'


def accelerator(name: str, number: Any = None) -> Place:
    """The accelerator with a number; None: the current device, or the first if that is the CPU.

    Raises:
        ValueError: this machine has no such accelerator. name: the function that asks, for the error.
    """
    kind = accelerator_kind()
    if kind is None:
        raise ValueError(
            f"{name}: this machine has no accelerator that JAX sees; ask paddle.device.device_count() first"
        )
    if number is None:
        here = current()
        if here._kind == kind:
            return here
        return make(kind, 0)
    if isinstance(number, bool) or not isinstance(number, int):
        raise ValueError(f"{name}: device_id: got {number!r}; it must be an int or None")
    return make(kind, number)


def _device_numbered(devices: Sequence[Any], index: int) -> Any:
    """The device with a number, among the devices of this process; None if there is none.

    Of several processes on a machine each may have one device, with its number on the machine.
    """
    # Accelerators have the numbers of the host, also where a process sees a part of them.
    for device in devices:
        if device.platform != "cpu" and device.local_hardware_id == index:
            return device
    if 0 <= index < len(devices):
        return devices[index]
    return None


def put(array: Any, place: Any = None) -> Any:
    """Moves an array (NumPy or jax) to a Place; None means the current one."""
    array = to_array(array)
    if place is None:
        if not isinstance(array, np.ndarray | np.generic):
            return jax.numpy.asarray(array)
        return persistent_from_numpy(np.asarray(array))
    device = jax_device(parse(place))
    placed = jax.device_put(array, device)
    if isinstance(placed, jax.core.Tracer) or not _is_default(device):
        return placed
    # The default device named again binds no value to it: operations with values on a mesh take it.
    return put_uncommitted(placed, device)


def set_device(device: Any) -> Place:
    """Chooses the device new tensors are put on.

    Args:
        device: "cpu", "gpu", "gpu:1", "tpu:0", a Place, the number of a device of the current kind, or None
            for the current device.
    Returns:
        The Place.
    Raises:
        ValueError: the text is malformed or this machine has no such device.
    Example:
        >>> paddle.set_device("cpu")
        Place(cpu)
    """
    place = device_to_place(device)
    if place.is_cuda_pinned_place():
        raise ValueError(f"set_device: device: got {place}; allowed are 'cpu', 'gpu:0' or another device")
    run_pending("a change of settings")
    if place._kind != "cpu" or default_device() is not HOST:  # where new arrays are put anyway
        jax.config.update("jax_default_device", jax_device(place))
    _Current.place = place
    return place


def device_to_place(device: Any = None) -> Place:
    """The Place that a device means.

    Args:
        device: "cpu", "gpu:1", a Place, the number of a device of the current kind, or None for
            the current device.
    Returns:
        Place.
    Raises:
        ValueError: this machine has no such device.
    Example:
        >>> paddle.device.device_to_place("cpu")
        Place(cpu)
    """
    if device is None:
        return current()
    if isinstance(device, int) and not isinstance(device, bool):
        place = current()
        if place.is_cpu_place() and device:
            raise ValueError(f"device: got {device}; the current device is the CPU, which has the number 0")
        if place.is_cpu_place():
            device = place
        else:
            device = make(place.get_device_type(), device)
    place = parse(device)
    if not place.is_cpu_place():  # the CPU is always there, and need not start for this
        jax_device(place)
    return place


def get_device(input: Any = None) -> Any:
    """Returns the device new tensors are put on, e.g. "cpu" or "gpu:0"; for a Tensor the number of its
    GPU, -1 on the CPU.

    Args:
        input: Tensor. Default None: the current device.
    Returns:
        str; for a Tensor int.
    Example:
        >>> previous = paddle.set_device("cpu")
        >>> paddle.get_device()
        'cpu'
    """
    if input is not None:
        if input.place.is_cpu_place():
            return -1
        return input.place._index
    place = current()
    if place._kind == "cpu":
        return "cpu"
    return f"{place._kind}:{place._index}"
