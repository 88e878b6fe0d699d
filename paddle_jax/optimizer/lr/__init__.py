"""Learning-rate schedulers (`paddle.optimizer.lr`)."""

from paddle_jax.optimizer.lr.cosine import (
    CosineAnnealingDecay,
    CosineAnnealingWarmRestarts,
    CyclicLR,
    OneCycleLR,
)
from paddle_jax.optimizer.lr.decay import (
    ExponentialDecay,
    InverseTimeDecay,
    LambdaDecay,
    MultiplicativeDecay,
    NaturalExpDecay,
    PolynomialDecay,
)
from paddle_jax.optimizer.lr.plateau import ReduceOnPlateau
from paddle_jax.optimizer.lr.scheduler import LRScheduler
from paddle_jax.optimizer.lr.steps import MultiStepDecay, PiecewiseDecay, StepDecay
from paddle_jax.optimizer.lr.warmup import LinearLR, LinearWarmup, NoamDecay

__all__ = [
    "LRScheduler",
    "NoamDecay",
    "PiecewiseDecay",
    "NaturalExpDecay",
    "InverseTimeDecay",
    "PolynomialDecay",
    "LinearWarmup",
    "ExponentialDecay",
    "MultiStepDecay",
    "StepDecay",
    "LambdaDecay",
    "ReduceOnPlateau",
    "CosineAnnealingDecay",
    "MultiplicativeDecay",
    "OneCycleLR",
    "CyclicLR",
    "LinearLR",
    "CosineAnnealingWarmRestarts",
]
