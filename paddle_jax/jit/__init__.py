"""Compiled functions."""

from paddle_jax.jit.api import enable_to_static, ignore_module, not_to_static, to_static

__all__ = ["enable_to_static", "ignore_module", "not_to_static", "to_static"]
