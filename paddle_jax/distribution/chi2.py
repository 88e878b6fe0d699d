"""The chi-squared distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paddle_jax._core.base.dtype import get_default_dtype
from paddle_jax.distribution.gamma import Gamma
from paddle_jax.tensor.axes import concrete
from paddle_jax.tensor.creation import full_like

if TYPE_CHECKING:
    from paddle_jax._annotations import TensorLike
    from paddle_jax._core.tensors.tensor import Tensor

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The chi-squared distribution: the sum of the squares of df standard normal numbers.

    Args:
        df: degrees of freedom: float, list, array or Tensor > 0.
    Raises:
        TypeError: df is of another type.
        ValueError: df is not positive.
    Example:
        >>> paddle.distribution.Chi2(3.0).variance.item()
        6.0
    """

    def __init__(self, df: TensorLike) -> None:
        self.df: Tensor = self._to_tensor(df)[0]
        values = concrete(self.df)
        if values is not None and not np.all(values > 0):
            raise ValueError(f"Chi2: df: got {values.min()}; it must be > 0")
        if self.df.is_floating_point():
            half = self.df / 2
        else:
            # Degrees of freedom may be integers, and the gamma distribution has floats.
            half = self.df.astype(get_default_dtype()) / 2
        # It is the gamma distribution with half the degrees of freedom and the rate 1/2.
        super().__init__(half, full_like(half, 0.5))
