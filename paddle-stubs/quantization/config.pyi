from paddle_jax.quantization.config import *
