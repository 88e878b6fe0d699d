from paddle_jax.pir import *
from paddle_jax.pir import Program as Program
