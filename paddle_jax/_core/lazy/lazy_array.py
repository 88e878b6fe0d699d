"""Values: what a Tensor holds while the deferred tier is on. A Value is an array, a few host numbers, or the
result of an op not run yet."""

import math
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.core import trace_state_clean  # the public module does not say whether a trace is on
from jax._src.interpreters.pxla import batched_device_put  # what device_put ends in: 5 us in place of 80
from jax.sharding import NamedSharding, PartitionSpec, SingleDeviceSharding

from paddle_jax._core.base.error_translation import run_error
from paddle_jax._core.base.state import local
from paddle_jax._core.base.uninitialized import Uninitialized
from paddle_jax._core.lazy.devices import HOST, at_rest, default_device, device_of, jax_device

INEXACT = frozenset("fcV")  # NumPy kinds of floating and complex dtypes; V is how ml_dtypes show
FILL = object()  # the device of constants
_LARGE = 4096  # elements from which one number that fills a shape is spread out on the device
_ALIGNMENT = 64  # bytes
_COPIED_AT_ONCE = 100 << 10  # bytes up to which JAX copies an array before it returns
_LOOKS = 200  # at a value that is being computed, half a microsecond each, before the thread sleeps
_GIVE_WAY = getattr(os, "sched_yield", lambda: None)  # the thread that computes may need the processor
_HOST = 16  # NumPy operands up to this many elements travel as numbers, packed together


class Aval:
    """Shape and dtype (and JAX's weak type) of a Value; one object per combination, compared by identity."""

    __slots__ = ("dtype", "fills", "nbytes", "ndim", "shape", "size", "struct", "weak")

    def __init__(self, shape, dtype, weak):
        self.shape, self.dtype, self.weak, self.ndim = shape, dtype, weak, len(shape)
        self.size = int(np.prod(shape, dtype=np.int64))
        self.nbytes = self.size * dtype.itemsize
        self.struct = jax.ShapeDtypeStruct(shape, dtype, weak_type=weak)
        self.fills = {}

    def __repr__(self):
        return f"{self.dtype.name}{list(self.shape)}"


_avals: dict = {}
_MAX_AVALS = 1 << 16


def aval_of(shape, dtype, weak=False) -> Aval:
    """The Aval of a shape and NumPy dtype."""
    key = (shape, dtype, weak)
    found = _avals.get(key)
    if found is None:
        if len(_avals) >= _MAX_AVALS:
            _avals.clear()
        found = _avals[key] = Aval(tuple(map(int, shape)), np.dtype(dtype), weak)
    return found


def known_aval(aval) -> Aval:
    """The Aval for what a Value, a jax array or a tracer has as `aval`."""
    return aval if type(aval) is Aval else aval_of(aval.shape, aval.dtype, aval.weak_type)


def _references():
    """What sys.getrefcount says of an Aval that only the table holds, asked in the loop below."""
    table = {0: Aval((), np.dtype(bool), False)}
    return [sys.getrefcount(aval) for _, aval in table.copy().items()][0]


def drop_unused():
    """Forgets the Avals that nothing refers to."""
    for key in [key for key, aval in _avals.copy().items() if sys.getrefcount(aval) <= _UNUSED]:
        _avals.pop(key, None)


_UNUSED = _references()


class Value:
    """An operand or result of recorded ops.

    aval: shape and dtype. array: the jax array; a NumPy array, which nobody changes, of an op that was
    interpreted; a tuple of Python numbers (host numbers; a single one may fill a shape); None while the op
    that makes it has not run.
    seg, pos: for results, the Segment it is recorded in and the position there. device: where the array is
    (None for host numbers, FILL for constants).
    bounds: the least and the largest element, once somebody has asked. made: of a large result, the signature
    of the operation it comes from.
    """

    __slots__ = ("array", "aval", "bounds", "device", "made", "pos", "seg")

    def __repr__(self):
        return f"<Value {self.aval}{'' if self.array is not None else ' pending'}>"

    @property
    def shape(self):
        return self.aval.shape

    @property
    def dtype(self):
        return self.aval.dtype

    @property
    def ndim(self):
        return self.aval.ndim

    @property
    def size(self):
        return self.aval.size


_ARRAY = None  # the concrete class of jax arrays, known once the first one is seen


def _array_type():
    global _ARRAY
    from jax._src.array import (
        ArrayImpl,  # the one class of concrete arrays; jax.Array is also the class of tracers
    )

    _ARRAY = ArrayImpl
    return ArrayImpl


def uploaded(array):
    """A jax array of a NumPy array that nobody will change. Nothing is compiled for it, as `jnp.array`
    does for each shape."""
    return _put(array, None) if trace_state_clean() else jnp.asarray(array)


def _put(array, device):
    """The array on a device, by default JAX's own; the same inside a trace."""
    device = jax_device(device or default_device())
    if not isinstance(device, jax.Device):  # the name of a platform
        return jax.device_put(array)
    return unbound(array, device)


def aligned(shape, dtype):
    """An empty NumPy array that begins at a multiple of 64 bytes: any other is copied when
    JAX takes it over."""
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + _ALIGNMENT, np.uint8)
    first = -memory.ctypes.data % _ALIGNMENT
    return memory[first : first + size].view(dtype).reshape(shape)


def taken_over(array):
    """An operand for a compiled kernel: NumPy arrays that JAX would copy in the background become its own
    first (see `unbound`)."""
    return uploaded(array) if type(array) is np.ndarray and array.nbytes > _COPIED_AT_ONCE else array


def unbound(array, device):
    """An array that lies on one device as one that may be used with arrays on others.

    JAX copies a NumPy array that it cannot take over in a thread of its own, and what is computed with it
    then runs in the background, where a lack of memory no longer names the operation. So that
    copy is made here.
    """
    if (
        type(array) is np.ndarray
        and array.nbytes > _COPIED_AT_ONCE
        and array.ctypes.data % _ALIGNMENT
        and device.platform == "cpu"
    ):
        copy = aligned(array.shape, array.dtype)
        copy[...] = array
        array = copy
    return batched_device_put(
        jax.core.ShapedArray(array.shape, array.dtype),
        SingleDeviceSharding(device),
        [array],
        [device],
        committed=False,
    )


def on_device(value):
    """The jax array of a Value that has its array."""
    array = value.array
    if type(array) is np.ndarray:
        array = value.array = _put(array, value.device)
    return array


def leaf(raw):
    """A Value round an array or NumPy operand; None for what cannot be deferred (tracers and the like)."""
    if type(raw) is (_ARRAY or _array_type()):
        v = Value()
        aval = raw.aval
        v.aval, v.array, v.device = aval_of(aval.shape, aval.dtype, aval.weak_type), raw, device_of(raw)
        return v
    if isinstance(raw, np.ndarray | np.generic):
        if type(raw) is np.float64:  # a learning rate, at each step
            return host((float(raw),), aval_of((), raw.dtype))
        if raw.size <= _HOST:
            return host(raw.ravel().tolist(), aval_of(raw.shape, raw.dtype))
        array = np.array(raw)  # a copy: the caller may change the NumPy array later
        return on_host(array) if default_device() is HOST else leaf(uploaded(array))
    return None


def host(numbers, aval) -> Value:
    """A Value of a few Python numbers; all host numbers of a segment are handed to the device in one
    array per dtype."""
    v = Value()
    v.aval, v.array, v.device = aval, tuple(numbers), None
    return v


def on_host(array) -> Value:
    """A Value of a NumPy array that nobody will change, which JAX takes over when it is needed there."""
    v = Value()
    v.aval, v.array, v.device = aval_of(array.shape, array.dtype), array, default_device()
    return v


def fresh(array):
    """A Value of a NumPy array that has just been made: few elements as numbers, more of them, on a
    CPU, where they are."""
    return leaf(array) if array.size <= _HOST or default_device().platform != "cpu" else on_host(array)


def kept(array):
    """What a Tensor holds of a NumPy array that nobody will change: the array where it will be computed with,
    else one of JAX's."""
    if at_rest(array) is not None:
        return array
    return on_host(array) if local.ctx.segment is not None and default_device() is HOST else uploaded(array)


def from_host(array):
    """What a Tensor holds of a NumPy array that has just been made."""
    if at_rest(array) is not None:
        return array
    return fresh(np.asarray(array, order="C")) if local.ctx.segment is not None else uploaded(array)


def filled(number, aval) -> Value:
    """A Value all of whose elements are one number, the same each time a program passes here: it is compiled
    in, and takes no memory."""
    found = aval.fills.get(number)
    if found is None:
        found = aval.fills[number] = host((number,), aval)
        found.device = FILL
    return found


def filled_like(number, raw) -> Value:
    """`filled` with the shape and dtype of another Value."""
    return filled(number, aval_of(raw.shape, raw.dtype) if raw.aval.weak else raw.aval)


def zeros_like(raw):
    """Zeros of the shape and dtype of a value; in the deferred tier they take no memory until
    they are looked at."""
    if type(raw) is Value:
        aval = raw.aval
        return (None if aval.weak else aval.fills.get(0)) or filled_like(0, raw)
    if not local.ctx.frame.deferring:
        return filled(0, aval_of(raw.shape, raw.dtype))
    return jnp.zeros_like(observed(raw))


def is_zero(raw) -> bool:
    """Whether a value is known to be zeros without looking at an array."""
    return type(raw) is Value and type(raw.array) is tuple and raw.array == (0,)


def bound(v):
    """The device or devices that the array of a Value is bound to; None for host numbers, and where JAX
    chose the device."""
    return v.device if type(v.array) is _ARRAY and v.array._committed else None


def copied(values, devices):
    """The Values with copies on all `devices` of the arrays that are bound to one; one of the Values is
    spread over them."""
    mesh = next(v.array.sharding for v in values if v.array is not None and v.device == devices).mesh
    return [leaf(_everywhere(v.array, mesh)) if bound(v) not in (None, devices) else v for v in values]


def _everywhere(array, mesh):
    return jax.device_put(array, NamedSharding(mesh, PartitionSpec()))


class Several:
    """What is done differently once values lie on several devices.

    used: whether there are such values. blocking: whether each program on several devices is waited for. The
    devices of a CPU share a pool of threads, which several such programs block for ever; XLA then
    ends the process.
    """

    used = blocking = False

    @staticmethod
    def waited(function):
        """A compiled function that returns when its results are there, where that is needed."""
        return (lambda *args: jax.block_until_ready(function(*args))) if Several.blocking else function

    @staticmethod
    def run(function, arrays):
        """Calls a compiled function; operands that are bound to one device are copied to the
        devices of the others."""
        shardings = [getattr(a, "sharding", None) for a in arrays]
        mesh = next(
            (s.mesh for s in shardings if isinstance(s, NamedSharding) and len(s.device_set) > 1), None
        )
        if mesh is not None:
            arrays = [
                _everywhere(a, mesh) if isinstance(s, SingleDeviceSharding) and a._committed else a
                for a, s in zip(arrays, shardings, strict=True)
            ]
        return Several.waited(function)(*arrays)


def whole(array):
    """An array whose values this process can read. Where some of them are with other processes, all processes
    have to come here."""
    if (
        not Several.used
        or not isinstance(array, jax.Array)
        or array.is_fully_addressable
        or array.is_fully_replicated
    ):
        return array
    everywhere = NamedSharding(array.sharding.mesh, PartitionSpec())
    return Several.waited(jax.jit(lambda x: x, out_shardings=everywhere))(array)


def looked_at(array, doing="reading"):
    """The values as a NumPy array, once they are there; what keeps them from being computed is told. doing:
    what wants them, in words."""
    if type(array) is np.ndarray:
        return array
    if type(array) is Uninitialized:
        raise array.error("reading the value")
    try:
        array = whole(array)
        if type(array) is (_ARRAY or _array_type()):
            # NumPy's look at what could not be computed, for lack of memory, would end the process or wait
            # for ever
            _awaited(array).block_until_ready()
        return np.asarray(array)
    except (jax.errors.JaxRuntimeError, MemoryError, ValueError) as error:
        raise run_error(error, f"{doing}, of a value that is computed now") from None


def _awaited(array):
    """The array, after a short look whether it is ready: to be woken up takes 25 to 50 us, which is a fifth
    of a small network's step."""
    ready = array.is_ready
    for _ in range(_LOOKS):
        if ready():
            break
        _GIVE_WAY()
    return array


def readable(value):
    """The elements of a Value as a NumPy array, where a look at them waits for nothing; None where they are
    being computed or lie elsewhere."""
    array = value.array
    if type(array) is np.ndarray:
        return array
    if (
        array is None
        or type(array) is tuple
        or value.device is not default_device()
        or value.device.platform != "cpu"
    ):
        return None
    return np.asarray(array) if array.is_ready() else None


def settled(raw):
    """The array behind what a Tensor holds, wherever it is: a NumPy array for host numbers, and for what was
    interpreted. Runs what is pending."""
    if type(raw) is not Value:
        return raw
    array = raw.array
    if array is None:
        array = raw.seg.materialize(raw)
    if type(array) is tuple:
        aval = raw.aval
        if not aval.shape:
            return np.array(array[0], aval.dtype)
        numbers = np.array(array, aval.dtype)
        return numbers.reshape(aval.shape) if len(array) == aval.size else np.full(aval.shape, numbers[0])
    return array


def concrete(raw):
    """The jax array (a NumPy array for host numbers and what an operation made on the host, which a program
    has as constants) behind what a Tensor holds; runs what is pending."""
    array = settled(raw)
    return on_device(raw) if type(raw) is Value and type(raw.array) is np.ndarray else array


def observed(raw):
    """As `concrete`, always a jax array; what the host knows stays known inside a trace."""
    if type(raw) is Value and type(raw.array) is tuple and len(raw.array) == 1 and raw.aval.size > _LARGE:
        # inside a trace a NumPy array would become part of the program
        return jnp.full(raw.aval.shape, raw.array[0], raw.aval.dtype)
    array = concrete(raw)
    if not isinstance(array, np.ndarray | np.generic):
        return array
    return _put(np.asarray(array), None)
