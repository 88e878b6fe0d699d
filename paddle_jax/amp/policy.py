"""What a guard of mixed precision does to the operands of an operation: the `amp` of the Context
that `Op.call` asks."""

from __future__ import annotations

import functools as ft
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from paddle_jax._core.execution.fast_path import run1
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.ops.op import OPS
from paddle_jax._core.tensors.held_values import held_value, numpy_dtype, plain_shape
from paddle_jax._core.tensors.tensor import NumberTensor

if TYPE_CHECKING:
    from paddle_jax._core.kernels.kernel import Kernel
    from paddle_jax._core.ops.op import Op


LOW = {"float16": np.dtype(np.float16), "bfloat16": np.dtype(ml_dtypes.bfloat16)}
FLOAT32 = np.dtype(np.float32)
FLOATS = frozenset({FLOAT32, *LOW.values()})  # what is cast; float64, integers and complex numbers stay
_CONVOLUTIONS = ("conv1d", "conv2d")
_KEEP, _LOWER, _WIDEN, _FOLLOW = range(4)


class Policy:
    """Settings of a guard; equal settings share one object, which is part of the key of compiled functions.

    Attributes:
        level: "OD", "O1" or "O2".
        dtype: "float16" or "bfloat16".
        use_promote: bool; False at level O2: ops of neither list run in the low precision in any case.
        white: names of the ops that run in the low precision.
        black: names of the ops that run in float32.
        low: np.dtype of the low precision.
        rules: {op: what to do with its operands}; a pair where the record of the op has a pair as `amp`.
    """

    __slots__ = ("black", "dtype", "level", "low", "rules", "use_promote", "white")

    def __init__(
        self, level: str, dtype: str, use_promote: bool, white: frozenset[str], black: frozenset[str]
    ) -> None:
        self.level: str = level
        self.dtype: str = dtype
        self.use_promote: bool = use_promote
        self.white: frozenset[str] = white
        self.black: frozenset[str] = black
        self.low = LOW[dtype]
        self.rules: dict[Any, Any] = {}

    def __call__(self, op: Op, tensors: Sequence[Any], attrs: Sequence[Any]) -> Sequence[Any]:
        """The operands of a call, cast."""
        target, count = self.target(op, tensors, attrs)
        if target is None:
            return tensors
        done = [
            run1(_kernel(target), t) if numpy_dtype(t) in FLOATS and numpy_dtype(t) != target else t
            for t in tensors[:count]
        ]
        if count is None:
            return done
        return [*done, *tensors[count:]]

    def target(
        self, op: Op, tensors: Sequence[Any], attrs: Sequence[Any]
    ) -> tuple[np.dtype | None, int | None]:
        """(the dtype for the floating operands of a call or None, for how many of them or None)."""
        rule = self.rules.get(op)
        if rule is None:
            rule = self.rules[op] = self._learn(op)
        if type(rule) is tuple:
            rule = rule[
                not (
                    _is_depthwise(op, tensors, attrs) if op.name in _CONVOLUTIONS else _is_number(tensors[-1])
                )
            ]
        if rule == _KEEP:
            return None, None
        count = op.record.cast if type(op.record.cast) is int else None
        target = self.low if rule == _LOWER else FLOAT32
        if rule == _FOLLOW and not any([numpy_dtype(t) == FLOAT32 for t in tensors[:count]]):
            target = self.low
        return target, count if target is not FLOAT32 and self.use_promote else None

    def _learn(self, op: Op) -> int | tuple[int, ...]:
        if op.record.cast in ("never", "float32"):
            if op.record.cast == "never":
                return _KEEP
            return _WIDEN
        names = op.record.amp or op.name
        if isinstance(names, tuple):
            # One operation here, two in Paddle: the operands of a call tell which.
            return tuple(map(self._rule, names))
        return self._rule(names)

    def _rule(self, name: str) -> int:
        # Without promotion all that is not black is low, whatever its operands are.
        if not self.use_promote and self.level == "O2":
            if name in self.black:
                return _WIDEN
            return _LOWER
        if name in self.white:
            return _LOWER
        if name in self.black or self.level == "OD":
            return _WIDEN
        return _FOLLOW


def _is_number(tensor: Any) -> bool:
    """Whether an operand was a Python number."""
    raw = held_value(tensor)
    return (
        type(tensor) is NumberTensor
        or type(raw) is LazyArray
        and type(raw.array) is tuple
        and not raw.aval.shape
    )


def _is_depthwise(op: Op, tensors: Sequence[Any], attrs: Sequence[Any]) -> bool:
    """Whether a convolution treats each channel on its own, which is another operation in Paddle."""
    return plain_shape(tensors[1])[1] == 1 != attrs[op.attrs.index("groups")]


@ft.cache
def _kernel(target: np.dtype) -> Kernel:
    return OPS["cast"].kernel((-2,), (target.name,))


@ft.lru_cache(maxsize=256)
def policy(level: str, dtype: str, use_promote: bool, white: frozenset[str], black: frozenset[str]) -> Policy:
    """The Policy of these settings."""
    return Policy(level, dtype, use_promote, white, black)


__all__ = ["FLOAT32", "FLOATS", "LOW", "Policy", "policy"]
