"""The observer of weights by groups of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.nn.functional.quantization import abs_max
from paddle_jax.quantization.factory import ObserverFactory
from paddle_jax.quantization.observers.abs_max import MagnitudeObserver

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.layers import Layer


class GroupWiseWeightObserver(ObserverFactory):
    """Makes observers of a weight [in, out] that find a scale for each group of rows of each column.

    Args:
        quant_bits: int, number of bits.
        group_size: int, rows of a group, 64 or 128.
    Differs from Paddle: `paddle.quantization.observers` is there without an import of its own.
    Example:
        >>> paddle.quantization.observers.GroupWiseWeightObserver(quant_bits=4)
        GroupWiseWeightObserver(quant_bits=4)
    """

    def __init__(self, quant_bits: int = 8, group_size: int = 128) -> None:
        super().__init__(quant_bits=quant_bits, **({} if group_size == 128 else {"group_size": group_size}))

    def _get_class(self) -> type[GroupWiseWeightObserverLayer]:
        return GroupWiseWeightObserverLayer


class GroupWiseWeightObserverLayer(MagnitudeObserver):
    """Gives its input and keeps the largest magnitudes of the last one; see `GroupWiseWeightObserver`."""

    def __init__(self, layer: Layer, quant_bits: Any = 8, group_size: Any = 128) -> None:
        super().__init__(quant_bits)
        self.group_size = group_size
        self._layer = layer

    def forward(self, inputs: Tensor) -> Tensor:
        self._max = self._cal_abs_max(inputs)
        return inputs

    def _cal_abs_max(self, inputs: Tensor) -> Tensor:
        rows = inputs.shape[0]
        if self.group_size not in (64, 128):
            raise AssertionError(
                f"GroupWiseWeightObserver: group_size: got {self.group_size}; it must be 64 or 128"
            )
        if rows % self.group_size:
            raise AssertionError(
                f"GroupWiseWeightObserver: got {rows} rows; the number must be a multiple "
                f"of group_size, {self.group_size}"
            )
        if inputs.ndim != 2:
            raise AssertionError(f"GroupWiseWeightObserver: got {inputs.ndim} axes; the weight must have 2")
        # [rows of a group, groups * columns], so that one reduction finds all.
        groups = (
            inputs.detach()
            .reshape([-1, self.group_size, inputs.shape[1]])
            .transpose([1, 0, 2])
            .reshape([self.group_size, -1])
        )
        return abs_max(groups, 1).reshape([-1, inputs.shape[1]])

    def min_value(self) -> float:
        """0.0."""
        return 0.0

    def max_value(self) -> Tensor:
        """Tensor [groups, columns]: the largest magnitudes."""
        return self._max
