from paddle_jax.incubate.nn.functional.fused_bias_act import *
