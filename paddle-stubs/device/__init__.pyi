from paddle_jax.device import *
from paddle_jax.device import _convert_to_place as _convert_to_place
from paddle_jax.device import memory as memory
