"""Optimizers under their older path, optimizers around others, minimisers of functions."""

from paddle_jax.incubate.optimizer import functional as functional
from paddle_jax.incubate.optimizer.lars_momentum import LarsMomentumOptimizer as LarsMomentumOptimizer
from paddle_jax.incubate.optimizer.lookahead import LookAhead as LookAhead
from paddle_jax.incubate.optimizer.modelaverage import ModelAverage as ModelAverage
from paddle_jax.optimizer import LBFGS

__all__ = ["LBFGS"]
