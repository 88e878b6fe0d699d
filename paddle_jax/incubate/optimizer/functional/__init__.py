"""Minimisers of functions (`paddle.incubate.optimizer.functional`)."""

from paddle_jax.incubate.optimizer.functional.bfgs import minimize_bfgs
from paddle_jax.incubate.optimizer.functional.lbfgs import minimize_lbfgs

__all__ = ["minimize_bfgs", "minimize_lbfgs"]
