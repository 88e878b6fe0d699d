from paddle_jax.quantization.imperative.qat import *
