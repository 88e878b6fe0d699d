"""The classes of eager mode under the path of Paddle's C++ module."""

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.base.libpaddle.eager import ops
from paddle_jax.utils.cpp_extension.registered import _run_custom_op

__all__ = ["Tensor", "_run_custom_op", "ops"]
