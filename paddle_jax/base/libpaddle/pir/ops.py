"""`paddle._C_ops` under the path of Paddle's C++ module."""

from paddle_jax._C_ops import __dir__, __getattr__

__all__ = ["__dir__", "__getattr__"]
