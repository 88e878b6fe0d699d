"""Where the time of a program goes: `paddle.profiler`. docs/slow.md says how to read it."""

from paddle_jax.profiler import (
    profiler as profiler,
    profiler_statistic as profiler_statistic,
    timer as timer,
    utils as utils,
)
from paddle_jax.profiler.event_type import TracerEventType
from paddle_jax.profiler.profiler import (
    Profiler,
    ProfilerState,
    ProfilerTarget,
    SummaryView,
    export_chrome_tracing,
    export_protobuf,
    make_scheduler,
)
from paddle_jax.profiler.profiler_statistic import SortedKeys
from paddle_jax.profiler.utils import RecordEvent, load_profiler_result

__all__ = [
    "ProfilerState",
    "ProfilerTarget",
    "make_scheduler",
    "export_chrome_tracing",
    "export_protobuf",
    "Profiler",
    "RecordEvent",
    "load_profiler_result",
    "SortedKeys",
    "SummaryView",
]
