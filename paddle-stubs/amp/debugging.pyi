from paddle_jax.amp.debugging import *
