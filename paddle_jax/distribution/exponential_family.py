"""Distributions of an exponential family: entropy from the log-normalizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.autograd import grad
from paddle_jax.distribution.distribution import Distribution, sum_rightmost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._core.tensors.tensor import Tensor


class ExponentialFamily(Distribution):
    """A distribution with density h(x) exp(<theta, t(x)> - A(theta)).

    Subclasses define `_natural_parameters` (a tuple of Tensors theta), `_log_normalizer(*theta)` (A) and
    `_mean_carrier_measure` (the mean of log h), and get `entropy` and `kl_divergence` (to a distribution of
    the same class) from them.

    Args:
        batch_shape, event_shape: sequences of ints. Default ().
    Raises:
        NotImplementedError: a subclass lacks one of these three.
    See: Nielsen and Nock, Entropies and Cross-entropies of Exponential Families, 2010.

    Example:
        >>> issubclass(paddle.distribution.Beta, paddle.distribution.ExponentialFamily)
        True
    """

    @property
    def _natural_parameters(self) -> tuple[Tensor, ...]:
        raise self._undefined("_natural_parameters")

    def _log_normalizer(self) -> Tensor:
        raise self._undefined("_log_normalizer")

    @property
    def _mean_carrier_measure(self) -> float | Tensor:
        raise self._undefined("_mean_carrier_measure")

    def entropy(self) -> Tensor:
        """The entropy, A(theta) - <theta, A'(theta)> minus the mean of log h.

        Returns:
            Tensor of shape batch_shape.
        """
        theta, value, slopes = normalizer_slopes(self)
        value = value - self._mean_carrier_measure
        for t, slope in zip(theta, slopes, strict=True):
            value = value - sum_rightmost(t * slope, len(self._event_shape))
        return value


def normalizer_slopes(
    distribution: ExponentialFamily,
) -> tuple[list[Tensor], Tensor, Sequence[Tensor | None]]:
    """(theta, A(theta), the gradients of A by each theta)."""
    theta = []
    for parameter in distribution._natural_parameters:
        if parameter.stop_gradient:
            # The normalizer is differentiated by it, whether or not the user wants a gradient.
            parameter = parameter.detach()
            parameter.stop_gradient = False
        theta.append(parameter)
    value = distribution._log_normalizer(*theta)
    return theta, value, grad(value.sum(), theta, create_graph=True)
