from paddle_jax.linalg import *
