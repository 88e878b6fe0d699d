"""paddle.dataset: where files of data sets are kept."""

from paddle_jax.dataset import common

__all__ = []
