"""The classes of eager mode under the path of Paddle's C++ module."""

from paddle_jax._core.tensor import Tensor

__all__ = ["Tensor"]
