from paddle_jax.vision.models.lenet import *
