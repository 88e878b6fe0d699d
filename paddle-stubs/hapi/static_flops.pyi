from paddle_jax.hapi.static_flops import *
from paddle_jax.hapi.static_flops import Table as Table
