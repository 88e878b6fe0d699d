from paddle_jax.profiler.profiler_statistic import *
from paddle_jax.profiler.profiler_statistic import SortedKeys as SortedKeys
from paddle_jax.profiler.profiler_statistic import _build_table as _build_table
