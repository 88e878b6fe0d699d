"""paddle.nn.initializer: what parameters are filled with."""

from paddle_jax.nn.initializer.constant import Assign, Bilinear, Constant, Dirac
from paddle_jax.nn.initializer.initializer import Initializer as Initializer
from paddle_jax.nn.initializer.initializer import calculate_gain, set_global_initializer
from paddle_jax.nn.initializer import lazy_init as lazy_init
from paddle_jax.nn.initializer.random import (
    KaimingNormal,
    KaimingUniform,
    MSRAInitializer as MSRAInitializer,
    Normal,
    Orthogonal,
    TruncatedNormal,
    Uniform,
    XavierInitializer as XavierInitializer,
    XavierNormal,
    XavierUniform,
)

__all__ = [
    "Assign",
    "Bilinear",
    "Constant",
    "Dirac",
    "KaimingNormal",
    "KaimingUniform",
    "Normal",
    "Orthogonal",
    "TruncatedNormal",
    "Uniform",
    "XavierNormal",
    "XavierUniform",
    "calculate_gain",
    "set_global_initializer",
]
