"""Static programs under the path of Paddle's C++ module."""

from paddle_jax.pir import Value
from paddle_jax._program.program import Program

__all__ = ["Program", "Value"]
