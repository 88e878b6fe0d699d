"""Tensor functions under their older names."""

from paddle_jax.incubate.tensor.math import (
    segment_max as segment_max,
    segment_mean as segment_mean,
    segment_min as segment_min,
    segment_sum as segment_sum,
)

__all__ = []
