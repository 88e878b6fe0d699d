from paddle_jax.nn.functional.input import *
