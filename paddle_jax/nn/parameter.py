"""paddle.nn.parameter: the Parameter class."""

from paddle_jax._core.tensors.tensor import Parameter

__all__ = ["Parameter"]
