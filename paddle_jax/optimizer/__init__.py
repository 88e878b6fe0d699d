"""Optimizers and learning-rate schedules (`paddle.optimizer`)."""

from paddle_jax.optimizer import lr
