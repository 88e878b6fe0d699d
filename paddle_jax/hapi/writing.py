"""Callbacks that write results to programs which draw them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from paddle_jax.distributed.parallel import get_rank
from paddle_jax.hapi.callback import Callback
from paddle_jax.utils import try_import


class _Writer(Callback):
    """Collects results and hands them on by `_write(tag, value, step)`.

    Attributes:
        epochs, steps, eval_steps: int or None, how many there will be.
        epoch: int, the present one.
        train_metrics, eval_metrics: lists of the names to write.
        _is_fit: bool, whether `fit` runs, rather than `evaluate` alone.
        train_step: int, the batches so far.
    """

    eval_metrics: Any
    eval_steps: Any
    train_step: int

    def _is_write(self) -> bool:
        return get_rank() == 0

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Begins to write."""
        self.epochs: Any = self.params["epochs"]
        if not self.epochs:
            raise AssertionError(f"{type(self).__name__}: epochs: the number of epochs is not known")
        self.train_metrics: Any = self.params["metrics"]
        self._is_fit = True
        self.train_step = 0

    def on_epoch_begin(self, epoch: int | None = None, logs: dict[str, Any] | None = None) -> None:
        """Keeps the number of the epoch."""
        self.steps: Any = self.params["steps"]
        self.epoch = epoch

    def _updates(self, logs: dict[str, Any], mode: str) -> None:
        if not self._is_write():
            return
        # Batches are drawn by step, evaluations by epoch.
        step = self.train_step if mode == "train" else self.epoch
        for name in getattr(self, f"{mode}_metrics"):
            if name in logs:
                # A loss comes in a list: its first value counts.
                value = logs[name]
                self._write(f"{mode}/{name}", value[0] if isinstance(value, list | tuple) else value, step)

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Writes the results of the batch."""
        self.train_step += 1
        self._updates(logs or {}, "train")

    def on_eval_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Keeps what will be measured."""
        self.eval_steps, self.eval_metrics = logs.get("steps"), logs.get("metrics", [])

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        """Writes the results of the evaluation; of one outside of `fit`, ends."""
        # An evaluation outside of `fit` has no epoch.
        if not hasattr(self, "_is_fit"):
            self.epoch = 0
        self._updates(logs or {}, "eval")
        if not hasattr(self, "_is_fit"):
            self._finish()

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Ends."""
        self._finish()
        if hasattr(self, "_is_fit"):
            del self._is_fit


class VisualDL(_Writer):
    """Writes losses and metrics for VisualDL, which must be installed when `fit` begins
    (`pip install visualdl`).

    Args:
        log_dir: str, folder to write to.
    Example:
        >>> paddle.callbacks.VisualDL("logs").log_dir
        'logs'
    """

    def __init__(self, log_dir: str) -> None:
        super().__init__()
        self.log_dir = log_dir
        self.epochs = self.steps = None
        self.epoch = 0

    def _write(self, tag: str, value: float, step: int) -> None:
        if not hasattr(self, "writer"):
            self.writer: Any = try_import("visualdl").LogWriter(self.log_dir)
        self.writer.add_scalar(tag=tag, step=step, value=value)

    def _finish(self) -> None:
        if hasattr(self, "writer"):
            self.writer.close()
            del self.writer


class WandbCallback(_Writer):
    """Writes losses and metrics to Weights & Biases; `wandb` must be installed (`pip install wandb`).

    Args:
        project: str, see `wandb.init`; so are `entity`, `name`, `dir`, `mode`, `job_type` and further
            keyword arguments.
    Attributes:
        wandb: the module.
        wandb_args: dict, the arguments of `wandb.init`.
        _run: the run, or None before the first use.
        epochs, steps: int or None, how many there will be.
        epoch: int, the present one.
    Raises:
        ImportError: wandb is not installed.
    Example:
        >>> callback = paddle.callbacks.WandbCallback(project="digits", mode="offline")  # doctest: +SKIP
        >>> model.fit(data, callbacks=[callback])  # doctest: +SKIP
    """

    def __init__(
        self,
        project: str | None = None,
        entity: str | None = None,
        name: str | None = None,
        dir: str | None = None,
        mode: str | None = None,
        job_type: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self.wandb: ModuleType = try_import(
            "wandb", "You want to use `wandb` which is not installed yet; install it with `pip install wandb`"
        )
        given = {
            "project": project,
            "entity": entity,
            "name": name,
            "dir": dir,
            "mode": mode,
            "job_type": job_type,
        }
        self.wandb_args: dict[str, str | Any | None] = given | kwargs
        self._run = None
        self.epochs = self.steps = None
        self.epoch = 0

    @property
    def run(self) -> Any:
        """The run of wandb: the one that is on, or a new one."""
        if self._run is None and self._is_write():
            self._run = self.wandb.run or self.wandb.init(**self.wandb_args)
        return self._run

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Begins to write."""
        super().on_train_begin(logs)
        if self.run is not None:
            self.run.define_metric("epoch")
            # All results are drawn by epoch.
            self.run.define_metric("*", step_metric="epoch")

    def _write(self, tag: str, value: Any, step: int) -> None:
        self.run.log({tag: value, "epoch": self.epoch})

    def _finish(self) -> None:
        if self._is_write() and self._run is not None:
            self.wandb.finish()
            self._run = None
