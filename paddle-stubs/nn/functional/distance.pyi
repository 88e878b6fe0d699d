from paddle_jax.nn.functional.distance import *
