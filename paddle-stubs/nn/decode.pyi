from paddle_jax.nn.decode import *
from paddle_jax.nn.decode import Decoder as Decoder
