"""The classes of eager mode under the path of Paddle's C++ module."""


from paddle_jax._core.tensor import Tensor
from paddle_jax.base.libpaddle.eager import ops

__all__ = ["Tensor", "ops"]
