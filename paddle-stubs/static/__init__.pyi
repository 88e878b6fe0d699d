from paddle_jax.static import *
