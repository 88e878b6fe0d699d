"""Derivatives of functions (`paddle.incubate.autograd`)."""

from paddle_jax.incubate.autograd import primapi as primapi
from paddle_jax.incubate.autograd.functional import Hessian, Jacobian, jvp, vjp
from paddle_jax.incubate.autograd.primapi import disable_prim, enable_prim, forward_grad, grad, prim_enabled

__all__ = [
    "Hessian",
    "Jacobian",
    "disable_prim",
    "enable_prim",
    "forward_grad",
    "grad",
    "jvp",
    "prim_enabled",
    "vjp",
]
