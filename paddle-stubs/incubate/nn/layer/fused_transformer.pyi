from paddle_jax.incubate.nn.layer.fused_transformer import *
