from paddle_jax.incubate.nn.attn_bias import *
