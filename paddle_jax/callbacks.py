"""What is called while `paddle.Model` trains, evaluates and predicts."""

from paddle_jax.hapi.callbacks import (
    Callback,
    EarlyStopping,
    LRScheduler,
    ModelCheckpoint,
    ProgBarLogger,
    ReduceLROnPlateau,
    VisualDL,
    WandbCallback,
)
from paddle_jax.hapi.live_plot import LivePlot as LivePlot
from paddle_jax.hapi.tensorboard import TensorBoard as TensorBoard

__all__ = [
    "Callback",
    "ProgBarLogger",
    "ModelCheckpoint",
    "VisualDL",
    "LRScheduler",
    "EarlyStopping",
    "ReduceLROnPlateau",
    "WandbCallback",
]
