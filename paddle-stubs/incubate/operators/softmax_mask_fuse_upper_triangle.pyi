from paddle_jax.incubate.operators.softmax_mask_fuse_upper_triangle import *
