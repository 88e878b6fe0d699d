from paddle_jax.utils.unique_name import *
