"""Paddle code together with JAX's libraries: optax transformations as optimizers, flax modules as layers,
layers as flax modules and as StableHLO files, checkpoints of orbax. Ours.

Tensors and Layers are JAX pytrees and Tensors are taken by `jax.numpy`, so `jax.jit`, `jax.vmap` and
`jax.tree.map` need nothing from here: see docs/interop.md.
"""

from paddle_jax.interop.flax import FlaxLayer, to_nnx
from paddle_jax.interop.optax import OptaxOptimizer
from paddle_jax.interop.orbax import load_orbax, save_orbax
from paddle_jax.interop.stablehlo import load_stablehlo, save_stablehlo

__all__ = [
    "FlaxLayer",
    "OptaxOptimizer",
    "load_orbax",
    "load_stablehlo",
    "save_orbax",
    "save_stablehlo",
    "to_nnx",
]
