from paddle_jax.sparse.nn.functional import *
