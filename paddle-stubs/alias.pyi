from paddle_jax.alias import *
from paddle_jax.alias import _paths as _paths
