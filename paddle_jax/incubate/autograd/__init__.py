"""Derivatives of functions (`paddle.incubate.autograd`)."""

from paddle_jax.incubate.autograd.functional import Hessian, Jacobian, jvp, vjp

__all__ = ["Hessian", "Jacobian", "jvp", "vjp"]
