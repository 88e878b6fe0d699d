"""What the process has done, in numbers that are always counted: each costs an addition where
something large happens.

`paddle_jax.metrics` shows them. Counting from several threads at once may lose one; nothing is decided
by these numbers.
"""

import contextlib
import threading

from jax import monitoring

TIERS = ("operation", "segment", "to_static", "executor", "optimizer")
_COMPILED, _HIT = "/jax/core/compile/backend_compile_duration", "/jax/compilation_cache/cache_hits"


class Counters:
    """steps: of optimizers. batches, data_seconds: of DataLoaders, and how long the program waited for them.
    collectives, collective_seconds: calls between processes, and the time in them. failed: allocations for
    which there was no memory. compiles: {tier: [programs, seconds]}. loaded: how many of these came from the
    cache directory. compiled: programs in all, also those of the user's own `jax.jit`."""

    compiled = 0
    steps = batches = collectives = failed = loaded = 0
    data_seconds = collective_seconds = 0.0
    compiles = {tier: [0, 0.0] for tier in TIERS}  # noqa: RUF012  one for the process


class _Thread(threading.local):
    tier = "operation"


_thread = _Thread()


@contextlib.contextmanager
def compiling(tier):
    """Says for what this thread compiles: one of TIERS. Left by an exception of a signal handler it may stay;
    then a number is in the wrong row."""
    before, _thread.tier = _thread.tier, tier
    try:
        yield
    finally:
        _thread.tier = before


def _duration(event, seconds, **_):
    if event == _COMPILED:
        Counters.compiled += 1
        row = Counters.compiles[_thread.tier]
        row[0] += 1
        row[1] += seconds


def _event(event, **_):
    if event == _HIT:
        Counters.loaded += 1


def start():
    """Begins to count compilations; the rest is counted where it happens."""
    monitoring.register_event_duration_secs_listener(_duration)
    monitoring.register_event_listener(_event)
