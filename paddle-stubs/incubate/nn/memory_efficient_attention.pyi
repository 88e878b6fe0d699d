from paddle_jax.incubate.nn.memory_efficient_attention import *
