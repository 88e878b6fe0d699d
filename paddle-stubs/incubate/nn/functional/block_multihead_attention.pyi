from paddle_jax.incubate.nn.functional.block_multihead_attention import *
