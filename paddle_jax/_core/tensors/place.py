"""Places: Paddle's names for devices, mapped on what JAX offers. No device is touched
before one is needed."""

import jax
import numpy as np

from paddle_jax._core.lazy.devices import HOST, default_device
from paddle_jax._core.lazy.lazy_array import LazyArray, persistent_from_numpy
from paddle_jax._core.lazy.recording import run_pending
from paddle_jax._core.lazy.symbol import ABSTRACT_TYPES
from paddle_jax._core.lazy.transfer import to_array

_KINDS = {"cpu": "cpu", "gpu": "gpu", "cuda": "gpu", "rocm": "gpu", "xpu": "xpu", "tpu": "tpu"}
# what a Tensor may hold that is on no device yet
_ANYWHERE = (*ABSTRACT_TYPES, np.ndarray, np.generic, jax.ShapeDtypeStruct)


class Place:
    """A device: a kind such as "cpu" or "gpu" and a number."""

    _kind, _index = "cpu", 0

    def is_cpu_place(self):
        """True for the CPU."""
        return self._kind == "cpu"

    def is_gpu_place(self):
        """True for a GPU."""
        return self._kind == "gpu"

    def is_xpu_place(self):
        """True for an XPU."""
        return self._kind == "xpu"

    def is_cuda_pinned_place(self):
        """True for page-locked host memory."""
        return isinstance(self, CUDAPinnedPlace)

    def is_ipu_place(self):
        """False: there are no IPUs."""
        return False

    is_xpu_pinned_place = is_ipu_place

    def set_place(self, place):
        """Makes this place the same as another one."""
        self._kind, self._index = place._kind, place._index

    def is_custom_place(self):
        """True for devices that Paddle has no name for, such as TPUs."""
        return self._kind not in ("cpu", "gpu", "xpu")

    def gpu_device_id(self):
        """The number of the GPU."""
        return self._index

    get_device_id = custom_device_id = xpu_device_id = ipu_device_id = gpu_device_id

    def custom_device_type(self):
        """The kind of a custom device."""
        return self._kind

    get_device_type = custom_device_type

    def __eq__(self, other):
        return isinstance(other, Place) and (self._kind, self._index) == (other._kind, other._index)

    def __hash__(self):
        return hash((self._kind, self._index))

    def __reduce__(self):
        return restored, (type(self).__name__, self._kind, self._index)

    def _equals(self, other):
        if not isinstance(other, Place):
            raise TypeError(f"_equals: other: got {type(other).__name__}; it must be a Place")
        return self == other

    def __repr__(self):
        return "Place(cpu)" if self._kind == "cpu" else f"Place({self._kind}:{self._index})"

    __str__ = __repr__


class CPUPlace(Place):
    """The CPU."""

    def __init__(self, *args):
        self._kind, self._index = "cpu", 0


class CUDAPlace(Place):
    """GPU number `device_id`."""

    def __init__(self, device_id=0):
        self._kind, self._index = "gpu", int(device_id)


class CUDAPinnedPlace(Place):
    """Host memory for fast transfer to a GPU; the same as the CPU here, since XLA manages transfers."""

    def __init__(self):
        self._kind, self._index = "cpu", 0

    def __repr__(self):
        return "Place(gpu_pinned)"


class XPUPlace(Place):
    """XPU number `device_id`."""

    def __init__(self, device_id=0):
        self._kind, self._index = "xpu", int(device_id)


class CustomPlace(Place):
    """Device number `device_id` of any kind that JAX knows, e.g. CustomPlace("tpu", 0)."""

    def __init__(self, device_type, device_id=0):
        self._kind, self._index = str(device_type), int(device_id)


for _cls in (Place, CPUPlace, CUDAPlace, CUDAPinnedPlace, XPUPlace, CustomPlace):
    _cls.__module__ = "paddle"
_CLASSES = {
    _cls.__name__: _cls for _cls in (Place, CPUPlace, CUDAPlace, CUDAPinnedPlace, XPUPlace, CustomPlace)
}


def restored(name, kind, index):
    """A place by the name of its class, its kind and number; how places are unpickled."""
    place = object.__new__(_CLASSES[name])
    place._kind, place._index = str(kind), int(index)
    return place


class _Current:
    place = None  # what set_device chose; None: JAX's own default


def make(kind, index=0) -> Place:
    """The Place of a kind and number."""
    if kind in ("cpu",):
        return CPUPlace()
    return (
        CUDAPlace(index) if kind == "gpu" else XPUPlace(index) if kind == "xpu" else CustomPlace(kind, index)
    )


def of(value) -> Place:
    """The Place of an array (of the first device when it is spread over several)."""
    if isinstance(value, _ANYWHERE):
        return current()
    if type(value) is LazyArray:
        device = value.device if value.array is not None else value.seg.device
        if not isinstance(device, jax.Device | frozenset):  # host numbers, or a result of such only
            return CPUPlace() if device is HOST else current()
        devices = device if isinstance(device, frozenset) else (device,)
    else:
        devices = value.devices()
    return of_device(min(devices, key=lambda d: d.id))


def of_device(device) -> Place:
    """The Place of a jax device: its number on this machine, which is not its number among those
    of all processes."""
    number = (
        device.id
        if device.platform == "cpu" or device.local_hardware_id is None
        else device.local_hardware_id
    )
    return make(_KINDS.get(device.platform, device.platform), number)


def current() -> Place:
    """The Place new tensors are put on."""
    if _Current.place is not None:
        return _Current.place
    platform = "cpu" if default_device() is HOST else jax.default_backend()
    return make(_KINDS.get(platform, platform), 0)


def parse(device) -> Place:
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


def jax_device(place: Place):
    """The jax device of a Place.

    Raises:
        ValueError: this machine has no such device.
    """
    try:
        return _numbered(jax.local_devices(backend=place._kind), place._index)
    except (RuntimeError, IndexError):
        here = sorted({_KINDS.get(d.platform, d.platform) for d in jax.local_devices()})
        raise ValueError(
            f"device: got {place}; this machine has {', '.join(here)}; "
            "install the jax plugin for it or choose another device"
        ) from None


def _numbered(devices, index):
    """The device of a number, among those of this process: of several processes on a machine each may have
    one, with the machine's number."""
    return (
        next(
            (device for device in devices if device.platform != "cpu" and device.local_hardware_id == index),
            None,
        )
        or devices[index]
    )


def put(array, place=None):
    """Moves an array (NumPy or jax) to a Place; None means the current one."""
    array = to_array(array)
    if place is None:
        if not isinstance(array, np.ndarray | np.generic):
            return jax.numpy.asarray(array)
        return persistent_from_numpy(array)
    return jax.device_put(array, jax_device(parse(place)))


def set_device(device):
    """Chooses the device new tensors are put on.

    Args:
        device: "cpu", "gpu", "gpu:1", "tpu:0", or a Place.
    Returns:
        The Place.
    Raises:
        ValueError: the text is malformed or this machine has no such device.
    Example:
        >>> paddle.set_device("cpu")
        Place(cpu)
    """
    place = parse(device)
    run_pending("a change of settings")
    if place._kind != "cpu" or default_device() is not HOST:  # where new arrays are put anyway
        jax.config.update("jax_default_device", jax_device(place))
    _Current.place = place
    return place


def get_device(input=None):
    """Returns the device new tensors are put on, e.g. "cpu" or "gpu:0"; for a Tensor the number of its
    GPU, -1 on the CPU."""
    if input is not None:
        return -1 if input.place.is_cpu_place() else input.place._index
    place = current()
    return "cpu" if place._kind == "cpu" else f"{place._kind}:{place._index}"
