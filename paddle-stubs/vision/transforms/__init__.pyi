from paddle_jax.vision.transforms import *
