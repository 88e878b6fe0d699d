from paddle_jax.incubate.nn.functional.fused_rotary_position_embedding import *
