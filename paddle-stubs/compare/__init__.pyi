from paddle_jax.compare import *
