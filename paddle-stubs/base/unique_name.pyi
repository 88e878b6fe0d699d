from paddle_jax.base.unique_name import *
