from paddle_jax.quantization.qat import *
