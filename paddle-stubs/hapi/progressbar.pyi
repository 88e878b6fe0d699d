from paddle_jax.hapi.progressbar import *
