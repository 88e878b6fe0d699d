from paddle_jax.aot import *
from paddle_jax.aot import capture as capture
from paddle_jax.aot import collectives as collectives
from paddle_jax.aot import compilers as compilers
from paddle_jax.aot import hlo as hlo
from paddle_jax.aot import work as work
