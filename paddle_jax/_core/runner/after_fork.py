"""Makes operations fail in processes that `os.fork` made after something was computed.

JAX's threads do not live on in such a process, so a computation there would wait for ever. The child gets a
ForkedError at its first operation. It can read values, and a child that stays away from Tensors notices
nothing. A child that was forked before anything was computed, as those of a forkserver are, works as usual.
"""

from __future__ import annotations

import os
from typing import NoReturn

import jax
from jax._src import (
    # JAX has no public way to ask whether a backend runs, or to be called before it compiles
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


def refuse(*_: object, **__: object) -> NoReturn:
    """Takes the place of all functions that compute."""
    raise ForkedError(
        "this process was forked from one that had computed, and computing does not work in "
        "it; start processes by multiprocessing's 'spawn' or 'forkserver' method, or let the "
        "num_workers of paddle.io.DataLoader read the data"
    )


def _in_child() -> None:
    if not xla_bridge.backends_are_initialized():
        return
    # a property, so that flags which the child sets do not change it
    type(settings).executor = property(lambda self: refuse, lambda self, executor: None)
    configure_context(local.ctx)
    # of segments of other threads, which are gone; the forking thread had run its own before
    Segment.materialize = refuse
    # compiled functions leave the fast path and call what follows
    jax.config.update("jax_no_execution", True)
    pxla.ExecuteReplicated.__call__ = refuse  # pyright: ignore[reportAttributeAccessIssue]
    compiler.compile_or_get_cached = refuse
    jax.device_put = refuse
    device_put.batched_device_put = refuse
    device_put.put_numpy = refuse


def install() -> None:
    """Prepares for forks. JAX's own warning, which it gives at each fork, is not needed then."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_in_child)
        xla_bridge._at_fork_handler_installed = True
