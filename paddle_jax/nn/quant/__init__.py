"""Layers and functions for quantized networks."""

from paddle_jax.nn.quant import (
    format as format,
    functional_layers as functional_layers,
    qat as qat,
    quant_layers as quant_layers,
)
from paddle_jax.nn.quant.functional_layers import (
    FloatFunctionalLayer,
    add,
    concat,
    divide,
    flatten,
    matmul,
    multiply,
    reshape,
    subtract,
    transpose,
)
from paddle_jax.nn.quant.quant_layers import QuantStub as QuantStub
from paddle_jax.nn.quant.quantized_linear import (
    apply_per_channel_scale,
    llm_int8_linear,
    weight_dequantize,
    weight_only_linear,
    weight_quantize,
)
from paddle_jax.nn.quant.stub import Stub

__all__ = ["Stub", "weight_only_linear", "llm_int8_linear", "weight_quantize", "weight_dequantize"]
