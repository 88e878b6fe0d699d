"""Optimizers under their older path."""

from paddle_jax.optimizer import LBFGS

__all__ = ["LBFGS"]
