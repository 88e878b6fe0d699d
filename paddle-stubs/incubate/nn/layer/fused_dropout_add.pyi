from paddle_jax.incubate.nn.layer.fused_dropout_add import *
