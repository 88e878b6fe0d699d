from paddle_jax.nn.utils.transform_parameters import *
