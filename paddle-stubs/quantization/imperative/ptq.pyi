from paddle_jax.quantization.imperative.ptq import *
