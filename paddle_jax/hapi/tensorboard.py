"""Results in TensorBoard's files, which tensorboardX writes."""

from __future__ import annotations

import os
from typing import Any

from paddle_jax.hapi.writing import _Writer
from paddle_jax.utils import try_import


class TensorBoard(_Writer):
    """Writes losses and metrics for TensorBoard (`tensorboard --logdir logs` shows them). The package
    tensorboardX must be installed when `fit` begins (`pip install tensorboardX`).

    Curves are named as by `VisualDL`: `train/loss` over steps, `eval/loss` over epochs.

    Args:
        log_dir: str or path, folder to write to; each training writes a file of its own.
    Raises:
        ImportError: tensorboardX is not installed, when the first value is written.
    Differs from Paddle: which has none.
    Example:
        >>> paddle.callbacks.TensorBoard("logs").log_dir
        'logs'
    """

    def __init__(self, log_dir: str = "logs") -> None:
        super().__init__()
        self.log_dir = log_dir
        self.epochs = self.steps = None
        self.epoch = 0
        self._open = None

    @property
    def writer(self) -> Any:
        """The SummaryWriter of tensorboardX: it also takes images, histograms and graphs."""
        if self._open is None:
            library = try_import(
                "tensorboardX",
                "callbacks.TensorBoard: it needs the package tensorboardX, which is not installed; "
                "install it with: pip install tensorboardX",
            )
            # a program that is killed loses the values of five seconds
            self._open = library.SummaryWriter(os.fspath(self.log_dir), flush_secs=5)
        return self._open

    def _write(self, tag: str, value: float, step: int) -> None:
        self.writer.add_scalar(tag, float(value), int(step))

    def _finish(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None
