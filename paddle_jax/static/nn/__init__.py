"""Layers and control flow as functions, for static programs."""

from paddle_jax.static.nn.control_flow import case, cond, switch_case, while_loop

__all__ = ["case", "cond", "switch_case", "while_loop"]
