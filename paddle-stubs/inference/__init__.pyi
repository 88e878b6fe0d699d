from paddle_jax.inference import *
