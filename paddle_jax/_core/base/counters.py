"""Counts of the work of the process, which `paddle_jax.metrics` shows.

Counting is always on: each count costs an addition where something large happens. Counting in several threads
at once may lose one. Results do not depend on these numbers. `steps` decides when a template of equations is
made.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from jax import monitoring

TIERS = ("operation", "segment", "to_static", "executor", "optimizer")
# JAX's own names of its events; the listener gets them as plain text.
COMPILED = "/jax/core/compile/backend_compile_duration"
CACHE_HIT = "/jax/compilation_cache/cache_hits"


class Counters:
    """The counts.

    Attributes:
        compiled: int, compiled programs in all, also those of the user's own `jax.jit`.
        programs_from_cache: int, how many of these came from the cache directory.
        compiles: {tier: [number of programs, seconds]}.
        steps: int, steps of optimizers.
        batches: int, batches of DataLoaders.
        data_seconds: float, how long the program waited for batches.
        collectives: int, calls between processes.
        collective_seconds: float, the time in them.
        failed_allocations: int, allocations for which there was no memory.
    """

    compiled = 0
    programs_from_cache = 0
    compiles = {tier: [0, 0.0] for tier in TIERS}  # noqa: RUF012  one for the process
    steps = 0
    batches = 0
    data_seconds = 0.0
    collectives = 0
    collective_seconds = 0.0
    failed_allocations = 0


class _Thread(threading.local):
    tier = "operation"


_thread = _Thread()


@contextlib.contextmanager
def compiling(tier: str) -> Iterator[None]:
    """A block in which the thread compiles for a tier, one of TIERS.

    The tier may stay when an exception of a signal handler ends the block; then a number is in the wrong row.
    """
    before = _thread.tier
    _thread.tier = tier
    try:
        yield
    finally:
        _thread.tier = before


def _on_duration(event: str, duration_secs: float, **_: Any) -> None:
    if event == COMPILED:
        Counters.compiled += 1
        row = Counters.compiles[_thread.tier]
        row[0] += 1
        row[1] += duration_secs


def _on_event(event: str, **_: Any) -> None:
    if event == CACHE_HIT:
        Counters.programs_from_cache += 1


def start() -> None:
    """Begins to count compilations; the other counts need no start."""
    monitoring.register_event_duration_secs_listener(_on_duration)
    monitoring.register_event_listener(_on_event)
