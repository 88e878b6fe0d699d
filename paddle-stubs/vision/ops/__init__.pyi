from paddle_jax.vision.ops import *
