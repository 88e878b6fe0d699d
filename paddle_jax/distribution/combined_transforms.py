"""Transforms made of others, and of shapes: chains, stacks, more axes per value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.distribution import variable
from paddle_jax.distribution.distribution import sum_rightmost
from paddle_jax.distribution.transform_base import Transform, Type
from paddle_jax.tensor.creation import zeros
from paddle_jax.tensor.joining import stack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.distribution.variable import Variable


class ChainTransform(Transform):
    """Several transforms one after another, the first one first.

    Args:
        transforms: list or tuple of Transforms.
    Raises:
        TypeError: it is something else.
    Example:
        >>> t = paddle.distribution.ChainTransform([paddle.distribution.TanhTransform(),
        ...                                         paddle.distribution.ExpTransform()])
        >>> t.forward(paddle.to_tensor(0.0)).item()
        1.0
    """

    def __init__(self, transforms: Sequence[Transform]) -> None:
        self.transforms: Sequence[Transform] = _sequence(self, transforms)
        super().__init__()

    def _is_injective(self) -> bool:
        return all(t._is_injective() for t in self.transforms)

    def _forward(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform.forward(x)
        return x

    def _inverse(self, y: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            y = transform.inverse(y)
        return y

    def _forward_log_det_jacobian(self, x: Tensor) -> float | Tensor:
        total = 0.0
        rank = self._domain.event_rank
        for transform in self.transforms:
            # Each transform counts one number per value of its own; the chain has larger values.
            total = total + sum_rightmost(
                transform.forward_log_det_jacobian(x), rank - transform._domain.event_rank
            )
            x = transform.forward(x)
            rank += transform._codomain.event_rank - transform._domain.event_rank
        return total

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        for transform in self.transforms:
            shape = transform.forward_shape(shape)
        return shape

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        return shape

    @property
    def _domain(self) -> Variable:
        if not self.transforms:
            return variable.real
        first = self.transforms[0]._domain
        rank = self.transforms[-1]._codomain.event_rank
        # From the last one back: the axes that a value needs for all of them.
        for transform in reversed(self.transforms):
            rank = max(
                rank + transform._domain.event_rank - transform._codomain.event_rank,
                transform._domain.event_rank,
            )
        if rank > first.event_rank:
            return variable.Independent(first, rank - first.event_rank)
        return first

    @property
    def _codomain(self) -> Variable:
        if not self.transforms:
            return variable.real
        last = self.transforms[-1]._codomain
        rank = self.transforms[0]._domain.event_rank
        # From the first one on: the axes that a result has after all of them.
        for transform in self.transforms:
            rank = max(
                rank + transform._codomain.event_rank - transform._domain.event_rank,
                transform._codomain.event_rank,
            )
        if rank > last.event_rank:
            return variable.Independent(last, rank - last.event_rank)
        return last


def _sequence(owner: object, transforms: Sequence[Transform]) -> Sequence[Transform]:
    if not isinstance(transforms, (list, tuple)) or not all(isinstance(t, Transform) for t in transforms):
        raise TypeError(
            f"{type(owner).__name__}: transforms: got {type(transforms).__name__}; "
            "give a list or tuple of Transforms"
        )
    return transforms


class IndependentTransform(Transform):
    """A transform whose values have more axes: log-determinants are summed over them.

    Args:
        base: Transform.
        reinterpreted_batch_rank: how many axes are added, at least 1.
    Raises:
        TypeError: base is no Transform.
        ValueError: the number of axes is not positive.
    Example:
        >>> t = paddle.distribution.IndependentTransform(paddle.distribution.ExpTransform(), 1)
        >>> t.forward_log_det_jacobian(paddle.to_tensor([1.0, 2.0])).item()
        3.0
    """

    def __init__(self, base: Transform, reinterpreted_batch_rank: int) -> None:
        if not isinstance(base, Transform):
            raise TypeError(f"IndependentTransform: base: got {type(base).__name__}; give a Transform")
        if reinterpreted_batch_rank <= 0:
            raise ValueError(
                "IndependentTransform: reinterpreted_batch_rank: "
                f"got {reinterpreted_batch_rank}; it must be > 0"
            )
        self._base = base
        self._reinterpreted_batch_rank = reinterpreted_batch_rank
        super().__init__()

    def _is_injective(self) -> bool:
        return self._base._is_injective()

    def _forward(self, x: Tensor) -> Tensor:
        return self._base.forward(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self._base.inverse(y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return sum_rightmost(self._base.forward_log_det_jacobian(x), self._reinterpreted_batch_rank)

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._base.forward_shape(shape)

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._base.inverse_shape(shape)

    @property
    def _domain(self) -> Variable:
        return variable.Independent(self._base._domain, self._reinterpreted_batch_rank)

    @property
    def _codomain(self) -> Variable:
        return variable.Independent(self._base._codomain, self._reinterpreted_batch_rank)


class StackTransform(Transform):
    """Several transforms, each for one slice along an axis.

    Args:
        transforms: list or tuple of Transforms, at least one.
        axis: int.
    Raises:
        TypeError: an argument is of another type.
    Example:
        >>> t = paddle.distribution.StackTransform([paddle.distribution.ExpTransform(),
        ...                                         paddle.distribution.TanhTransform()])
        >>> t.forward(paddle.zeros([2])).tolist()
        [1.0, 0.0]
    """

    def __init__(self, transforms: Sequence[Transform], axis: int = 0) -> None:
        if not transforms:
            raise TypeError("StackTransform: transforms: got none; give at least one Transform")
        self._transforms = _sequence(self, transforms)
        if not isinstance(axis, int):
            raise TypeError(f"StackTransform: axis: got {type(axis).__name__}; it must be an int")
        self._axis = axis

    def _is_injective(self) -> bool:
        return all(t._is_injective() for t in self._transforms)

    @property
    def transforms(self) -> Sequence[Transform]:
        """The transforms."""
        return self._transforms

    @property
    def axis(self) -> int:
        """The axis."""
        return self._axis

    def _forward(self, x: Tensor) -> Tensor:
        return self._each("forward", x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self._each("inverse", y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return self._each("forward_log_det_jacobian", x, like=True)

    def _each(self, method: str, value: Tensor, like: bool = False) -> Tensor:
        axis = self._axis
        count = len(self._transforms)
        if not -value.ndim <= axis < value.ndim or value.shape[axis] != count:
            raise ValueError(
                f"StackTransform: got a Tensor of shape {list(value.shape)}; "
                f"axis {axis} must have length {count}, one per transform"
            )
        parts = [
            (t, part, getattr(t, method)(part))
            for t, part in zip(self._transforms, value.unbind(axis), strict=True)
        ]
        return stack(
            # A slope that is one number for all needs the shape of the others in the stack.
            [made.expand_as(part) if like and t._domain.event_rank == 0 else made for t, part, made in parts],
            axis,
        )

    @property
    def _domain(self) -> Variable:
        return variable.Stack([t._domain for t in self._transforms], self._axis)

    @property
    def _codomain(self) -> Variable:
        return variable.Stack([t._codomain for t in self._transforms], self._axis)


class ReshapeTransform(Transform):
    """Gives each value another shape.

    Args:
        in_event_shape: list or tuple of ints, the shape of a value.
        out_event_shape: its new shape.
    Raises:
        TypeError: a shape is of another type.
        ValueError: the shapes have different numbers of elements.
    Example:
        >>> paddle.distribution.ReshapeTransform((4,), (2, 2)).forward(paddle.ones([3, 4])).shape
        paddle.Size([3, 2, 2])
    """

    _type = Type.BIJECTION

    def __init__(self, in_event_shape: Sequence[int], out_event_shape: Sequence[int]) -> None:
        for name, shape in (("in_event_shape", in_event_shape), ("out_event_shape", out_event_shape)):
            if not isinstance(shape, (list, tuple)):
                raise TypeError(
                    f"ReshapeTransform: {name}: got {type(shape).__name__}; give a list or tuple of ints"
                )
        self._in_event_shape, self._out_event_shape = tuple(in_event_shape), tuple(out_event_shape)
        if _product(in_event_shape) != _product(out_event_shape):
            raise ValueError(
                f"ReshapeTransform: {list(in_event_shape)} and {list(out_event_shape)} have "
                "different numbers of elements"
            )
        super().__init__()

    @property
    def in_event_shape(self) -> tuple[int, ...]:
        """The shape of a value."""
        return self._in_event_shape

    @property
    def out_event_shape(self) -> tuple[int, ...]:
        """The shape of a transformed value."""
        return self._out_event_shape

    @property
    def _domain(self) -> Variable:
        return variable.Independent(variable.real, len(self._in_event_shape))

    @property
    def _codomain(self) -> Variable:
        return variable.Independent(variable.real, len(self._out_event_shape))

    def _forward(self, x: Tensor) -> Tensor:
        return x.reshape([*x.shape[: x.ndim - len(self._in_event_shape)], *self._out_event_shape])

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape([*y.shape[: y.ndim - len(self._out_event_shape)], *self._in_event_shape])

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._replaced(shape, self._in_event_shape, self._out_event_shape)

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._replaced(shape, self._out_event_shape, self._in_event_shape)

    @staticmethod
    def _replaced(shape: Sequence[int], old: tuple[int, ...], new: tuple[int, ...]) -> tuple[int, ...]:
        kept = len(shape) - len(old)
        if kept < 0 or tuple(shape[kept:]) != old:
            raise ValueError(f"ReshapeTransform: shape: got {list(shape)}; it must end in {list(old)}")
        return tuple(shape[:kept]) + new

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return zeros(x.shape[: x.ndim - len(self._in_event_shape)], x.dtype)


def _product(shape: Sequence[int]) -> int:
    total = 1
    for n in shape:
        total *= n
    return total


Transform._chain_class = ChainTransform
