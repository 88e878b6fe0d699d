from paddle_jax.base.param_attr import *
