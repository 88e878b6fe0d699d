from paddle_jax.views import *
