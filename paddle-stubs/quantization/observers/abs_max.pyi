from paddle_jax.quantization.observers.abs_max import *
