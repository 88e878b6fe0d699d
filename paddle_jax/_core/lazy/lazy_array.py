"""Lazy arrays: what a Tensor holds while the deferred tier is on.

A LazyArray is an array, a few host numbers, or the result of an operation that has not run yet. The functions
here make one; `transfer.py` reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax._src.array import ArrayImpl  # the one class of concrete arrays; tracers are jax.Arrays, too

from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.aval import Aval, aval_of
from paddle_jax._core.lazy.device_put import put
from paddle_jax._core.lazy.devices import HOST, default_device, device_of, keep_on_host

if TYPE_CHECKING:
    from paddle_jax._core.lazy.segment import OpSignature, Segment

CONSTANT = object()  # the device of constants
UNREAD = object()  # the device of operands whose values nothing reads
_UNREAD_KEY = "unread"  # among the constants of an Aval
_MAX_HOST_NUMBERS = 16  # NumPy operands up to this many elements travel as numbers, packed together


class LazyArray:
    """An operand or a result of recorded operations.

    Attributes:
        aval: Aval, shape and dtype.
        array: the jax array; or a NumPy array that nobody changes, made by the interpreter; or a tuple of
            Python numbers (host numbers; a single one may fill a shape); or None while the operation that
            makes it has not run.
        segment: Segment in which the operation that makes it was recorded; unset for operands.
        position: int, the position of the result in that segment (positions.py).
        device: device of the array; None for host numbers, CONSTANT for constants, UNREAD for operands whose
            values nothing reads.
        bounds: the least and the greatest element, unset until they are computed.
        made: Sig of the operation that made a large result, else unset.
    """

    __slots__ = ("array", "aval", "bounds", "device", "position", "segment", "signature")

    array: Any
    aval: Aval
    bounds: Any
    device: Any
    position: int
    segment: Segment
    signature: OpSignature

    def __repr__(self) -> str:
        return f"<LazyArray {self.aval}{'' if self.array is not None else ' pending'}>"

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the elements."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.aval.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.aval.size


def to_lazy(raw: Any) -> LazyArray | None:
    """A LazyArray around a jax array, or with a copy of a NumPy array or scalar.

    It neither runs pending operations nor waits. None for what cannot be recorded: tracers, for example.
    """
    if type(raw) is ArrayImpl:
        lazy = LazyArray()
        aval = raw.aval
        lazy.aval = aval_of(aval.shape, aval.dtype, aval.weak_type)
        lazy.array = raw
        lazy.device = device_of(raw)
        return lazy
    if not isinstance(raw, np.ndarray | np.generic):
        return None
    if type(raw) is np.float64:  # a learning rate, at each step
        return host_numbers((float(raw),), aval_of((), raw.dtype))
    if raw.size <= _MAX_HOST_NUMBERS:
        return host_numbers(raw.ravel().tolist(), aval_of(raw.shape, raw.dtype))
    array = np.array(raw)  # a copy: the caller may change the NumPy array later
    if default_device() is HOST:
        return lazy_from_numpy(array)
    return to_lazy(put(array))


def host_numbers(numbers: Sequence[Any], aval: Aval) -> LazyArray:
    """A LazyArray of a few Python numbers. A segment hands all its host numbers of one dtype to the device in
    one array."""
    lazy = LazyArray()
    lazy.aval = aval
    lazy.array = tuple(numbers)
    lazy.device = None
    return lazy


def constant(number: Any, aval: Aval) -> LazyArray:
    """A LazyArray filled with one number, which is part of compiled programs and takes no memory.

    The number has to be the same each time the user's code comes here: another one means another program.
    """
    lazy = aval.constants.get(number)
    if lazy is None:
        lazy = aval.constants[number] = host_numbers((number,), aval)
        lazy.device = CONSTANT
    return lazy


def unread_operand(aval: Aval) -> LazyArray:
    """A LazyArray without memory in place of an operand whose values nothing reads.

    One object stands for all operands of an Aval, so that it takes one position in a segment.
    """
    known = aval.constants.get(_UNREAD_KEY)
    if known is None:
        lazy = host_numbers((0,), aval)
        lazy.device = UNREAD
        known = aval.constants.setdefault(_UNREAD_KEY, lazy)  # another thread may have been first
    return known


def is_unread(raw: Any) -> bool:
    """Whether an operand comes from `unread_operand`."""
    return type(raw) is LazyArray and type(raw.array) is tuple and raw.device is UNREAD


def constant_like(number: Any, raw: Any) -> LazyArray:
    """`constant` with the shape and dtype of another array."""
    return constant(number, aval_of(raw.shape, raw.dtype) if raw.aval.weak else raw.aval)


def is_zero(raw: Any) -> bool:
    """Whether an array is known to be zeros without reading it."""
    return type(raw) is LazyArray and type(raw.array) is tuple and raw.array == (0,)


def lazy_from_numpy(array: np.ndarray) -> LazyArray:
    """A LazyArray around a NumPy array that nobody will change. It makes no copy; the array becomes a jax
    array when a compiled program takes it."""
    return lazy_on(array, aval_of(array.shape, array.dtype), default_device())


def lazy_on(array: np.ndarray, aval: Aval, device: Any) -> LazyArray:
    """As `lazy_from_numpy`, where the Aval and the device are known."""
    lazy = LazyArray()
    lazy.aval = aval
    lazy.array = array
    lazy.device = device
    return lazy


def from_numpy(array: np.ndarray) -> np.ndarray | jax.Array | LazyArray | None:
    """What a Tensor holds of a NumPy array that has just been made and that nobody will change.

    While operations are recorded, few elements become host numbers. Else the array becomes a jax array, or
    inside a JAX trace a constant of the trace.
    """
    if keep_on_host(array) is not None:
        return array
    if local.ctx.segment is None:
        return put(array)
    array = np.asarray(array, order="C")
    device = default_device()
    if array.size <= _MAX_HOST_NUMBERS or device.platform != "cpu":
        return to_lazy(array)
    return lazy_on(array, aval_of(array.shape, array.dtype), device)


def persistent_from_numpy(array: np.ndarray) -> np.ndarray | jax.Array | LazyArray:
    """As `from_numpy`, for parameters and states: the result is always an array, never host numbers.

    Programs are specialized on the number of their host numbers, and pack them at each call.
    """
    if keep_on_host(array) is not None:
        return array
    if local.ctx.segment is not None and default_device() is HOST:
        return lazy_from_numpy(array)
    return put(array)
