from paddle_jax.vision.image import *
