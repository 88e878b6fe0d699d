"""The base class of transforms of random variables."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distribution import variable
from paddle_jax.distribution.distribution import Distribution

if TYPE_CHECKING:
    from collections.abc import Sequence


class Type(enum.Enum):
    """What a function does to its values."""

    BIJECTION = "bijection"
    INJECTION = "injection"
    SURJECTION = "surjection"
    OTHER = "other"

    @classmethod
    def is_injective(cls, _type: Type) -> bool:
        """Whether different values stay different."""
        return _type in (cls.BIJECTION, cls.INJECTION)


class Transform:
    """A function of random values. Subclasses define `_forward`, `_inverse` and one of
    `_forward_log_det_jacobian`, `_inverse_log_det_jacobian`.

    Example:
        >>> t = paddle.distribution.ExpTransform()
        >>> t.inverse(t.forward(paddle.to_tensor([0.0]))).tolist()
        [0.0]
    """

    _type = Type.INJECTION
    # the classes of the results of calls; the modules of these classes fill them in
    _chain_class: type
    _distribution_class: type

    def __init__(self) -> None:
        super().__init__()

    @classmethod
    def _is_injective(cls) -> bool:
        return Type.is_injective(cls._type)

    def __call__(self, input: Tensor | Distribution | Transform) -> Any:
        """Transforms a Tensor; of a Distribution makes a TransformedDistribution, of a Transform
        a ChainTransform.

        Args:
            input: Tensor, Distribution or Transform.
        """
        if isinstance(input, Distribution):
            return self._distribution_class(input, [self])
        if isinstance(input, Transform):
            return self._chain_class([self, input])
        return self.forward(input)

    def forward(self, x: Tensor) -> Tensor:
        """The transformed values.

        Args:
            x: Tensor with at least as many axes as one value has.
        Raises:
            TypeError: x is no Tensor.
            ValueError: x has too few axes.
        """
        return self._forward(self._checked("x", x, self._domain))

    def inverse(self, y: Tensor) -> Tensor:
        """Where transformed values come from. Arguments as for `forward`."""
        return self._inverse(self._checked("y", y, self._codomain))

    def forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        """The logarithm of the absolute determinant of the derivative at x, one number per value.

        Raises:
            NotImplementedError: the transform is not injective, or does not define it.
        """
        self._checked("x", x, self._domain)
        if not self._is_injective():
            raise NotImplementedError(
                f"{type(self).__name__}: forward_log_det_jacobian: "
                "the transform maps different values to one; it has none"
            )
        return self._call_forward_log_det_jacobian(x)

    def inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        """The logarithm of the absolute determinant of the derivative of the inverse at y."""
        return self._call_inverse_log_det_jacobian(self._checked("y", y, self._codomain))

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of what `forward` makes of a Tensor of this shape."""
        return self._forward_shape(self._checked_shape(shape))

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of what `inverse` makes of a Tensor of this shape."""
        return self._inverse_shape(self._checked_shape(shape))

    def _checked(self, name: str, value: Tensor, kind: variable.Variable) -> Tensor:
        if not isinstance(value, Tensor):
            raise TypeError(f"{type(self).__name__}: {name}: got {type(value).__name__}; give a Tensor")
        if value.ndim < kind.event_rank:
            raise ValueError(
                f"{type(self).__name__}: {name}: got {value.ndim} axes; "
                f"it must have at least {kind.event_rank}"
            )
        return value

    def _checked_shape(self, shape: Sequence[int]) -> Sequence[int]:
        if not isinstance(shape, (list, tuple)):
            raise TypeError(
                f"{type(self).__name__}: shape: got {type(shape).__name__}; give a list or tuple of ints"
            )
        return shape

    @property
    def _domain(self) -> variable.Variable:
        return variable.real

    @property
    def _codomain(self) -> variable.Variable:
        return variable.real

    def _forward(self, x: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__}: forward is not defined")

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__}: inverse is not defined")

    def _call_forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        if hasattr(self, "_forward_log_det_jacobian"):
            return self._forward_log_det_jacobian(x)
        if hasattr(self, "_inverse_log_det_jacobian"):
            # One of the two is enough: the determinants of a function and its inverse are reciprocal.
            return -self._inverse_log_det_jacobian(self.forward(x))
        raise NotImplementedError(
            f"{type(self).__name__}: neither _forward_log_det_jacobian nor "
            "_inverse_log_det_jacobian is defined; define one"
        )

    def _call_inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        if hasattr(self, "_inverse_log_det_jacobian"):
            return self._inverse_log_det_jacobian(y)
        if hasattr(self, "_forward_log_det_jacobian"):
            return -self._forward_log_det_jacobian(self._inverse(y))
        raise NotImplementedError(
            f"{type(self).__name__}: neither _forward_log_det_jacobian nor "
            "_inverse_log_det_jacobian is defined; define one"
        )

    def _forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return shape

    def _inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return shape
