from paddle_jax.incubate.nn.functional.fused_rms_norm_ext import *
