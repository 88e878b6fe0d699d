from paddle_jax.profiler import *
from paddle_jax.profiler import profiler as profiler
from paddle_jax.profiler import profiler_statistic as profiler_statistic
from paddle_jax.profiler import timer as timer
from paddle_jax.profiler import utils as utils
