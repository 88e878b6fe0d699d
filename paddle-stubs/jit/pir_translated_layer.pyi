from paddle_jax.jit.pir_translated_layer import *
