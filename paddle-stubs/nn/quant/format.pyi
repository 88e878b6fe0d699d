from paddle_jax.nn.quant.format import *
