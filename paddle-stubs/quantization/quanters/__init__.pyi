from paddle_jax.quantization.quanters import *
