from paddle_jax.quantization.base_observer import *
