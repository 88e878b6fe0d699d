from paddle_jax.hapi.model import *
from paddle_jax.hapi.model import Model as Model
from paddle_jax.hapi.model import _all_gather as _all_gather
