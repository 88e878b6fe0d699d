from paddle_jax.jit.translated_layer import *
