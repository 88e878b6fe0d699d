"""The dynamic mode under its old path."""

import contextlib

from paddle_jax._core.autograd_mode import no_grad
from paddle_jax._core.state import local
from paddle_jax.autograd import grad
from paddle_jax.framework.mode import disable_static as enable_dygraph, in_dynamic_mode as enabled

no_grad_ = no_grad


@contextlib.contextmanager
def guard(place=None):
    """Context in which operations run when they are called, also in static mode.

    Args:
        place: device that is chosen for good, if given.
    Example:
        >>> with paddle.base.dygraph.guard():
        ...     paddle.ones([1]).item()
        1.0
    """
    recorder = local.ctx.recorder
    enable_dygraph(place)
    try:
        yield
    finally:
        if recorder is not None and recorder.own is None:
            recorder.__enter__()


__all__ = ["enable_dygraph", "enabled", "grad", "guard", "no_grad", "no_grad_"]
