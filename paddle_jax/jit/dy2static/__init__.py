"""Data-dependent control flow in code that is being compiled."""

from paddle_jax._core.errors import Unsupported
from paddle_jax.jit.dy2static.branches import cond, switch
from paddle_jax.jit.dy2static.calls import ignore
from paddle_jax.jit.dy2static.conversion import convert
from paddle_jax.jit.dy2static.loops import while_loop

__all__ = ["Unsupported", "cond", "convert", "ignore", "switch", "while_loop"]
