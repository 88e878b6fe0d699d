from paddle_jax.quantization.imperative import *
