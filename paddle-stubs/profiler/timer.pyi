from paddle_jax.profiler.timer import *
