"""`paddle._C_ops` in eager mode, under the path of Paddle's C++ module."""

# first: a module's `__getattr__` is asked for a submodule that is not there yet
from paddle_jax.base.libpaddle.eager.ops import legacy

from paddle_jax._C_ops import __dir__, __getattr__  # noqa: I001

__all__ = ["__dir__", "__getattr__", "legacy"]
