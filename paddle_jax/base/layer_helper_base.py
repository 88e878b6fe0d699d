"""What LayerHelper rests on, under its path."""

from paddle_jax.base.layer_helper import LayerHelper as LayerHelperBase

__all__ = ["LayerHelperBase"]
