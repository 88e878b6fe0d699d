"""Settings of the deferred tier, process-wide, set through FLAGS_deferred*."""

from paddle_jax._core.base.state import Context, local

MODES = ("off", "sync", "async")


class _Settings:
    """mode: see FLAGS_deferred. min_repeats: how often a segment is met before it is compiled whole. 0 leaves
    that to what it costs. max_ops: ops a segment may have. interpreter: whether new ops are interpreted on
    the CPU. code_mb: memory that compiled programs may take; 0: any. pending_mb: memory that pending ops may
    keep from being freed."""

    mode, min_repeats, max_ops, interpreter, code_mb = "sync", 0, 2048, True, 1024
    pending_mb = 64
    executor = None  # taken over by new threads, e.g. FLAGS_check_nan_inf
    enter = None  # puts the Context of a new thread into static mode, when the main thread is in it


settings = _Settings()


def join(ctx):
    """Puts a thread's Context into the mode of the process."""
    from paddle_jax._core.lazy.segment import FIRST_LOOK, Segment

    frame = around = ctx.frame
    if frame is None:  # flags are read before there are operations; frame.py comes here again
        return
    while around is not None:
        around.executor, around = settings.executor, around.outer
    deferring = (
        settings.mode != "off"
        and settings.executor is None
        and frame.packing is None
        and frame.deferring
        and not frame.recording
    )
    ctx.segment = Segment(min(FIRST_LOOK, settings.max_ops)) if deferring else None


def begin(ctx):
    """Puts the Context of a thread that begins into static mode, where that is the process's."""
    if settings.enter is not None:
        settings.enter(ctx)
        join(ctx)


def settle():
    """Runs what the calling thread has pending."""
    from paddle_jax._core.runner.run_segment import run_pending

    run_pending("a change of settings")


def apply(**changes):
    """Changes settings; what is pending runs first."""
    settle()
    for name, value in changes.items():
        setattr(settings, name, value)
    join(local.ctx)


Context.started, Context.begin = staticmethod(join), staticmethod(begin)
