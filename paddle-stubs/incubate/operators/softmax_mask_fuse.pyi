from paddle_jax.incubate.operators.softmax_mask_fuse import *
