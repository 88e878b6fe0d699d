from paddle_jax.tensor.manipulation import *
