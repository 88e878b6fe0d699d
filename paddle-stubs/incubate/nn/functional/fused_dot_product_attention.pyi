from paddle_jax.incubate.nn.functional.fused_dot_product_attention import *
