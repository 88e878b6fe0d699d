"""Whether a thread records its operations, and when it runs those that it has recorded."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from paddle_jax._core.base.state import Context, local
from paddle_jax._core.lazy.segment import FIRST_LIMIT, Segment
from paddle_jax._core.lazy.settings import settings


def configure_context(ctx: Context) -> None:
    """Puts a thread's Context into the mode of the process."""
    frame = ctx.frame
    if frame is None:  # flags are read before there are operations; frame.py calls this again
        return
    enclosing = frame
    while enclosing is not None:
        enclosing.executor = settings.executor
        enclosing = enclosing.outer
    records = (
        settings.mode != "off" and settings.executor is None and frame.packing is None and frame.has_segment
    )
    if records:
        ctx.segment = Segment(min(FIRST_LIMIT, settings.max_ops))
    else:
        ctx.segment = None


def start_context(ctx: Context) -> None:
    """Puts the Context of a thread that begins into static mode, where the process is in it."""
    if settings.enter is not None:
        settings.enter(ctx)
        configure_context(ctx)


def change_settings(**changes: object) -> None:
    """Changes settings of the deferred tier; runs pending operations first."""
    run_pending("a change of settings")
    for name, value in changes.items():
        setattr(settings, name, value)
    configure_context(local.ctx)


def run_pending(reason: str) -> None:
    """Runs the operations that the calling thread has pending."""
    segment = local.ctx.segment
    if segment is not None and segment.ops:
        segment.run(reason)


def end_step() -> None:
    """Ends the segment at the next operation: `optimizer.step()` and DataLoaders call this at their end."""
    segment = local.ctx.segment
    if segment is not None and segment.ops:
        segment.limit = 0


@contextlib.contextmanager
def extend_step() -> Iterator[None]:
    """Adds one more operation to the segment of the step that has ended, so that it does not run alone."""
    segment = local.ctx.segment
    if segment is None or segment.limit != 0:
        yield
        return
    segment.limit = len(segment.ops) + 1
    try:
        yield
    finally:
        if segment.limit > 0:
            segment.limit = 0


Context.on_create = staticmethod(configure_context)
Context.on_thread_start = staticmethod(start_context)
