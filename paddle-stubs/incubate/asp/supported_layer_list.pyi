from paddle_jax.incubate.asp.supported_layer_list import *
