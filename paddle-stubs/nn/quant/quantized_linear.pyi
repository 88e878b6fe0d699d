from paddle_jax.nn.quant.quantized_linear import *
from paddle_jax.nn.quant.quantized_linear import _get_arch_info as _get_arch_info
