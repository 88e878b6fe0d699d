"""Metrics over all workers (`paddle.distributed.fleet.metrics`)."""

from paddle_jax.distributed.fleet.metrics.metric import acc, auc, mae, max, min, mse, rmse, sum

__all__ = []
