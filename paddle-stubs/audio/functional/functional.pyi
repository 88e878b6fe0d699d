from paddle_jax.audio.functional.functional import *
