"""The base class of callbacks."""

from __future__ import annotations

from typing import Any


class Callback:
    """The base class of callbacks; a subclass defines the methods it needs.

    `self.model` is the Model, `self.params` a dict of `batch_size`, `epochs`, `steps`, `verbose`, `metrics`.
    Epochs and steps count from 0. `logs` is a dict with the results of the last batch: "loss" (list of
    floats), each metric by name, "step", "batch_size".

    Example:
        >>> class Shout(paddle.callbacks.Callback):
        ...     def on_train_end(self, logs=None):
        ...         print("done")
        >>> model = paddle.Model(paddle.nn.Linear(2, 1))
        >>> model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.MSELoss())
        >>> model.fit(paddle.io.TensorDataset([paddle.ones([2, 2]), paddle.ones([2, 1])]), verbose=0,
        ...           callbacks=Shout())
        done
    """

    def __init__(self) -> None:
        self.model: Any = None
        self.params: dict[str, Any] = {}

    def set_params(self, params: dict[str, Any]) -> None:
        """Is given the dict of settings."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Is given the Model."""
        self.model = model

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Called when `fit` begins."""

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Called when `fit` ends."""

    def on_eval_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Called when an evaluation begins, also within `fit`; `logs` has "steps" and "metrics"."""

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        """Called when an evaluation ends."""

    def on_predict_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Called when `predict` begins; `logs` has "steps"."""

    def on_predict_end(self, logs: dict[str, Any] | None = None) -> None:
        """Called when `predict` ends."""

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Called when an epoch of training begins."""

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Called when an epoch of training ends, before its evaluation."""

    def on_train_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Called before a batch of training."""

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Called after a batch of training."""

    def on_eval_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Called before a batch of evaluation."""

    def on_eval_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Called after a batch of evaluation."""

    def on_predict_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Called before a batch of prediction."""

    def on_predict_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Called after a batch of prediction."""
