"""Student's t-distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distribution.distribution import Distribution, alike, as_tensors, repeated, sizes
from paddle_jax.distribution.draws import draw_log_gamma, draw_normal_like
from paddle_jax.tensor.axes import concrete
from paddle_jax.tensor.creation import full_like
from paddle_jax.tensor.search import where

if TYPE_CHECKING:
    from paddle_jax._annotations import ShapeLike, TensorLike


class StudentT(Distribution):
    """Student's t-distribution with df degrees of freedom, moved by loc and stretched by scale.

    Args:
        df, loc, scale: floats, lists, arrays or Tensors that broadcast; df and scale >= 0.
    Raises:
        TypeError: a parameter is of another type.
        ValueError: df or scale is negative.
    Example:
        >>> paddle.distribution.StudentT(4.0, 0.0, 1.0).variance.item()
        2.0
    """

    df: Tensor
    loc: Tensor
    scale: Tensor

    def __init__(self, df: TensorLike, loc: TensorLike, scale: TensorLike, name: str | None = None) -> None:
        self.name: str = name or "StudentT"
        # The first Tensor decides the dtype.
        dtype = next((a.dtype for a in (df, loc, scale) if isinstance(a, Tensor)), None)
        made = as_tensors(
            *(a if isinstance(a, (float, Tensor)) else self._to_tensor(a)[0] for a in (df, loc, scale))
        )
        self.df, self.loc, self.scale = alike(*(a if dtype is None else a.astype(dtype) for a in made))
        for name_, value in (("df", self.df), ("scale", self.scale)):
            values = concrete(value)
            if values is not None and not np.all(values >= 0):
                raise ValueError(f"StudentT: {name_}: got {values.min()}; it must be >= 0")
        super().__init__(tuple(self.df.shape))

    @property
    def mean(self) -> Tensor:
        """loc where df > 1, else NaN."""
        return where(self.df > 1, self.loc, full_like(self.loc, math.nan))

    @property
    def variance(self) -> Tensor:
        """scale**2 * df / (df - 2) where df > 2, infinite down to 1, NaN below."""
        finite = self.df > 2
        # Any number above 2: the result is not used, and must not be NaN for gradients.
        df = where(finite, self.df, full_like(self.df, 3.0))
        found = where(finite, self.scale.pow(2) * df / (df - 2), full_like(self.df, math.inf))
        return where(self.df > 1, found, full_like(found, math.nan))

    def sample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values of shape `shape` + batch_shape, with gradients to loc, scale and
        (implicit ones) to df."""
        df, loc, scale = repeated(sizes(self, shape), self.df, self.loc, self.scale)
        half = df / 2
        return loc + scale * draw_normal_like(loc) * ((half.log() - draw_log_gamma(half)) / 2).exp()

    def rsample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values with gradients; the same as `sample`."""
        return self.sample(shape)

    def entropy(self) -> Tensor:
        """The entropy of shape batch_shape."""
        half = self.df / 2
        spread = (half + 0.5) * ((half + 0.5).digamma() - half.digamma())
        return self.scale.log() + spread + self._log_width()

    def _log_width(self) -> Tensor:
        half = self.df / 2
        return half.lgamma() - (half + 0.5).lgamma() + self.df.log() / 2 + math.log(math.pi) / 2

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density of a Tensor."""
        away = (self._check_values_dtype_in_probs(self.loc, value) - self.loc) / self.scale
        return -self.scale.log() - self._log_width() - (self.df + 1) / 2 * (away.pow(2) / self.df).log1p()

    def prob(self, value: Tensor) -> Tensor:
        """The density of a Tensor."""
        return self.log_prob(value).exp()
