from paddle_jax.vision.models import *
