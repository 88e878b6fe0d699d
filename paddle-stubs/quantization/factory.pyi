from paddle_jax.quantization.factory import *
