from paddle_jax.quantization.quanters.abs_max import *
