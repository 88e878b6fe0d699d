"""Layers and functions for quantized networks."""

from paddle_jax.nn.quant import format, functional_layers, qat
from paddle_jax.nn.quant.functional_layers import (
    FloatFunctionalLayer, add, concat, divide, flatten, matmul, multiply, reshape, subtract, transpose,
)
from paddle_jax.nn.quant.stub import Stub

__all__ = ["Stub"]
