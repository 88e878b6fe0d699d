from paddle_jax.nn.utils.weight_norm_hook import *
