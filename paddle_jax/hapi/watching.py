"""Callbacks that watch a result of the evaluations: they end the training, or make the
learning rate smaller."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from paddle_jax.distributed.parallel import get_rank
from paddle_jax.hapi.callback import Callback
from paddle_jax.optimizer import lr


def _monitored(who: str, name: str, logs: dict[str, Any]) -> Any:
    """The value of a result that a callback watches, or None after a warning."""
    if name not in logs:
        warnings.warn(f"Monitor of {who} should be loss or metric name.", stacklevel=3)
        return None
    value = logs[name]
    # A metric may have several values; the first one counts.
    if isinstance(value, list | tuple):
        return value[0]
    return value


def _larger_is_better(mode: str, monitor: str, warning: str) -> bool:
    """Whether the watched result should grow; a mode that is not known warns and counts as "auto"."""
    if mode not in ("auto", "min", "max"):
        warnings.warn(f"{warning} mode {mode} is unknown, fallback to auto mode.", stacklevel=3)
        mode = "auto"
    # Names with "acc" grow, as in Paddle.
    return mode == "max" or (mode == "auto" and "acc" in monitor)


class EarlyStopping(Callback):
    """Ends the training when a result of the evaluations has not become better for some time, and
    saves the best model.

    Args:
        monitor: str, "loss" or the name of a metric. Default "loss".
        mode: "min" or "max": what is better; "auto": "max" if "acc" is in `monitor`, else "min".
        patience: int, evaluations without an improvement after which the training ends; 0 ends it after the
            first. Default 0.
        verbose: 0 prints nothing. Default 1.
        min_delta: by how much a result must be better to count. Default 0.
        baseline: result that the first one must be better than. Default None.
        save_best_model: save the best model as `save_dir/best_model`, if `fit` has a
            `save_dir`. Default True.
    Attributes:
        monitor, patience, verbose, baseline, save_best_model: as given.
        wait_epoch: int, the evaluations since the best value.
        stopped_epoch: int, when training was stopped.
        best_weights: dict or None, those of the best value.
        save_dir: str or None, where the best model goes.
        monitor_op: np.greater or np.less: which of two values is better.
        min_delta: float, the least change that counts, with its sign.
        best_value: float, the best value so far.
    Example:
        >>> paddle.callbacks.EarlyStopping("acc", patience=3).patience
        3
    """

    stopped_epoch: int
    wait_epoch: int

    def __init__(
        self,
        monitor: str = "loss",
        mode: str = "auto",
        patience: int = 0,
        verbose: int = 1,
        min_delta: float = 0,
        baseline: float | None = None,
        save_best_model: bool = True,
    ) -> None:
        super().__init__()
        self.monitor = monitor
        self.patience = patience
        self.verbose = verbose
        self.baseline = baseline
        self.wait_epoch = self.stopped_epoch = 0
        self.best_weights: Any = None
        self.save_dir: Any = None
        self.save_best_model = save_best_model
        grow = _larger_is_better(mode, monitor, "EarlyStopping")
        self.monitor_op: Any = np.greater if grow else np.less
        # An improvement must exceed this in the direction of the monitor.
        self.min_delta: float = abs(min_delta) if grow else -abs(min_delta)

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Forgets earlier results."""
        self.wait_epoch = 0
        # Worse than any value.
        worst = -np.inf if self.monitor_op is np.greater else np.inf
        if self.baseline is None:
            self.best_value = worst
        else:
            self.best_value = self.baseline
        self.best_weights = None

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        """Compares the result with the best one."""
        value = _monitored("EarlyStopping", self.monitor, logs or {})
        if value is None:
            return
        if self.monitor_op(value - self.min_delta, self.best_value):
            self.best_value: Any = value
            self.wait_epoch = 0
            if self.save_best_model and self.save_dir is not None:
                self.model.save(f"{self.save_dir}/best_model")
        else:
            self.wait_epoch += 1
        self.stopped_epoch += 1
        if self.wait_epoch >= self.patience:
            self.model.stop_training = True
            if self.verbose > 0:
                print(f"Epoch {self.stopped_epoch}: Early stopping.")
                if self.save_best_model and self.save_dir is not None:
                    print(f"Best checkpoint has been saved at {self.save_dir}/best_model")


class ReduceLROnPlateau(Callback):
    """Makes the learning rate smaller when a result of the evaluations has not become better for some time.
    The rate must be a number.

    Args:
        monitor: str, "loss" or the name of a metric. Default "loss".
        factor: what the rate is multiplied by, less than 1. Default 0.1.
        patience: int, evaluations without an improvement to wait for. Default 10.
        verbose: 0 prints nothing. Default 1.
        mode: "min" or "max": what is better; "auto": "max" if "acc" is in `monitor`, else "min".
        min_delta: by how much a result must be better to count. Default 1e-4.
        cooldown: int, evaluations after a change in which none is counted. Default 0.
        min_lr: the smallest rate. Default 0.
    Attributes:
        monitor, factor, min_lr, min_delta, patience, verbose, cooldown, mode: as given.
        epoch: int, the evaluations so far.
        _grow: bool, whether larger values are better.
        best: float, the best value so far.
        cooldown_counter: int, for how many more evaluations nothing is watched.
        wait: int, the evaluations since the best value.
    Raises:
        ValueError: the factor is not less than 1.
    Example:
        >>> paddle.callbacks.ReduceLROnPlateau(patience=3, factor=0.5).factor
        0.5
    """

    epoch: int

    def __init__(
        self,
        monitor: str = "loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 1,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None:
        super().__init__()
        if factor >= 1.0:
            raise ValueError(f"ReduceLROnPlateau: factor: got {factor}; it must be less than 1")
        self.monitor = monitor
        self.factor = factor
        self.min_lr = min_lr
        self.min_delta = min_delta
        self.patience = patience
        self.verbose = verbose
        self.cooldown = cooldown
        self.mode = mode
        self.epoch = 0
        self._grow = _larger_is_better(mode, monitor, "Learning rate reduction")
        self._reset()

    def _reset(self) -> None:
        self.best = -np.inf if self._grow else np.inf
        self.cooldown_counter = self.wait = 0

    def monitor_op(self, value: float, best: float) -> bool:
        """Whether a result is better than the best one."""
        if self._grow:
            return value > best + self.min_delta
        return value < best - self.min_delta

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Forgets earlier results."""
        self._reset()

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        """Compares the result with the best one."""
        value = _monitored("ReduceLROnPlateau", self.monitor, logs or {})
        if value is None:
            return
        rate = self.model._optimizer._learning_rate
        # A schedule would overwrite the new rate.
        if isinstance(rate, lr.LRScheduler):
            warnings.warn(f"Expected learning_rate be float, but got {type(rate)}.", stacklevel=2)
            return
        # After a reduction the rate rests for some evaluations.
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self.monitor_op(value, self.best):
            self.best: Any = value
            self.wait = 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                self._reduce(self.model._optimizer.get_lr())
        self.epoch += 1

    def _reduce(self, rate: float) -> None:
        if rate <= self.min_lr:
            return
        rate = max(rate * self.factor, self.min_lr)
        self.model._optimizer.set_lr(rate)
        # One process prints for all.
        if self.verbose > 0 and get_rank() == 0:
            print(f"\nEpoch {self.epoch + 1}: ReduceLROnPlateau reducing learning rate to {rate}.")
        self.cooldown_counter: int = self.cooldown
        self.wait: int = 0

    def in_cooldown(self) -> bool:
        """Whether no result is counted yet after a change."""
        return self.cooldown_counter > 0
