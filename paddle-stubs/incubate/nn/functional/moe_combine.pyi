from paddle_jax.incubate.nn.functional.moe_combine import *
