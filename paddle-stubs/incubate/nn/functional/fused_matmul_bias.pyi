from paddle_jax.incubate.nn.functional.fused_matmul_bias import *
