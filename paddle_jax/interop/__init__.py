"""Paddle code together with JAX's libraries: optax transformations as optimizers, flax modules as layers, and layers as flax modules. Ours.

Tensors and Layers are JAX pytrees and Tensors are taken by `jax.numpy`, so `jax.jit`, `jax.vmap` and `jax.tree.map` need nothing from here: see
docs/interop.md.
"""

from paddle_jax.interop.flax import FlaxLayer, to_nnx
from paddle_jax.interop.optax import OptaxOptimizer

__all__ = ["FlaxLayer", "OptaxOptimizer", "to_nnx"]
