"""Quantization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.framework.model_files.records import Lowering
from paddle_jax.nn.functional import quantization as functions

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def _linear(name: str) -> Lowering:
    function = getattr(functions, name)

    def read(a: Any, x: Tensor, scale: Tensor, zero: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
        return (
            function(x, scale, scale if zero is None else zero, a.quant_axis, a.bit_length, a.qmin, a.qmax),
            None,
            None,
            None,
        )

    return Lowering(read=read)


def _read_fake_quantizer(a: Any, x: Tensor, scale: Tensor, *_: Any) -> tuple[Any, None, None, None]:
    return functions.fake_quantize_dequantize(x, scale.detach(), a.bit_length), None, None, None


quantize_linear: Lowering = _linear("quantize_linear")
dequantize_linear: Lowering = _linear("dequantize_linear")
fake_quantize_dequantize: Lowering = Lowering(read=_read_fake_quantizer)
