"""The dynamic mode under its old path."""

from paddle_jax.autograd import grad
from paddle_jax.base.dygraph.base import (
    disable_dygraph,
    enable_dygraph,
    enabled,
    guard,
    no_grad,
    no_grad_,
    to_variable,
)
from paddle_jax.base.dygraph.tracer import Tracer

__all__ = [
    "Tracer",
    "disable_dygraph",
    "enable_dygraph",
    "enabled",
    "grad",
    "guard",
    "no_grad",
    "no_grad_",
    "to_variable",
]
