from paddle_jax.quantization.observers.groupwise import *
