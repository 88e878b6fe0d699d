from paddle_jax.incubate.nn.functional.fused_dropout_add import *
