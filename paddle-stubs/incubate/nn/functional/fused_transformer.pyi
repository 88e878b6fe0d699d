from paddle_jax.incubate.nn.functional.fused_transformer import *
