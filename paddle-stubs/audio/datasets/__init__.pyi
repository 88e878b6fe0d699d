from paddle_jax.audio.datasets import *
