from paddle_jax.audio.functional.window import *
