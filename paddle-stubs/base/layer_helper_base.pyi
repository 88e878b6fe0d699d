from paddle_jax.base.layer_helper_base import *
