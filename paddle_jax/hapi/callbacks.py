"""Callbacks of `paddle.Model`: what is called while it trains, evaluates and predicts."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddle_jax.distributed.auto_parallel.engine import Engine
from paddle_jax.distributed.parallel import get_rank
from paddle_jax.hapi.callback import Callback
from paddle_jax.hapi.progressbar import ProgressBar
from paddle_jax.hapi.watching import EarlyStopping, ReduceLROnPlateau
from paddle_jax.hapi.writing import VisualDL, WandbCallback
from paddle_jax.optimizer import lr

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MODES = ("train", "eval", "predict")


class CallbackList:
    """Callbacks that are called one after the other."""

    def __init__(self, callbacks: Iterable[Callback] | None = None) -> None:
        self.callbacks: list[Callback] = list(callbacks or [])
        self.params: dict[Any, Any] = {}
        self.model: Any = None

    def append(self, callback: Callback) -> None:
        """Adds one at the end."""
        self.callbacks.append(callback)

    def __iter__(self) -> Iterator[Callback]:
        return iter(self.callbacks)

    def set_params(self, params: dict[str, Any]) -> None:
        """Hands the dict of settings to each."""
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model: Any) -> None:
        """Hands the Model to each."""
        self.model = model
        for callback in self.callbacks:
            callback.set_model(model)

    def _call(self, name: str, *args: Any) -> None:
        for callback in self.callbacks:
            getattr(callback, name)(*args)

    def _check_mode(self, mode: str) -> None:
        if mode not in _MODES:
            raise AssertionError(f"CallbackList: mode: got {mode!r}; it must be one of {_MODES}")

    def on_begin(self, mode: str, logs: dict[str, Any] | None = None) -> None:
        """Calls `on_train_begin`, `on_eval_begin` or `on_predict_begin`."""
        self._check_mode(mode)
        self._call(f"on_{mode}_begin", logs)

    def on_end(self, mode: str, logs: dict[str, Any] | None = None) -> None:
        """Calls `on_train_end`, `on_eval_end` or `on_predict_end`."""
        self._check_mode(mode)
        self._call(f"on_{mode}_end", logs)

    def on_epoch_begin(self, epoch: int | None = None, logs: dict[str, Any] | None = None) -> None:
        """Calls `on_epoch_begin`."""
        self._call("on_epoch_begin", epoch, logs)

    def on_epoch_end(self, epoch: int | None = None, logs: dict[str, Any] | None = None) -> None:
        """Calls `on_epoch_end`."""
        self._call("on_epoch_end", epoch, logs)

    def on_batch_begin(self, mode: str, step: int | None = None, logs: dict[str, Any] | None = None) -> None:
        """Calls the `on_*_batch_begin` of the mode."""
        self._check_mode(mode)
        self._call(f"on_{mode}_batch_begin", step, logs)

    def on_batch_end(self, mode: str, step: int | None = None, logs: dict[str, Any] | None = None) -> None:
        """Calls the `on_*_batch_end` of the mode."""
        self._check_mode(mode)
        self._call(f"on_{mode}_batch_end", step, logs)


def config_callbacks(
    callbacks: Any = None,
    model: Any = None,
    batch_size: Any = None,
    epochs: int | None = None,
    steps: int | None = None,
    log_freq: int = 2,
    verbose: int = 2,
    save_freq: int = 1,
    save_dir: str | None = None,
    metrics: Any = None,
    mode: str = "train",
) -> CallbackList:
    """The callbacks of a run: those given, and of progress, checkpoints and learning rates those
    that are missing."""
    if isinstance(callbacks, list | tuple):
        chosen = list(callbacks)
    elif callbacks is None:
        chosen = []
    else:
        chosen = [callbacks]

    def has(kind: type) -> bool:
        return any(isinstance(callback, kind) for callback in chosen)

    # A callback of the user of the same kind takes the place of the default.
    if verbose and not has(ProgBarLogger):
        chosen = [ProgBarLogger(log_freq, verbose=verbose), *chosen]
    if mode == "train":
        if not has(ModelCheckpoint):
            chosen.append(ModelCheckpoint(save_freq, save_dir))
        for callback in chosen:
            if isinstance(callback, EarlyStopping):
                # The best model goes to the directory of the checkpoints.
                callback.save_dir = save_dir
        if not has(LRScheduler):
            chosen.append(LRScheduler())
    made = CallbackList(chosen)
    made.set_model(model)
    metrics = metrics or [] if mode != "test" else []
    made.set_params(
        {"batch_size": batch_size, "epochs": epochs, "steps": steps, "verbose": verbose, "metrics": metrics}
    )
    return made


class _Timer:
    """Seconds spent reading data and in all, per step of one pass.

    Attributes:
        reading, whole: float, seconds spent on reading, and in all.
        steps, samples: int, how many there were.
        _since: float, when the present step began.
        _read: float, when its batch came.
    """

    def __init__(self) -> None:
        self.reading = self.whole = 0.0
        self.steps = self.samples = 0
        self.reset()

    def reset(self) -> None:
        """A batch is being waited for."""
        self._since = self._read = time.time()

    def read(self) -> None:
        """The batch has come."""
        self._read = time.time()
        self.reading += self._read - self._since

    def done(self, samples: int) -> None:
        """The batch has been computed."""
        self.whole += time.time() - self._since
        self.steps += 1
        self.samples += samples
        self._since = time.time()

    def shown(self) -> list[tuple[str, str]]:
        """What verbose=3 adds to a report."""
        steps = self.steps or 1
        # Not 0, for steps that take no time.
        whole = self.whole or 1e-12
        return [
            ("avg_reader_cost", f"{self.reading / steps:.5f} sec"),
            ("avg_batch_cost", f"{self.whole / steps:.5f} sec"),
            ("ips", f"{self.samples / whole:.5f} samples/sec"),
        ]


class ProgBarLogger(Callback):
    """Prints losses, metrics and speed. `fit`, `evaluate` and `predict` use one unless they
    are given another.

    Args:
        log_freq: int, steps from one report to the next. Default 1.
        verbose: 0 prints nothing, 1 a bar that is drawn over, 2 one line per report, 3 also the time of
            reading and the samples per second.
    Attributes:
        verbose, log_freq: as given.
        epochs, steps: int or None, how many there will be.
        epoch: int, the present one.
        progbar: None, as in Paddle.
        train_progbar: ProgressBar of the pass.
        train_metrics, eval_metrics, test_metrics: lists of the names to print.
        eval_steps, test_steps: int or None, how many batches the pass has.
        train_step, eval_step, test_step: int, the batches so far.
        evaled_samples, tested_samples: int, the samples so far.
    Example:
        >>> paddle.callbacks.ProgBarLogger(log_freq=10).log_freq
        10
    """

    evaled_samples: Any
    tested_samples: Any

    def __init__(self, log_freq: int = 1, verbose: int = 2) -> None:
        self.epochs: Any = None
        self.steps: Any = None
        self.progbar: Any = None
        self.verbose = verbose
        self.log_freq = log_freq

    def _is_print(self) -> Any:
        # One process prints for all.
        return self.verbose and get_rank() == 0

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Says what the numbers mean."""
        self.epochs = self.params["epochs"]
        self.train_metrics: Any = self.params["metrics"]
        if not self.epochs:
            raise AssertionError(f"ProgBarLogger: epochs: got {self.epochs}; it must be positive")
        if not self.train_metrics:
            raise AssertionError(
                "ProgBarLogger: params: there is nothing to report; prepare the model with a loss or metrics"
            )
        if self._is_print():
            print(
                "The loss value printed in the log is the current step, and the metric is the average "
                "value of previous steps."
            )

    def on_epoch_begin(self, epoch: int | None = None, logs: dict[str, Any] | None = None) -> None:
        """Begins a bar."""
        self.steps = self.params["steps"]
        self.epoch = epoch
        self.train_step = 0
        if self.epochs and self._is_print():
            # the loop gives it
            print(f"Epoch {epoch + 1}/{self.epochs}")  # pyright: ignore[reportOptionalOperand]
        self._begin("train", self.steps)

    def _begin(self, mode: str, steps: int | None) -> None:
        bar = ProgressBar(num=steps, verbose=self.verbose)
        if mode == "train":
            self.train_progbar = bar
        else:
            setattr(self, f"{mode}_progbar", bar)
        setattr(self, f"_{mode}_timer", _Timer())

    def _updates(self, logs: dict[str, Any], mode: str) -> None:
        names = getattr(self, f"{mode}_metrics", [])
        step = getattr(self, f"{mode}_step")
        values = [(name, logs[name]) for name in names if name in logs]
        if self.verbose == 3:
            values += getattr(self, f"_{mode}_timer").shown()
        getattr(self, f"{mode}_progbar").update(step, values)

    def _counted(self, mode: str, logs: dict[str, Any], steps: Any) -> None:
        """A batch has ended; reports when it is time."""
        setattr(self, f"{mode}_step", getattr(self, f"{mode}_step") + 1)
        timer = getattr(self, f"_{mode}_timer")
        timer.done((logs or {}).get("batch_size", 1))
        if (
            self._is_print()
            and getattr(self, f"{mode}_step") % self.log_freq == 0
            # The last step is shown by the end of the epoch.
            and (steps is None or getattr(self, f"{mode}_step") < steps)
        ):
            self._updates(logs, mode)
        # The time in which callbacks print does not count as reading.
        timer.reset()

    def on_train_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """A batch has been read."""
        self._train_timer.read()

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Reports every `log_freq` steps."""
        self._counted("train", logs or {}, self.steps)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Reports the last step."""
        if self._is_print() and self.steps is not None:
            self._updates(logs or {}, "train")

    def on_eval_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Begins a bar."""
        self.eval_steps: Any | None = logs.get("steps")
        self.eval_metrics: Any = logs.get("metrics", [])
        self.eval_step = self.evaled_samples = 0
        self._begin("eval", self.eval_steps)
        if self._is_print():
            print("Eval begin...")

    def on_eval_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """A batch has been read."""
        self._eval_timer.read()

    def on_eval_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Reports every `log_freq` steps."""
        self.evaled_samples += (logs or {}).get("batch_size", 1)
        self._counted("eval", logs or {}, self.eval_steps)

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        """Reports the last step."""
        if self._is_print() and self.eval_steps is not None:
            self._updates(logs or {}, "eval")
            print(f"Eval samples: {self.evaled_samples}")

    def on_predict_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Begins a bar."""
        self.test_steps: Any | None = logs.get("steps")
        self.test_metrics: Any = logs.get("metrics", [])
        self.test_step = self.tested_samples = 0
        self._begin("test", self.test_steps)
        if self._is_print():
            print("Predict begin...")

    def on_predict_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """A batch has been read."""
        self._test_timer.read()

    def on_predict_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Reports every `log_freq` steps."""
        self.tested_samples += (logs or {}).get("batch_size", 1)
        self._counted("test", logs or {}, self.test_steps)

    def on_predict_end(self, logs: dict[str, Any] | None = None) -> None:
        """Reports the last step."""
        if self._is_print():
            if self.test_step % self.log_freq != 0 or self.verbose == 1:
                self._updates(logs or {}, "test")
            print(f"Predict samples: {self.tested_samples}")


class ModelCheckpoint(Callback):
    """Saves the model and the optimizer after epochs, as `save_dir/EPOCH`, and in the end as
    `save_dir/final`.

    `fit(save_dir=...)` uses one; `Model.load` reads the files.

    Args:
        save_freq: int, epochs from one saving to the next. Default 1.
        save_dir: str, or None to save nothing.
    Example:
        >>> paddle.callbacks.ModelCheckpoint(save_freq=2, save_dir="checkpoints").save_freq
        2
    """

    def __init__(self, save_freq: int = 1, save_dir: str | None = None) -> None:
        self.save_freq = save_freq
        self.save_dir = save_dir

    def on_epoch_begin(self, epoch: int | None = None, logs: dict[str, Any] | None = None) -> None:
        """Keeps the number of the epoch."""
        self.epoch = epoch

    def _is_save(self) -> Any:
        # One process saves for all.
        return self.model and self.save_dir and get_rank() == 0

    def _save(self, name: str) -> None:
        path = f"{self.save_dir}/{name}"
        print(f"save checkpoint at {Path(path).absolute()}")
        self.model.save(path)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Saves."""
        # the loop gives it
        if self._is_save() and self.epoch % self.save_freq == 0:  # pyright: ignore[reportOptionalOperand]
            self._save(epoch)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Saves."""
        if self._is_save():
            self._save("final")


class LRScheduler(Callback):
    """Steps the learning-rate scheduler of the optimizer, if it has one. `fit` uses one unless it
    is given another.

    Args:
        by_step: step after every batch. Default True.
        by_epoch: step after every epoch. Default False.
    Raises:
        ValueError: both are True.
    Example:
        >>> paddle.callbacks.LRScheduler(by_step=False, by_epoch=True).by_epoch
        True
    """

    def __init__(self, by_step: bool = True, by_epoch: bool = False) -> None:
        if by_step and by_epoch:
            raise ValueError("LRScheduler: by_step: by_step and by_epoch are both True; choose one of them")
        self.by_step = by_step
        self.by_epoch = by_epoch

    def _step(self) -> None:
        # A number as the rate has no steps.
        schedule = getattr(self.model._optimizer, "_learning_rate", None)
        if isinstance(schedule, lr.LRScheduler):
            schedule.step()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Steps, if it does so by epochs."""
        if self.by_epoch:
            self._step()

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Steps, if it does so by batches."""
        if self.by_step:
            self._step()


# Engine is below this module, which it may not import
Engine._config_callbacks = staticmethod(config_callbacks)

__all__ = [
    "Callback",
    "CallbackList",
    "EarlyStopping",
    "LRScheduler",
    "ModelCheckpoint",
    "ProgBarLogger",
    "ReduceLROnPlateau",
    "VisualDL",
    "WandbCallback",
    "config_callbacks",
]
