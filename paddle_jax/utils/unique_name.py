"""paddle.utils.unique_name: names that count up."""

from paddle_jax._core.base.unique_name import generate, guard, switch

__all__ = ["generate", "guard", "switch"]
