"""Kinds of random variables: discrete or not, the number of axes of one value, the set that values lie in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.distribution import constraint
from paddle_jax.tensor.joining import stack
from paddle_jax.tensor.reduction import all as all_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._core.tensors.tensor import Tensor


class Variable:
    """A kind of random variable.

    Args:
        is_discrete: whether values are counted, not measured.
        event_rank: number of axes of one value.
        constraint: Constraint that values fulfil.
    Example:
        >>> paddle.distribution.variable.positive.event_rank
        0
    """

    def __init__(
        self, is_discrete: bool = False, event_rank: int = 0, constraint: constraint.Constraint | None = None
    ) -> None:
        self._is_discrete = is_discrete
        self._event_rank = event_rank
        self._constraint = constraint

    @property
    def is_discrete(self) -> bool:
        """Whether values are counted, not measured."""
        return self._is_discrete

    @property
    def event_rank(self) -> int:
        """Number of axes of one value."""
        return self._event_rank

    def constraint(self, value: Tensor) -> Tensor:
        """Whether a Tensor lies in the set of values."""
        return self._constraint(value)


class Real(Variable):
    """Real numbers."""

    def __init__(self, event_rank: int = 0) -> None:
        super().__init__(False, event_rank, constraint.real)


class Positive(Variable):
    """Numbers >= 0."""

    def __init__(self, event_rank: int = 0) -> None:
        super().__init__(False, event_rank, constraint.positive)


class Independent(Variable):
    """A variable whose values are arrays of those of `base`, along `reinterpreted_batch_rank` more axes."""

    def __init__(self, base: Variable, reinterpreted_batch_rank: int) -> None:
        self._base = base
        self._reinterpreted_batch_rank = reinterpreted_batch_rank
        super().__init__(base.is_discrete, base.event_rank + reinterpreted_batch_rank)

    def constraint(self, value: Tensor) -> Tensor:
        """Whether all parts of a Tensor lie in the set of base."""
        if value.ndim < self._reinterpreted_batch_rank:
            raise ValueError(
                f"Independent: value: got {value.ndim} axes; "
                f"it must have at least {self._reinterpreted_batch_rank}"
            )
        found = self._base.constraint(value)
        return all_of(found, list(range(-self._reinterpreted_batch_rank, 0)))


class Stack(Variable):
    """A variable whose values along an axis are those of several variables."""

    def __init__(self, vars: Sequence[Variable], axis: int = 0) -> None:
        self._vars = vars
        self._axis = axis

    @property
    def is_discrete(self) -> bool:
        """Whether one of the variables is discrete."""
        return any(v.is_discrete for v in self._vars)

    @property
    def event_rank(self) -> int:
        """Number of axes of one value."""
        rank = max(v.event_rank for v in self._vars)
        if self._axis + rank < 0:
            # The stacked axis is among those of a value then.
            return rank + 1
        return rank

    def constraint(self, value: Tensor) -> Tensor:
        """Whether each slice of a Tensor along the axis lies in the set of its variable."""
        if not -value.ndim <= self._axis < value.ndim:
            raise ValueError(
                f"Stack: value: got {value.ndim} axes; the variables are stacked along axis {self._axis}"
            )
        return stack(
            [v.constraint(part) for v, part in zip(self._vars, value.unbind(self._axis), strict=True)],
            self._axis,
        )


real: Real = Real()
positive: Positive = Positive()
