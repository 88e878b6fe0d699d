"""`paddle._legacy_C_ops` under the path of Paddle's C++ module."""

from paddle_jax._legacy_C_ops import __getattr__

__all__ = ["__getattr__"]
