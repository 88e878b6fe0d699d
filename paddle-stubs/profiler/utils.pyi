from paddle_jax.profiler.utils import *
from paddle_jax.profiler.utils import RecordEvent as RecordEvent
from paddle_jax.profiler.utils import in_profiler_mode as in_profiler_mode
from paddle_jax.profiler.utils import load_profiler_result as load_profiler_result
