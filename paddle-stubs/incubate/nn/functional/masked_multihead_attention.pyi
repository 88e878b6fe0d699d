from paddle_jax.incubate.nn.functional.masked_multihead_attention import *
