"""The LKJ distribution of correlation matrices, given by their Cholesky factors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distribution.beta import Beta
from paddle_jax.distribution.distribution import Distribution, repeated, sizes
from paddle_jax.distribution.draws import draw_normal_like
from paddle_jax.tensor.axes import concrete
from paddle_jax.tensor.creation import ones_like, to_tensor, zeros_like
from paddle_jax.tensor.cumulative import cumprod
from paddle_jax.tensor.joining import concat
from paddle_jax.tensor.matrices import tril
from paddle_jax.tensor.sequences import arange
from paddle_jax.tensor.special import multigammaln

if TYPE_CHECKING:
    from paddle_jax._annotations import ShapeLike, TensorLike
    from paddle_jax._core.base.dtype import DType

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """The distribution of Cholesky factors L of correlation matrices: L L^T has a density proportional to its
    determinant ** (concentration - 1).

    Args:
        dim: number of rows, an int >= 2.
        concentration: float, list, array or Tensor > 0. At 1 all correlation matrices are equally likely.
        sample_method: "onion" (row by row) or "cvine" (from partial correlations).
    Raises:
        TypeError: dim is no int, or concentration of another type.
        ValueError: dim < 2, concentration <= 0, or another sample_method.
    See: Lewandowski, Kurowicka and Joe, Generating random correlation matrices based on vines and extended
        onion method, 2009.
    Example:
        >>> d = paddle.distribution.LKJCholesky(3, 2.0)
        >>> d.sample([4]).shape
        paddle.Size([4, 3, 3])
    """

    def __init__(
        self,
        dim: int = 2,
        concentration: TensorLike = 1.0,
        sample_method: Literal["onion", "cvine"] = "onion",
    ) -> None:
        if not isinstance(dim, int):
            raise TypeError(f"LKJCholesky: dim: got {dim!r}; it must be an int >= 2")
        if dim < 2:
            raise ValueError(f"LKJCholesky: dim: got {dim}; it must be >= 2")
        if sample_method not in ("onion", "cvine"):
            raise ValueError(f"LKJCholesky: sample_method: got {sample_method!r}; use 'onion' or 'cvine'")
        self.dim = dim
        self.sample_method = sample_method
        self.concentration: Tensor = self._to_tensor(concentration)[0]
        self.dtype: DType = self.concentration.dtype
        values = concrete(self.concentration)
        if values is not None and not np.all(values > 0):
            raise ValueError(f"LKJCholesky: concentration: got {values.min()}; it must be > 0")
        super().__init__(tuple(self.concentration.shape), (dim, dim))

    def sample(self, sample_shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random lower triangular matrices of shape `sample_shape` + batch_shape + [dim, dim]."""
        with no_grad():
            eta = repeated(sizes(self, sample_shape), self.concentration).unsqueeze(-1)
            if self.sample_method == "onion":
                return self._onion(eta)
            return self._cvine(eta)

    def _onion(self, eta: Tensor) -> Tensor:
        """Row i is a random direction times the square root of a Beta(i / 2, eta + (dim - 1 - i) / 2) number;
        the diagonal completes length 1."""
        row = arange(1, self.dim, dtype=self.dtype)
        square = Beta(row / 2 + zeros_like(eta), eta + (self.dim - 1 - row) / 2).sample().unsqueeze(-1)
        normal = tril(draw_normal_like(square.expand([*square.shape[:-1], self.dim - 1])))
        # A normal vector divided by its length has a uniform direction.
        below = normal / normal.pow(2).sum(-1, keepdim=True).sqrt() * square.sqrt()
        return _with_diagonal(below, (1 - square).sqrt().squeeze(-1))

    def _cvine(self, eta: Tensor) -> Tensor:
        """Partial correlations 2 Beta(b, b) - 1 with b = eta + (dim - 2 - j) / 2 in column j; a row uses up
        what is left of length 1."""
        column = arange(0, self.dim - 1, dtype=self.dtype)
        both = (eta + (self.dim - 2 - column) / 2).unsqueeze(-2)
        both = both.expand([*both.shape[:-2], self.dim - 1, self.dim - 1])
        partial = tril(Beta(both, both).sample() * 2 - 1)
        left = cumprod((1 - partial.pow(2)).sqrt(), -1)
        # What earlier columns of the row have left.
        before = concat([ones_like(left[..., :1]), left[..., :-1]], -1)
        return _with_diagonal(partial * before, left[..., -1])

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density of Cholesky factors, a Tensor [..., dim, dim]."""
        if not isinstance(value, Tensor):
            raise ArgumentError(
                f"LKJCholesky: value: got {type(value).__name__}; give a Tensor [..., {self.dim}, {self.dim}]"
            )
        rest = self.dim - 1
        eta = self.concentration
        order = to_tensor(np.arange(rest - 1, -1, -1), dtype=self.dtype) + 2 * (eta.unsqueeze(-1) - 1)
        # The density is a product of powers of the diagonal.
        unnormalised = (order * value.diagonal(0, -2, -1)[..., 1:].log()).sum(-1)
        half = eta + rest / 2
        if rest > 1:
            constant = multigammaln(half - 0.5, rest)
        else:
            constant = (half - 0.5).lgamma()
        return unnormalised - (rest / 2 * math.log(math.pi) + constant - rest * half.lgamma())


def _with_diagonal(below: Tensor, diagonal: Tensor) -> Tensor:
    """The lower triangular matrix with a first row 1, 0, ..., 0, `below` [..., n, n] under the diagonal, then
    `diagonal` [..., n]."""
    n = below.shape[-1]
    lower = concat([below, zeros_like(below[..., :1])], -1)
    places = to_tensor(np.eye(n, n + 1, 1), dtype=below.dtype)
    lower = lower + places * diagonal.unsqueeze(-1)
    first = zeros_like(lower[..., :1, :]) + to_tensor(np.eye(1, n + 1), dtype=below.dtype)
    return concat([first, lower], -2)
