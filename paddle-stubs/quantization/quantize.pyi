from paddle_jax.quantization.quantize import *
