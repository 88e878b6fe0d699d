"""The observer of the largest magnitude."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.nn.functional.quantization import abs_max
from paddle_jax.quantization.base_observer import BaseObserver
from paddle_jax.quantization.factory import ObserverFactory
from paddle_jax.tensor.creation import to_tensor, zeros_like
from paddle_jax.tensor.math import maximum

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.layers import Layer


class AbsmaxObserver(ObserverFactory):
    """Makes observers whose scale is the largest magnitude of all values they have seen.

    Args:
        quant_bits: int, number of bits.
    Differs from Paddle: `paddle.quantization.observers` is there without an import of its own.
    Example:
        >>> paddle.quantization.observers.AbsmaxObserver(quant_bits=8)
        AbsmaxObserver(quant_bits=8)
    """

    def __init__(self, quant_bits: int = 8) -> None:
        super().__init__(quant_bits=quant_bits)

    def _get_class(self) -> type[AbsmaxObserverLayer]:
        return AbsmaxObserverLayer


class MagnitudeObserver(BaseObserver):
    """The base of observers whose scale is the largest magnitude, which `forward` keeps as `_max`."""

    def __init__(self, quant_bits: Any) -> None:
        super().__init__()
        self._quant_bits = quant_bits
        self._max = self._scale = self._zero_point = None

    def bit_length(self) -> int:
        return self._quant_bits

    def quant_axis(self) -> int:
        return -1

    def cal_thresholds(self) -> None:
        """Fixes the scale, once.

        Raises:
            AttributeError: nothing was watched.
        """
        if self._max is None:
            raise AttributeError(
                f"{type(self).__name__.removesuffix('Layer')}: it has seen nothing; "
                "call the model on data first"
            )
        if self._scale is None:
            self._scale, self._zero_point = self._max, zeros_like(self._max)

    def scales(self) -> None:
        if self._scale is None:
            self.cal_thresholds()
        return self._scale

    def zero_points(self) -> Tensor | None:
        if self._zero_point is None:
            self.cal_thresholds()
        return self._zero_point


class AbsmaxObserverLayer(MagnitudeObserver):
    """Gives its input and keeps the largest magnitude; see `AbsmaxObserver`."""

    # no scale is 0, since values are divided by it
    INIT_ABS_MAX = 1e-7

    def __init__(self, layer: Layer, quant_bits: Any = 8) -> None:
        super().__init__(quant_bits)
        self.abs_max_val: Any = to_tensor(self.INIT_ABS_MAX)
        self._min = None

    def forward(self, input: Tensor) -> Tensor:
        self._min, self._max = self.cal_min_max(input)
        return input

    def cal_min_max(self, inputs: Tensor) -> tuple[int, Any]:
        """(0, the largest magnitude of the inputs and of all before)."""
        return 0, maximum(
            abs_max(inputs.detach()).reshape([]), self.abs_max_val if self._max is None else self._max
        )
