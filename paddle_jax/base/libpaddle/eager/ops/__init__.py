"""`paddle._C_ops` in eager mode, under the path of Paddle's C++ module."""

from paddle_jax._C_ops import __dir__, __getattr__
from paddle_jax.base.libpaddle.eager.ops import legacy

__all__ = ["__dir__", "__getattr__", "legacy"]
