from paddle_jax.quantization.base_quanter import *
