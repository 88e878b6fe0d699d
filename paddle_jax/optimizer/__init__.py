"""Optimizers and learning-rate schedules (`paddle.optimizer`)."""

from paddle_jax.optimizer import lr as lr
from paddle_jax.optimizer.adagrad import Adadelta, Adagrad
from paddle_jax.optimizer.adam import Adam
from paddle_jax.optimizer.adamax import Adamax, NAdam, RAdam
from paddle_jax.optimizer.adamw import AdamW
from paddle_jax.optimizer.asgd import ASGD, Rprop
from paddle_jax.optimizer.lamb import Lamb
from paddle_jax.optimizer.lbfgs import LBFGS
from paddle_jax.optimizer.momentum import Momentum
from paddle_jax.optimizer.optimizer import Optimizer
from paddle_jax.optimizer.rmsprop import RMSProp
from paddle_jax.optimizer.sgd import SGD

__all__ = [
    "Optimizer",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "ASGD",
    "RAdam",
    "RMSProp",
    "Adadelta",
    "SGD",
    "Rprop",
    "Momentum",
    "NAdam",
    "Lamb",
    "LBFGS",
]
