"""Metrics that add up over batches (`paddle.metric`)."""

from paddle_jax.metric.metrics import Accuracy, Auc, Metric, Precision, Recall, accuracy

__all__ = ["Metric", "Accuracy", "Precision", "Recall", "Auc", "accuracy"]
