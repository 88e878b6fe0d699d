from paddle_jax.amp.amp_lists import *
