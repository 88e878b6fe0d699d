"""Sets that random values lie in: functions that say, element by element, whether a value does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.tensor.reduction import all as all_of

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


class Constraint:
    """A set of values. Calling it says whether a Tensor lies in it.

    Example:
        >>> paddle.distribution.constraint.positive(paddle.to_tensor([1.0, -1.0])).tolist()
        [True, False]
    """

    def __call__(self, value: Tensor) -> Tensor:
        raise NotImplementedError(
            f"{type(self).__name__}: the set is not defined; a subclass must define __call__"
        )

    def check(self, value: Tensor) -> Tensor:
        """The same as calling the constraint."""
        return self(value)


class Real(Constraint):
    """All numbers but NaN."""

    def __call__(self, value: Tensor) -> Tensor:
        return value == value


class Range(Constraint):
    """Numbers from lower to upper, bounds included."""

    def __init__(self, lower: float | Tensor, upper: float | Tensor) -> None:
        self._lower = lower
        self._upper = upper
        super().__init__()

    def __call__(self, value: Tensor) -> Tensor:
        return (value >= self._lower).logical_and(value <= self._upper)


class Positive(Constraint):
    """Numbers >= 0."""

    def __call__(self, value: Tensor) -> Tensor:
        return value >= 0.0


class Simplex(Constraint):
    """Numbers >= 0 along the last axis that add up to 1."""

    def __call__(self, value: Tensor) -> Tensor:
        return all_of(value >= 0, -1).logical_and((value.sum(-1) - 1).abs() < 1e-6)


real: Real = Real()
positive: Positive = Positive()
simplex: Simplex = Simplex()
