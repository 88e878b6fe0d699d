"""The normal distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import jax
import numpy as np

from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.random import key_from
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax.distribution.distribution import Distribution, alike, common_shape, repeated, sizes
from paddle_jax.distribution.draws import draw_normal_like
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._annotations import ShapeLike, TensorLike
    from paddle_jax._core.base.dtype import DType
    from paddle_jax._core.tensors.tensor import Tensor


class Normal(Distribution):
    """The normal distribution of mean loc and standard deviation scale; for a complex loc the circular one,
    of variance scale**2 in all.

    Args:
        loc: number, list, array or Tensor, real or complex.
        scale: the same, real, > 0, broadcastable with loc. Tensors and other values do not mix.
    Attributes:
        name: str, for operations.
        all_arg_is_float: bool, whether both arguments are numbers of Python.
        loc, scale: Tensor, of one shape.
        dtype: dtype of both.
        _complex_gaussian: bool, whether loc is complex.
    Raises:
        TypeError: a parameter is of another type.
        ValueError: one parameter is a Tensor and the other is not.
    Example:
        >>> d = paddle.distribution.Normal(0.0, 1.0)
        >>> round(d.log_prob(paddle.to_tensor(0.0)).item(), 4)
        -0.9189
    """

    loc: Tensor
    scale: Tensor

    def __init__(self, loc: TensorLike, scale: TensorLike, name: str | None = None) -> None:
        self.name: str = name or "Normal"
        self.all_arg_is_float: bool = all(isinstance(a, (int, float, complex)) for a in (loc, scale))
        self.loc, self.scale = _parameters(self, loc, scale)
        self.dtype: DType = self.loc.dtype
        self._complex_gaussian = self.loc.is_complex()
        super().__init__(common_shape(self.loc, self.scale))

    @property
    def mean(self) -> Tensor:
        """loc."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """scale**2."""
        return self.scale.pow(2)

    def sample(self, shape: ShapeLike = [], seed: int = 0) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values.

        Args:
            shape: list or tuple of ints.
            seed: a number other than 0 gives the same values at each call.
        Returns:
            Tensor of shape `shape` + batch_shape, with gradients to loc and scale.
        """
        loc, scale = repeated(sizes(self, shape), *self._broadcast_parameters())
        # A seed of 0 is the default: the common generator draws.
        if seed:
            return loc + scale * _seeded(seed, loc)
        return loc + scale * draw_normal_like(loc)

    def rsample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values with gradients to loc and scale."""
        return self.sample(shape)

    def _broadcast_parameters(self) -> Sequence[Tensor]:
        """loc and scale with one shape."""
        return alike(self.loc, self.scale)

    def entropy(self) -> Tensor:
        """log(scale) + (1 + log(2 pi)) / 2; log(scale**2) + 1 + log(pi) for complex values."""
        if self._complex_gaussian:
            return self._broadcast_parameters()[1].log() * 2 + (1 + math.log(math.pi))
        return self._broadcast_parameters()[1].log() + (1 + math.log(2 * math.pi)) / 2

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density of a Tensor that broadcasts with the batch."""
        value = self._check_values_dtype_in_probs(self.loc, value)
        if self._complex_gaussian:
            # In the complex plane each part has half of the variance.
            away = (value - self.loc).abs() / self.scale
            return (-away.pow(2) - self.scale.log() * 2 - math.log(math.pi)).astype(self.loc.dtype)
        away = (value - self.loc) / self.scale
        return -away.pow(2) / 2 - self.scale.log() - math.log(2 * math.pi) / 2

    def probs(self, value: Tensor) -> Tensor:
        """The density of a Tensor; an older name of `prob`."""
        return self.prob(value)

    def kl_divergence(self, other: Normal) -> Tensor:
        """The divergence from this normal distribution to another, both real or both complex."""
        if self._complex_gaussian != other._complex_gaussian:
            raise ValueError(
                "Normal: kl_divergence: one distribution is real and the other complex; "
                "they must be of one kind"
            )
        ratio = (self.scale / other.scale).pow(2)
        away = ((self.loc - other.loc).abs() / other.scale).pow(2)
        if self._complex_gaussian:
            return (ratio + away - 1 - ratio.log()).astype(self.loc.dtype)
        return (ratio + away - 1 - ratio.log()) / 2


def _parameters(owner: Distribution, loc: TensorLike, scale: TensorLike) -> Sequence[Tensor]:
    """loc and scale as Tensors: numbers are float32 (complex64), arrays keep double precision."""
    if owner._validate_args(loc, scale):
        return cast("tuple[Tensor, Tensor]", (loc, scale))
    for value in (loc, scale):
        if not isinstance(value, (int, float, complex, list, tuple, np.ndarray, np.number)):
            raise TypeError(
                f"{type(owner).__name__}: got a parameter of type {type(value).__name__}; "
                "use numbers, lists, arrays or Tensors"
            )
    made = [np.asarray(value) for value in (loc, scale)]
    # Python numbers become float32; only arrays of double precision keep it.
    double = any(
        isinstance(v, np.ndarray)
        and v.dtype.itemsize == 8 * (1 + (v.dtype.kind == "c"))
        and v.dtype.kind in "fc"
        for v in (loc, scale)
    )
    real = np.float64 if double else np.float32
    kinds = [np.result_type(real, np.complex64) if m.dtype.kind == "c" else real for m in made]
    return alike(*(to_tensor(m.astype(kind)) for m, kind in zip(made, kinds, strict=True)))


def _seeded(seed: int, loc: Tensor) -> Tensor:
    key = key_from(np.array([0, seed & 0xFFFFFFFF], np.uint32), np.uint32(0))
    return wrap(jax.random.normal(key, tuple(loc.shape), numpy_dtype(loc)))
