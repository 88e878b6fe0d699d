from paddle_jax.audio.datasets.tess import *
from paddle_jax.audio.datasets.tess import TESS as TESS
