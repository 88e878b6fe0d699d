"""paddle.nn.parameter: the Parameter class."""

from paddle_jax._core.tensor import Parameter

__all__ = ["Parameter"]
