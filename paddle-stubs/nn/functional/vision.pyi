from paddle_jax.nn.functional.vision import *
