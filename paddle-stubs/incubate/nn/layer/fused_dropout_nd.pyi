from paddle_jax.incubate.nn.layer.fused_dropout_nd import *
