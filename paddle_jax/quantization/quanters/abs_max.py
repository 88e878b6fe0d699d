"""The quanter whose scale is a moving average of the largest magnitudes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import unique_name
from paddle_jax._core.tensors.held_values import assign_from
from paddle_jax.base.param_attr import ParamAttr
from paddle_jax.nn.functional.quantization import fake_quantize_dequantize, moving_average_abs_max
from paddle_jax.nn.initializer import Constant
from paddle_jax.quantization.base_quanter import BaseQuanter
from paddle_jax.quantization.factory import QuanterFactory

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.layers import Layer


class FakeQuanterWithAbsMaxObserver(QuanterFactory):
    """Makes quanters that round to what a number of bits can hold, with a moving average of the largest
    magnitudes as scale.

    In training state = rate state + 1, accum = rate accum + max |x|, scale = accum / state at each call; in
    evaluation the scale stays. Halves are rounded away from zero, gradients go straight through.

    Args:
        moving_rate: float, how much of the average is kept.
        bit_length: int, number of bits.
        dtype: dtype of scale and averages.
        name: str, begins the names of scale and averages. Default: "quant_dequant".
    Differs from Paddle: `paddle.quantization.quanters` is there without an import of its own.
    Example:
        >>> quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver(moving_rate=0.5,
        ...                                                                      bit_length=4)._instance(None)
        >>> ([round(v, 4) for v in quanter(paddle.to_tensor([-1.0, 0.3])).tolist()],
        ...  round(quanter.scales().item(), 4))
        ([-1.0, 0.2857], 1.0)
    """

    def __init__(
        self,
        moving_rate: float = 0.9,
        bit_length: int = 8,
        dtype: DTypeLike = "float32",
        name: str | None = None,
    ) -> None:
        super().__init__(name=name, moving_rate=moving_rate, bit_length=bit_length, dtype=dtype)

    def _get_class(self) -> type[FakeQuanterWithAbsMaxObserverLayer]:
        return FakeQuanterWithAbsMaxObserverLayer


class FakeQuanterWithAbsMaxObserverLayer(BaseQuanter):
    """Rounds its input; see `FakeQuanterWithAbsMaxObserver`."""

    def __init__(
        self,
        layer: Layer | None,
        name: str | None = None,
        moving_rate: Any = 0.9,
        bit_length: Any = 8,
        dtype: DTypeLike = "float32",
    ) -> None:
        super().__init__()
        self._moving_rate = moving_rate
        self._bit_length = bit_length
        # Paddle begins with these values.
        for attribute, value in (("scale", 0.001), ("state", 1.0), ("accum", 1.0)):
            attr = ParamAttr(
                name=unique_name.generate(f"{name or 'quant_dequant'}.{attribute}"),
                initializer=Constant(value),
                trainable=False,
            )
            setattr(self, f"_{attribute}", self.create_parameter([1], attr=attr, dtype=dtype))

    def forward(self, input: Tensor) -> Tensor:
        if not input.is_floating_point():
            raise RuntimeError(
                f"FakeQuanterWithAbsMaxObserver: got dtype {input.dtype}; it must be a floating one"
            )
        # In evaluation the scale is fixed.
        if self.training:
            known = [p.detach() for p in (self._scale, self._state, self._accum)]
            for parameter, value in zip(
                (self._scale, self._state, self._accum),
                moving_average_abs_max(input.detach(), *known, self._moving_rate),
                strict=True,
            ):
                assign_from(parameter, value)
        # Detached: no gradient goes into the scale.
        return fake_quantize_dequantize(input, self._scale.detach(), self._bit_length)

    def bit_length(self) -> int:
        return self._bit_length

    def quant_axis(self) -> int:
        return -1

    def scales(self) -> Tensor:
        return self._scale

    def zero_points(self) -> None:
        return None
