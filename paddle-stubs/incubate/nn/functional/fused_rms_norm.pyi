from paddle_jax.incubate.nn.functional.fused_rms_norm import *
