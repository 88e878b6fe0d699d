from paddle_jax.nn.quant.qat import *
