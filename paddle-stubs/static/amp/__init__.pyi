from paddle_jax.static.amp import *
