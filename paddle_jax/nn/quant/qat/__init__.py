"""Layers with simulated quantization of weights and inputs, which QAT and PTQ put in place
of the plain ones."""

from paddle_jax.nn.quant.qat.conv import QuantedConv2D
from paddle_jax.nn.quant.qat.linear import QuantedLinear
