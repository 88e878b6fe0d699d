from paddle_jax.profiler.profiler import *
from paddle_jax.profiler.profiler import Profiler as Profiler
from paddle_jax.profiler.profiler import ProfilerState as ProfilerState
from paddle_jax.profiler.profiler import ProfilerTarget as ProfilerTarget
from paddle_jax.profiler.profiler import SummaryView as SummaryView
from paddle_jax.profiler.profiler import export_chrome_tracing as export_chrome_tracing
from paddle_jax.profiler.profiler import export_protobuf as export_protobuf
from paddle_jax.profiler.profiler import make_scheduler as make_scheduler
