from paddle_jax.vision.datasets import *
