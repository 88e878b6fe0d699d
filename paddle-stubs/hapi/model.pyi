from paddle_jax.hapi.model import *
from paddle_jax.hapi.model import Model as Model
