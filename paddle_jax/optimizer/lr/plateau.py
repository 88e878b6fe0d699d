"""The schedule that watches a metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.optimizer.lr.scheduler import LRScheduler, need, need_type

if TYPE_CHECKING:
    pass


_METRIC_TYPES = (int, float, np.floating, np.ndarray, Tensor)


class ReduceOnPlateau(LRScheduler):
    """Multiplies the rate by `factor` when a metric has not improved for more than `patience` steps.

    Args:
        learning_rate: float, the first rate.
        mode: 'min' (smaller is better) or 'max'. Default 'min'.
        factor: float below 1, the factor of one reduction. Default 0.1.
        patience: int, steps without improvement that are still tolerated. Default 10.
        threshold: float, how much better the metric must be to count. Default 0.0001.
        threshold_mode: 'rel' (threshold is a fraction of the best value) or 'abs'. Default 'rel'.
        cooldown: int, steps after a reduction in which nothing is counted. Default 0.
        min_lr: float, lower bound of the rate. Default 0.
        epsilon: float, a change of the rate not larger than this is skipped. Default 1e-8.
        verbose: print one line at every change. Default False.
    Attributes:
        mode, factor, patience, threshold, threshold_mode, cooldown, min_lr, epsilon, verbose: as given.
        cooldown_counter: int, for how many more steps nothing is watched.
        best: the best value of the metric so far, or None.
        num_bad_epochs: int, the steps since then.
        base_lr: float, the first learning rate.
        last_lr: float, the present learning rate.
        last_epoch: int, the steps so far.
        _var_name: str or None, its variable in a static program.
        keys: list of str, the attributes that a state dict has.
    Raises:
        ValueError: an unknown mode, or `factor` is not below 1.
        TypeError: `learning_rate` is not a number.
    Example:
        >>> rate = paddle.optimizer.lr.ReduceOnPlateau(0.5, factor=0.5, patience=1)
        >>> for loss in (1.0, 1.0, 1.0):
        ...     rate.step(loss)
        >>> rate()
        0.25
    """

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0,
        epsilon: float = 1e-8,
        verbose: bool = False,
    ) -> None:
        mode = mode.lower()
        threshold_mode = threshold_mode.lower()
        need(mode in ("min", "max"), f"ReduceOnPlateau: mode: got {mode!r}; use 'min' or 'max'.", ValueError)
        need(factor < 1.0, f"ReduceOnPlateau: factor: got {factor}; it must be below 1.", ValueError)
        need(
            threshold_mode in ("rel", "abs"),
            f"ReduceOnPlateau: threshold_mode: got {threshold_mode!r}; use 'rel' or 'abs'.",
            ValueError,
        )
        need_type(learning_rate, (float, int), "ReduceOnPlateau", "learning_rate")
        self.mode = mode
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = cooldown
        self.min_lr = min_lr
        self.epsilon = epsilon
        self.verbose = verbose
        self.cooldown_counter: int = 0
        self.best: Any = None
        self.num_bad_epochs: int = 0
        # The base constructor is not called: its step() takes no metric.
        self.base_lr: float = float(learning_rate)
        self.last_lr = float(learning_rate)
        self.last_epoch: int = 0
        self._var_name = None

    def state_keys(self) -> None:
        """Sets `self.keys`, the names of the attributes that `state_dict()` stores."""
        self.keys: list[str] = ["cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr"]

    def step(self, metrics: Any, epoch: int | None = None) -> None:
        """Takes in a metric and reduces the rate when it has stopped improving.

        Args:
            metrics: int, float, ndarray or Tensor with one element.
            epoch: int, the epoch to write down. Default None: the next one.
        Raises:
            TypeError: `metrics` has another type.
            AssertionError: `metrics` has more than one element.
        """
        if epoch is None:
            self.last_epoch = self.last_epoch + 1
        else:
            self.last_epoch = epoch
        need_type(metrics, _METRIC_TYPES, "ReduceOnPlateau", "metrics")
        if isinstance(metrics, Tensor | np.ndarray):
            need(
                metrics.size == 1,
                f"ReduceOnPlateau: metrics: got {metrics.size} elements; one is needed, take the mean first.",
            )
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if self.best is None or self._is_better(metrics, self.best):
            self.best = metrics
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self._reduce()

    def _reduce(self) -> None:
        self.cooldown_counter = self.cooldown
        self.num_bad_epochs = 0
        rate = max(self.last_lr * self.factor, self.min_lr)
        if self.last_lr - rate > self.epsilon:
            self.last_lr = rate
            self._tell()

    def _is_better(self, current: Any, best: Any) -> bool:
        if self.threshold_mode == "rel":
            margin = best * self.threshold
        else:
            margin = self.threshold
        if self.mode == "min":
            return bool(current < best - margin)
        return bool(current > best + margin)
