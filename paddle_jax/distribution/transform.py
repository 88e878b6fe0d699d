"""Transforms of random variables: functions with inverses and logarithms of the determinants of
their derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distribution import constraint, variable
from paddle_jax.distribution.combined_transforms import (
    ChainTransform,
    IndependentTransform,
    ReshapeTransform,
    StackTransform,
)
from paddle_jax.distribution.transform_base import Transform, Type
from paddle_jax.nn.functional.activation import softmax, softplus
from paddle_jax.tensor.attribute import broadcast_shape
from paddle_jax.tensor.creation import zeros, zeros_like
from paddle_jax.tensor.cumulative import cumprod, cumsum
from paddle_jax.tensor.joining import concat
from paddle_jax.tensor.ops import sigmoid
from paddle_jax.tensor.sequences import arange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax.distribution.variable import Variable

__all__ = [
    "Transform",
    "AbsTransform",
    "AffineTransform",
    "ChainTransform",
    "ExpTransform",
    "IndependentTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
]


class AbsTransform(Transform):
    """y = |x|. `inverse` gives the two values (-y, y), and `inverse_log_det_jacobian` two zeros.

    Example:
        >>> paddle.distribution.AbsTransform().forward(paddle.to_tensor([-1.0, 2.0])).tolist()
        [1.0, 2.0]
    """

    _type = Type.SURJECTION

    def _forward(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> tuple[Tensor, Tensor]:
        return -y, y

    def _inverse_log_det_jacobian(self, y: Tensor) -> tuple[Tensor, Tensor]:
        zero = zeros([], y.dtype)
        return zero, zero

    @property
    def _codomain(self) -> Variable:
        return variable.positive


class AffineTransform(Transform):
    """y = loc + scale * x.

    Args:
        loc, scale: Tensors that broadcast.
    Raises:
        TypeError: one of them is no Tensor.
    Example:
        >>> t = paddle.distribution.AffineTransform(paddle.to_tensor(1.0), paddle.to_tensor(2.0))
        >>> t.forward(paddle.to_tensor(3.0)).item()
        7.0
    """

    _type = Type.BIJECTION

    def __init__(self, loc: Tensor, scale: Tensor) -> None:
        for name, value in (("loc", loc), ("scale", scale)):
            if not isinstance(value, Tensor):
                raise TypeError(f"AffineTransform: {name}: got {type(value).__name__}; give a Tensor")
        self._loc = loc
        self._scale = scale
        super().__init__()

    @property
    def loc(self) -> Tensor:
        """What is added."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The factor."""
        return self._scale

    def _forward(self, x: Tensor) -> Tensor:
        return self._loc + self._scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self._loc) / self._scale

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return self._scale.abs().log()

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return tuple(
            broadcast_shape(broadcast_shape(list(shape), list(self._loc.shape)), list(self._scale.shape))
        )

    _inverse_shape = _forward_shape


class ExpTransform(Transform):
    """y = exp(x).

    Example:
        >>> paddle.distribution.ExpTransform().forward(paddle.to_tensor(0.0)).item()
        1.0
    """

    _type = Type.BIJECTION

    @property
    def _codomain(self) -> Variable:
        return variable.positive

    def _forward(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return x


class PowerTransform(Transform):
    """y = x**power for positive x.

    Args:
        power: Tensor.
    Raises:
        TypeError: power is no Tensor.
    Example:
        >>> paddle.distribution.PowerTransform(paddle.to_tensor(2.0)).inverse(paddle.to_tensor(9.0)).item()
        3.0
    """

    _type = Type.BIJECTION

    def __init__(self, power: Tensor) -> None:
        if not isinstance(power, Tensor):
            raise TypeError(f"PowerTransform: power: got {type(power).__name__}; give a Tensor")
        self._power = power
        super().__init__()

    @property
    def power(self) -> Tensor:
        """The exponent."""
        return self._power

    @property
    def _codomain(self) -> Variable:
        return variable.positive

    def _forward(self, x: Tensor) -> Tensor:
        return x.pow(self._power)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self._power)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return (self._power * x.pow(self._power - 1)).abs().log()

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return tuple(broadcast_shape(list(shape), list(self._power.shape)))

    _inverse_shape = _forward_shape


class SigmoidTransform(Transform):
    """y = 1 / (1 + exp(-x)).

    Example:
        >>> paddle.distribution.SigmoidTransform().forward(paddle.to_tensor(0.0)).item()
        0.5
    """

    @property
    def _codomain(self) -> Variable:
        return variable.Variable(False, 0, constraint.Range(0.0, 1.0))

    def _forward(self, x: Tensor) -> Tensor:
        return sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log() - (-y).log1p()

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class SoftmaxTransform(Transform):
    """exp(x) divided by its sum along the last axis; `inverse` gives log(y).

    Raises:
        ValueError: a shape has no axis.
    Example:
        >>> paddle.distribution.SoftmaxTransform().forward(paddle.zeros([2])).tolist()
        [0.5, 0.5]
    """

    _type = Type.OTHER

    @property
    def _domain(self) -> Variable:
        return variable.Independent(variable.real, 1)

    @property
    def _codomain(self) -> Variable:
        return variable.Variable(False, 1, constraint.simplex)

    def _forward(self, x: Tensor) -> Tensor:
        return softmax(x, -1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        if len(shape) < 1:
            raise ValueError("SoftmaxTransform: shape: got no axis; it must have at least one")
        return shape

    _inverse_shape = _forward_shape


class StickBreakingTransform(Transform):
    """Turns n numbers into n + 1 positive ones that add up to 1: each takes a share of what is
    left of a stick.

    The shares are sigmoid(x - log(numbers left)), so that x = 0 gives equal parts.

    Raises:
        ValueError: a shape has no axis.
    Example:
        >>> paddle.distribution.StickBreakingTransform().forward(paddle.zeros([1])).tolist()
        [0.5, 0.5]
    """

    _type = Type.BIJECTION

    @staticmethod
    def _offset(x: Tensor) -> Tensor:
        # With this offset zeros become equal parts.
        return (x.shape[-1] - arange(0, x.shape[-1], dtype=x.dtype)).log()

    def _forward(self, x: Tensor) -> Tensor:
        x = x - self._offset(x)
        ends = zeros_like(x[..., :1])
        share = sigmoid(x)
        # What is left of the stick before each further break.
        left = cumprod(sigmoid(-x), -1)
        return concat([share, ends + 1], -1) * concat([ends + 1, left], -1)

    def _inverse(self, y: Tensor) -> Tensor:
        kept = y[..., :-1]
        left = 1 - cumsum(kept, -1)
        return kept.log() - left.log() + self._offset(kept)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        x = x - self._offset(x)
        return (-softplus(-x) - softplus(x) + cumsum(-softplus(x), -1) + softplus(x)).sum(-1)

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return (*self._some(shape)[:-1], shape[-1] + 1)

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return (*self._some(shape)[:-1], shape[-1] - 1)

    @staticmethod
    def _some(shape: Sequence[int]) -> Sequence[int]:
        if not shape:
            raise ValueError("StickBreakingTransform: shape: got no axis; it must have at least one")
        return shape

    @property
    def _domain(self) -> Variable:
        return variable.Independent(variable.real, 1)

    @property
    def _codomain(self) -> Variable:
        return variable.Variable(False, 1, constraint.simplex)


class TanhTransform(Transform):
    """y = tanh(x).

    Example:
        >>> paddle.distribution.TanhTransform().forward(paddle.to_tensor(0.0)).item()
        0.0
    """

    _type = Type.BIJECTION

    @property
    def _codomain(self) -> Variable:
        return variable.Variable(False, 0, constraint.Range(-1.0, 1.0))

    def _forward(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return (0.6931471805599453 - x - softplus(x * -2)) * 2
