from paddle_jax.incubate.nn.functional.fast_rms_norm import *
