from paddle_jax.signal import *
