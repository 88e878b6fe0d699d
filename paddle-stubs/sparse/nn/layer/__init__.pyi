from paddle_jax.sparse.nn.layer import *
