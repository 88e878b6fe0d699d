from paddle_jax.nn.quant.quant_layers import *
from paddle_jax.nn.quant.quant_layers import _get_fake_quant_type as _get_fake_quant_type
