"""Flat buffers: the small arrays that a compiled step writes, kept as one array between its calls.

Handing an array to XLA and taking a new one back costs one to two microseconds, which for a small network is
more than its arithmetic. The Tensors hold LazyArrays whose `segment` is the FlatBuffer; reading one
gets a copy of its part.
"""

from __future__ import annotations

import itertools
import operator
import sys
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.event_log import log
from paddle_jax._core.base.interrupt_safe import eager_evaluation
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.transfer import to_jax_array
from paddle_jax._core.tensors.held_values import held_value, set_slot
from paddle_jax._core.tensors.tensor import Tensor, wrap

# arrays in a FlatBuffer; compiling a program with many more takes several times as long
# Below this number the copies cost more than is saved.
_FEWEST = 4
_MOST = 128
_SMALL = 1 << 12  # bytes; of larger arrays the copies cost what is saved
# what the copy of one part, and joining one part costs, in units of what a part saves in one call
_READ = 4
_JOIN = 5


class Scattered(Exception):
    """The arrays do not fit, or others ask for them so often that keeping them together is of no use."""


class FlatBuffer:
    """One array for several Tensors of one dtype.

    Attributes:
        places: list of the operands of the program that they are.
        shapes: list of their shapes.
        spans: list of (start, end) of each in the array.
        dtype: NumPy dtype.
        flat: the array, None while they have arrays of their own.
        values: list of what the Tensors hold.
        read: list of those that have been given arrays of their own since the last call.
        device: where it is; None where JAX chooses.
        calls: int, how many calls there were.
        cost: int, what others have made them cost, in units of what a part saves in one call.
        lock: held while the array is replaced or a part is read.
    """

    def __init__(self, places: list[int], tensors: Sequence[Tensor]) -> None:
        arrays = [tensors[i]._value for i in places]
        self.places = places
        self.shapes = [a.shape for a in arrays]
        self.dtype = arrays[0].dtype
        ends = np.cumsum([a.size for a in arrays]).tolist()
        self.spans = list(zip([0, *ends[:-1]], ends, strict=True))
        self.device: Any = None
        self.flat: Any = None
        self.values: list[Any] = []
        self.read: list[int] = []
        self.calls = 0
        self.cost = 0
        self.lock = threading.RLock()

    @staticmethod
    def of(places: Sequence[int], tensors: Sequence[Tensor]) -> FlatBuffer | None:
        """The FlatBuffer of those among the operands that are worth it, or None."""
        by_dtype: dict[Any, list[int]] = {}
        for i in places:
            raw = held_value(tensors[i])
            if 0 < raw.size * raw.dtype.itemsize <= _SMALL:
                by_dtype.setdefault(raw.dtype, []).append(i)
        chosen: list[int] = max(by_dtype.values(), key=len, default=[])
        # Compiling takes too long for more of them. On other devices than the CPU a part is no cheap copy.
        if not _FEWEST <= len(chosen) <= _MOST or any(
            _place(tensors[i]._value) is NotImplemented for i in chosen
        ):
            return None
        return FlatBuffer(chosen, tensors)

    # inside the program -------------------------------------------------------------------------------------

    def split(self, flat: jax.Array) -> list[jax.Array]:
        """The arrays, of the one."""
        return [
            flat[start:end].reshape(shape)
            for (start, end), shape in zip(self.spans, self.shapes, strict=True)
        ]

    def joined(self, news: Sequence[jax.Array]) -> jax.Array:
        """The one array, of new values. Written piece by piece into new memory: a concatenation is slow, and
        old memory is still to be read."""
        flat = jnp.zeros(self.spans[-1][1], self.dtype)
        for (start, _), new in zip(self.spans, news, strict=True):
            flat = jax.lax.dynamic_update_slice(flat, new.ravel(), (start,))
        return flat

    # between calls ------------------------------------------------------------------------------------------

    def take(self, tensors: Sequence[Tensor]) -> jax.Array:
        """The array for a call."""
        self.calls += 1
        raws = list(map(held_value, tensors))
        flat = self.flat
        values = self.values
        # The copies have cost more than keeping the parts together has saved.
        if self.calls > 8 and self.cost > self.calls * len(raws):
            raise Scattered
        # A Tensor has got another value since the last call, or this is the first.
        if flat is None or not all(map(operator.is_, raws, values)):
            return self._join(raws)
        counts = list(map(sys.getrefcount, raws))
        if max(counts) > _OWN:
            for value, count in zip(values, counts, strict=True):
                if count > _OWN:  # somebody else holds it, and shall keep what it is now
                    self.materialize(value)
        return flat

    def _join(self, raws: Sequence[Any]) -> jax.Array:
        arrays = [to_jax_array(raw) for raw in raws]
        places = {_place(a) for a in arrays}
        # Changed shape or dtype, or arrays on several devices.
        same = [(a.shape, a.dtype) for a in arrays] == [(shape, self.dtype) for shape in self.shapes]
        if not same or len(places) > 1 or NotImplemented in places:
            raise Scattered
        with self.lock:
            # LazyArrays that others hold get their values before the array is given up.
            for value in self.values:
                self.materialize(value)
            self.flat = None
            self.values = []
            self.read = []
        self.cost += _JOIN * len(raws)
        log.flat_buffers["joined"] += 1
        self.device = places.pop()
        return self._put(np.concatenate([np.asarray(a).ravel() for a in arrays]))

    def give(self, tensors: Sequence[Tensor], results: Iterator[Any]) -> Iterator[Any]:
        """Takes the new array, the first of the results, after a call: an iterator of the steps. The lock
        is held meanwhile."""
        values: list[Any] = list(self.values)
        read: Sequence[int] = self.read
        if not values:  # the first call: every Tensor gets a LazyArray
            values = [None] * len(tensors)
            read = range(len(tensors))
        steps: list[tuple[Any, ...]] = [(setattr, self, "values", values), (setattr, self, "read", [])]
        # Parts that were read have arrays of their own now; their Tensors get LazyArrays for the new
        # values.
        for i in read:
            value = values[i] = LazyArray()
            value.aval = aval_of(self.shapes[i], self.dtype)
            value.array = None
            value.segment = self  # pyright: ignore[reportAttributeAccessIssue]  asked as a Segment is
            value.position = i
            steps.append((set_slot, tensors[i], value))
        # The array first: a LazyArray without one could not be read.
        return itertools.chain(
            map(partial(setattr, self, "flat"), itertools.islice(results, 1)),
            itertools.starmap(operator.call, steps),
        )

    def materialize(self, value: LazyArray, is_read: bool = False) -> Any:
        """The array of one LazyArray (as a Segment gives it).

        Args:
            value: the LazyArray.
            is_read: as for a Segment; the array is there in any case.
        """
        with self.lock:
            if value.array is None:
                start, end = self.spans[value.position]
                # A view of the array on the CPU, copied, since the next call gives its memory away.
                part = np.asarray(self.flat)[start:end].reshape(self.shapes[value.position])
                array = self._put(part.copy())
                value.device = self.device
                value.array = array  # last: it says that the value is there
                self.read.append(value.position)
                self.cost += _READ
                log.flat_buffers["part read"] += 1
            return value.array

    def _put(self, array: Any) -> jax.Array:
        with eager_evaluation():  # the reader may be within a trace
            if self.device is None:
                return _to_device(array)
            return jax.device_put(array, self.device)


# a third of the time of jnp.array; it may go on reading a large array after it has returned
_to_device = jax.jit(lambda array: array)


def _place(array: Any) -> Any:
    """The CPU device that an array is bound to, None where JAX chose it; NotImplemented for other devices."""
    devices = array.sharding.device_set
    if len(devices) > 1 or next(iter(devices)).platform != "cpu":
        return NotImplemented
    if array.committed:
        return next(iter(devices))
    return None


def _baseline() -> int:
    # Measured by the same calls as in `take`, whose temporary references count.
    """What sys.getrefcount says in `take` of a LazyArray that only a Tensor and the FlatBuffer hold."""
    tensor = wrap(object())
    values = [held_value(tensor)]
    raws = list(map(held_value, [tensor]))
    counts = list(map(sys.getrefcount, raws))
    if values:
        return counts[0]
    return 0


_OWN = _baseline()
