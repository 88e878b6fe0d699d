from paddle_jax.static.amp.decorator import *
