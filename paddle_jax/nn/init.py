"""`paddle.nn.init`: functions that fill a Tensor in place, each by the initializer of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.nn import initializer
from paddle_jax.nn.initializer.initializer import calculate_gain, fans  # noqa: F401
from paddle_jax.tensor.matrices import eye

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


__all__ = []


def _calculate_fan_in_and_fan_out(var: Tensor) -> tuple[int, int]:
    """(number of inputs of an output, number of outputs of an input) of a weight."""
    return fans(tuple(var.shape))


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Any:
    """Fills a Tensor as `paddle.nn.initializer.KaimingUniform` does.

    Args:
        tensor: floating Tensor [...], changed in place.
        a: negative slope of a leaky ReLU.
        mode: "fan_in" or "fan_out".
        nonlinearity: name of the activation that follows; see `paddle.nn.initializer.calculate_gain`.
    Raises:
        ValueError: mode or nonlinearity is not known.
    Example:
        >>> x = paddle.zeros([4, 3])
        >>> paddle.nn.init.kaiming_uniform_(x)
        >>> bool((x.abs() <= (6 / 4) ** 0.5).all())
        True
    """
    return initializer.KaimingUniform(negative_slope=a, nonlinearity=nonlinearity, mode=mode)(tensor)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Any:
    """Fills a Tensor as `paddle.nn.initializer.KaimingNormal` does.

    Args:
        tensor: floating Tensor [...], changed in place.
        a: negative slope of a leaky ReLU.
        mode: "fan_in" or "fan_out".
        nonlinearity: name of the activation that follows; see `paddle.nn.initializer.calculate_gain`.
    Example:
        >>> x = paddle.zeros([4, 3])
        >>> paddle.nn.init.kaiming_normal_(x)
        >>> bool((x == 0).any())
        False
    """
    return initializer.KaimingNormal(negative_slope=a, nonlinearity=nonlinearity, mode=mode)(tensor)


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, fan_in: float | None = None, fan_out: float | None = None
) -> Any:
    """Fills a Tensor as `paddle.nn.initializer.XavierUniform` does.

    Args:
        tensor: floating Tensor [...], changed in place.
        gain: factor of the spread.
        fan_in, fan_out: numbers of inputs and outputs. Default: those of the shape.
    Example:
        >>> x = paddle.zeros([4, 2])
        >>> paddle.nn.init.xavier_uniform_(x)
        >>> bool((x.abs() <= 1).all())
        True
    """
    return initializer.XavierUniform(fan_in=fan_in, fan_out=fan_out, gain=gain)(tensor)


def xavier_normal_(
    tensor: Tensor, gain: float = 1.0, fan_in: float | None = None, fan_out: float | None = None
) -> Any:
    """Fills a Tensor as `paddle.nn.initializer.XavierNormal` does.

    Args:
        tensor: floating Tensor [...], changed in place.
        gain: factor of the spread.
        fan_in, fan_out: numbers of inputs and outputs. Default: those of the shape.
    Example:
        >>> x = paddle.zeros([4, 2])
        >>> paddle.nn.init.xavier_normal_(x)
        >>> bool((x == 0).any())
        False
    """
    return initializer.XavierNormal(fan_in=fan_in, fan_out=fan_out, gain=gain)(tensor)


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Any:
    """Fills a Tensor with values spread evenly between a and b.

    Example:
        >>> x = paddle.zeros([3])
        >>> paddle.nn.init.uniform_(x, 2.0, 3.0)
        >>> bool(((x >= 2) & (x <= 3)).all())
        True
    """
    return initializer.Uniform(low=a, high=b)(tensor)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Any:
    """Fills a Tensor with normally distributed values.

    Example:
        >>> x = paddle.zeros([3])
        >>> paddle.nn.init.normal_(x, std=0.02)
        >>> bool((x == 0).any())
        False
    """
    return initializer.Normal(mean=mean, std=std)(tensor)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0
) -> Any:
    """Fills a Tensor with normally distributed values between a and b.

    Example:
        >>> x = paddle.zeros([3])
        >>> paddle.nn.init.trunc_normal_(x, std=5.0)
        >>> bool((x.abs() <= 2).all())
        True
    """
    return initializer.TruncatedNormal(mean=mean, std=std, a=a, b=b)(tensor)


def constant_(tensor: Tensor, val: float) -> Any:
    """Fills a Tensor with one value.

    Example:
        >>> x = paddle.zeros([2])
        >>> paddle.nn.init.constant_(x, 1.5)
        >>> x.tolist()
        [1.5, 1.5]
    """
    return initializer.Constant(value=val)(tensor)


def ones_(tensor: Tensor) -> Any:
    """Fills a Tensor with ones.

    Example:
        >>> x = paddle.zeros([2])
        >>> paddle.nn.init.ones_(x)
        >>> x.tolist()
        [1.0, 1.0]
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Any:
    """Fills a Tensor with zeros.

    Example:
        >>> x = paddle.ones([2])
        >>> paddle.nn.init.zeros_(x)
        >>> x.tolist()
        [0.0, 0.0]
    """
    return constant_(tensor, 0.0)


def dirac_(tensor: Tensor, groups: int = 1) -> Any:
    """Fills the weight of a convolution so that it passes its input on; see `paddle.nn.initializer.Dirac`.

    Example:
        >>> x = paddle.zeros([1, 1, 3])
        >>> paddle.nn.init.dirac_(x)
        >>> x.tolist()
        [[[0.0, 1.0, 0.0]]]
    """
    return initializer.Dirac(groups=groups)(tensor)


def eye_(tensor: Tensor) -> None:
    """Fills a matrix with ones on the diagonal and zeros elsewhere.

    Args:
        tensor: Tensor [n, m], changed in place.
    Raises:
        AssertionError: it has another number of axes.
    Example:
        >>> x = paddle.ones([2, 2])
        >>> paddle.nn.init.eye_(x)
        >>> x.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    if len(tensor.shape) != 2:
        raise AssertionError(f"eye_: tensor: got shape {list(tensor.shape)}; it must be a matrix")
    tensor.set_value(eye(*tensor.shape, dtype=tensor.dtype))


def orthogonal_(tensor: Tensor, gain: float = 1) -> Any:
    """Fills a Tensor with orthogonal rows or columns; see `paddle.nn.initializer.Orthogonal`.

    Example:
        >>> x = paddle.zeros([2, 2])
        >>> paddle.nn.init.orthogonal_(x)
        >>> bool(paddle.allclose(x @ x.T, paddle.eye(2), atol=1e-5))
        True
    """
    return initializer.Orthogonal(gain=gain)(tensor)
