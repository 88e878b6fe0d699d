from paddle_jax.utils.dlpack import *
