from paddle_jax.base.layer_helper import *
