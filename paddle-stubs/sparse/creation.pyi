from paddle_jax.sparse.creation import *
