from paddle_jax.nn.quant.qat.linear import *
