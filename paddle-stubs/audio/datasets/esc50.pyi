from paddle_jax.audio.datasets.esc50 import *
from paddle_jax.audio.datasets.esc50 import ESC50 as ESC50
