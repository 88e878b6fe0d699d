"""Tensor functions under their older names."""

from paddle_jax.incubate.tensor.math import segment_max, segment_mean, segment_min, segment_sum

__all__ = []
