"""The multivariate normal distribution."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING

from paddle_jax._core.base.dtype import get_default_dtype
from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distribution.distribution import Distribution, alike, sizes, sum_rightmost
from paddle_jax.distribution.draws import draw_normal_like
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.decomposition import cholesky
from paddle_jax.tensor.linalg import matmul
from paddle_jax.tensor.matrices import eye
from paddle_jax.tensor.reorder import flip
from paddle_jax.tensor.solve import triangular_solve

if TYPE_CHECKING:
    from paddle_jax._annotations import ShapeLike
    from paddle_jax._core.base.dtype import DType


def _transposed(x: Tensor) -> Tensor:
    return x.transpose([*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def precision_to_scale_tril(P: Tensor) -> Tensor:
    """The lower triangular L with L L^T = P^-1, for a positive definite Tensor P [..., n, n].

    With the axes reversed, P = U^T U for an upper triangular U, and L = U^-1 is lower triangular again
    after reversing.
    """
    # Reversed axes give an upper factor, whose inverse is the lower factor of the covariance.
    upper = _transposed(flip(cholesky(flip(P, [-2, -1])), [-2, -1]))
    return triangular_solve(upper, eye(P.shape[-1], dtype=P.dtype).expand(P.shape), upper=False)


def batch_mahalanobis(bL: Tensor, bx: Tensor) -> Tensor:
    """x^T (L L^T)^-1 x for lower triangular matrices bL [..., n, n] and vectors bx [..., n]; the
    other axes broadcast."""
    solved = triangular_solve(*_matched(bL, bx.unsqueeze(-1)), upper=False)
    return solved.pow(2).sum([-2, -1])


def _matched(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Two stacks of matrices with the same leading axes."""
    return alike(a, b[..., :1])[0], alike(b, a[..., :1])[0]


class MultivariateNormal(Distribution):
    """The normal distribution of vectors. Exactly one of the three matrices is given.

    Args:
        loc: number or floating Tensor [..., n]: the mean.
        covariance_matrix: Tensor [..., n, n], positive definite.
        precision_matrix: Tensor [..., n, n], the inverse of the covariance.
        scale_tril: Tensor [..., n, n], lower triangular, a square root of the covariance.
    Attributes:
        loc: Tensor, the means.
        covariance_matrix, precision_matrix, scale_tril: Tensor, the one that was given; the others are
            None.
        _unbroadcasted_scale_tril: Tensor, the lower triangular root of the covariance.
        dtype: dtype of the means.
    Raises:
        ValueError: not exactly one matrix is given, or it has fewer than two axes.
        AttributeError: loc is of another type.
    Example:
        >>> d = paddle.distribution.MultivariateNormal(paddle.zeros([2]), covariance_matrix=paddle.eye(2))
        >>> round(d.log_prob(paddle.zeros([2])).item(), 4)
        -1.8379
    """

    def __init__(
        self,
        loc: float | Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
    ) -> None:
        if not isinstance(loc, (numbers.Real, Tensor)):
            raise AttributeError(
                f"MultivariateNormal: loc: got {type(loc).__name__}; give a number or a Tensor"
            )
        if isinstance(loc, Tensor):
            self.dtype = loc.dtype
        else:
            self.dtype: DType | str = get_default_dtype()
        if not isinstance(loc, Tensor):
            loc = to_tensor(loc, dtype=self.dtype)
        if loc.ndim == 0:
            loc = loc.reshape([1])
        self.covariance_matrix = self.precision_matrix = self.scale_tril = None
        given = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = {name: value for name, value in given.items() if value is not None}
        if len(given) != 1:
            raise ValueError(
                f"MultivariateNormal: got {sorted(given) or 'no matrix'}; "
                "give one of covariance_matrix, precision_matrix, scale_tril"
            )
        ((name, matrix),) = given.items()
        if not isinstance(matrix, Tensor):
            raise AttributeError(f"MultivariateNormal: {name}: got {type(matrix).__name__}; give a Tensor")
        if matrix.ndim < 2 or matrix.shape[-1] != loc.shape[-1]:
            raise ValueError(
                f"MultivariateNormal: {name}: got shape {list(matrix.shape)} for loc of shape "
                f"{list(loc.shape)}; it must be [..., n, n]"
            )
        self._unbroadcasted_scale_tril = self._square_root(name, matrix)
        self.loc: Tensor = alike(loc, matrix[..., 0])[0]
        setattr(self, name, alike(matrix, loc.unsqueeze(-1))[0])
        super().__init__(tuple(self.loc.shape[:-1]), tuple(self.loc.shape[-1:]))

    @staticmethod
    def _square_root(name: str, matrix: Tensor) -> Tensor:
        if name == "scale_tril":
            return matrix
        if name == "covariance_matrix":
            return cholesky(matrix)
        return precision_to_scale_tril(matrix)

    @property
    def mean(self) -> Tensor:
        """loc."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The diagonal of the covariance, of shape batch_shape + event_shape."""
        return alike(self._unbroadcasted_scale_tril.pow(2).sum(-1), self.loc)[0]

    def sample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random vectors of shape `shape` + batch_shape + event_shape."""
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random vectors with gradients to loc and the matrix."""
        loc = self.loc.expand([*sizes(self, shape), *self.loc.shape])
        return loc + matmul(self._unbroadcasted_scale_tril, draw_normal_like(loc).unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density of a Tensor [..., n]."""
        if not isinstance(value, Tensor):
            raise ArgumentError(f"MultivariateNormal: value: got {type(value).__name__}; give a Tensor")
        away = value.astype(self.dtype) - self.loc
        size = self._log_size() + self.event_shape[0] / 2 * math.log(2 * math.pi)
        return -batch_mahalanobis(self._unbroadcasted_scale_tril, away) / 2 - size

    def _log_size(self) -> Tensor:
        """The logarithm of the determinant of the square root."""
        return self._unbroadcasted_scale_tril.diagonal(0, -2, -1).log().sum(-1)

    def prob(self, value: Tensor) -> Tensor:
        """The density of a Tensor [..., n]."""
        return self.log_prob(value).exp()

    def entropy(self) -> Tensor:
        """The entropy of shape batch_shape."""
        found = self._log_size() + self.event_shape[0] / 2 * (1 + math.log(2 * math.pi))
        return alike(found, self.loc[..., 0])[0]

    def kl_divergence(self, other: MultivariateNormal) -> Tensor:
        """The divergence from this distribution to another of the same n."""
        if not isinstance(other, MultivariateNormal):
            raise AttributeError(
                f"MultivariateNormal: kl_divergence: got {type(other).__name__}; "
                "give a MultivariateNormal distribution"
            )
        ratio = triangular_solve(
            *_matched(other._unbroadcasted_scale_tril, self._unbroadcasted_scale_tril), upper=False
        )
        traces = sum_rightmost(ratio.pow(2), 2)
        away = batch_mahalanobis(other._unbroadcasted_scale_tril, self.loc - other.loc)
        return other._log_size() - self._log_size() + (traces + away - self.event_shape[0]) / 2
