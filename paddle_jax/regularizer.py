"""Weight decay as a term of the loss (`paddle.regularizer`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor, wrap


class WeightDecayRegularizer:
    """The base class of regularizers."""

    def __init__(self, coeff: float = 0.0) -> None:
        if coeff is None:
            raise AssertionError(f"{type(self).__name__}: coeff: got None; pass a float.")
        self._coeff = coeff

    def __str__(self) -> str:
        return f"{type(self).__name__}, coeff={float(self._coeff):f}"


class L1Decay(WeightDecayRegularizer):
    """Adds `coeff * sum(|parameter|)` to the loss, so `coeff * sign(parameter)` to the gradient.

    Args:
        coeff: float. Default 0.0.
    Raises:
        AssertionError: `coeff` is None.
    Example:
        >>> print(paddle.regularizer.L1Decay(0.5))
        L1Decay, coeff=0.500000
    """

    def __call__(self, param: Tensor, grad: Tensor | None = None, block: Any = None) -> Tensor:
        """Returns the term that is added to the gradient of `param`."""
        return _decay(param, lambda value: self._coeff * jnp.sign(value))


class L2Decay(WeightDecayRegularizer):
    """Adds `coeff / 2 * sum(parameter ** 2)` to the loss, so `coeff * parameter` to the gradient.

    Args:
        coeff: float. Default 0.0.
    Raises:
        AssertionError: `coeff` is None.
    Example:
        >>> print(paddle.regularizer.L2Decay(0.5))
        L2Decay, coeff=0.500000
    """

    def __call__(self, param: Tensor, grad: Tensor | None = None, block: Any = None) -> Tensor:
        """Returns the term that is added to the gradient of `param`."""
        return _decay(param, lambda value: self._coeff * value)


def _decay(param: Tensor, term: Callable[[Any], Any]) -> Tensor:
    if not isinstance(param, Tensor):
        raise AssertionError(f"regularizer: param: got {type(param).__name__}; pass a Parameter.")
    return wrap(term(param._value).astype(numpy_dtype(param)))
