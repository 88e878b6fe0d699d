from paddle_jax.quantization.imperative.ptq_quantizer import *
