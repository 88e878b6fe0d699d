"""paddle.functional: some tensor functions under the names that PyTorch gives them. They are declared in
paddle_jax.tensor."""

from paddle_jax.compat.tensors import split
from paddle_jax.tensor.attribute import broadcast_shapes
from paddle_jax.tensor.einsum import einsum
from paddle_jax.tensor.matrices import meshgrid
from paddle_jax.tensor.norms import norm
from paddle_jax.tensor.reorder import atleast_1d, atleast_2d, atleast_3d
from paddle_jax.tensor.uniqueness import unique_consecutive

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_shapes",
    "einsum",
    "norm",
    "split",
    "unique_consecutive",
    "meshgrid",
]
