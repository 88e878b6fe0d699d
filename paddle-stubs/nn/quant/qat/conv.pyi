from paddle_jax.nn.quant.qat.conv import *
