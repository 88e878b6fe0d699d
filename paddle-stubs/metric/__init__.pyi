from paddle_jax.metric import *
