from paddle_jax.nn.utils.spectral_norm_hook import *
