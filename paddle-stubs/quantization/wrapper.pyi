from paddle_jax.quantization.wrapper import *
