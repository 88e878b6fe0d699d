from paddle_jax.incubate.nn.functional.fused_layer_norm import *
