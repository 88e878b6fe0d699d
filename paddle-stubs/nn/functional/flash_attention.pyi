from paddle_jax.nn.functional.flash_attention import *
