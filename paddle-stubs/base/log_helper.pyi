from paddle_jax.base.log_helper import *
