from paddle_jax.quantization.observers import *
