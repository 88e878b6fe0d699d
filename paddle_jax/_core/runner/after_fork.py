"""Processes made by `os.fork` after something was computed: JAX's threads do not live on in them, so whatever
computes there would wait for ever.

The child is told so at its first operation; values can be read, and a child that stays away from Tensors
notices nothing. A child that was forked before anything was computed, as those of a forkserver
are, works as usual.
"""

import os

import jax
from jax._src import (
    # JAX has no public way to ask whether a backend runs, or to be told before it compiles
    compiler,
    xla_bridge,
)
from jax._src.interpreters import pxla

from paddle_jax._core.base.state import local
from paddle_jax._core.lazy import device_put
from paddle_jax._core.lazy.recording import configure_context
from paddle_jax._core.lazy.segment import Segment
from paddle_jax._core.lazy.settings import settings


class ForkedError(RuntimeError):
    """An operation in a forked child."""


def refuse(*_, **__):
    """Takes the place of all that computes."""
    raise ForkedError(
        "this process was forked from one that had computed, and computing does not work in "
        "it; start processes by multiprocessing's 'spawn' or 'forkserver' method, or let the "
        "num_workers of paddle.io.DataLoader read the data"
    )


def _in_child():
    if not xla_bridge.backends_are_initialized():
        return
    # whatever flags the child sets
    type(settings).executor = property(lambda self: refuse, lambda self, given: None)
    configure_context(local.ctx)
    # of another thread, which is gone: what the forking thread had pending was run before
    Segment.materialize = refuse
    # compiled functions leave the fast path and arrive at what follows
    jax.config.update("jax_no_execution", True)
    pxla.ExecuteReplicated.__call__ = compiler.compile_or_get_cached = refuse
    jax.device_put = device_put.batched_device_put = refuse


def install():
    """Watches for forks. JAX's own warning, given at each of them whatever the child does, is
    not needed then."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_in_child)
        xla_bridge._at_fork_handler_installed = True
