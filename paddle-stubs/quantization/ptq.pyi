from paddle_jax.quantization.ptq import *
