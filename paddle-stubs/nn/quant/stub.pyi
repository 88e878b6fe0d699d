from paddle_jax.nn.quant.stub import *
