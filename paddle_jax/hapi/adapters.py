"""How a Model computes in dynamic mode."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax import amp
from paddle_jax._core.base import launch_variables
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distributed import DataParallel, all_gather, init_parallel_env
from paddle_jax.framework.io import save as save_file
from paddle_jax.io import DataLoader, IterableDataset
from paddle_jax.metric.metrics import Accuracy
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.joining import concat
from paddle_jax.tensor.math import add_n

if TYPE_CHECKING:
    from collections.abc import Sequence


def listed(value: Any) -> list[Any]:
    """A list as it is, a tuple as a list, None as an empty list, anything else as a list of one."""
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return list(value)
    return [value]


def all_gather_rows(x: Tensor) -> Tensor:
    """A Tensor of all processes, one below the other."""
    parts = []
    all_gather(parts, x)
    return concat(parts, axis=0)


def is_parallel() -> bool:
    """Whether several processes train one model. Workers of parameter servers do not exchange gradients."""
    return launch_variables.size() > 1 and not launch_variables.has_servers()


class MergedRows:
    """Rows of all processes in an evaluation.

    A sampler repeats the first examples where processes would have different counts. They come last, and are
    cut off if the length of the data is known.

    Attributes:
        count: int, the rows that this evaluation has had.
    """

    def __init__(self) -> None:
        self.count = 0

    def cut(self, rows: Sequence[Any], loader: Any) -> list[Any]:
        """Tensors or arrays of a batch of all processes without the examples that are repeated.

        Args:
            rows: Tensors or arrays that have a row for each example.
            loader: what gives the batches, or None.
        """
        # A stream has no length, and no examples that are repeated.
        if not isinstance(loader, DataLoader) or isinstance(loader.dataset, IterableDataset):
            return list(rows)
        left = len(loader.dataset) - self.count
        self.count += rows[0].shape[0]
        return [one[:left] for one in rows]


def to_numpy(value: Any) -> Any:
    """The values of a Tensor; anything else as it is."""
    if isinstance(value, Tensor):
        return value.numpy()
    return value


def _tensors(values: Any) -> list[Tensor]:
    return [value if isinstance(value, Tensor) else to_tensor(value) for value in listed(values)]


def computed(metrics: Any, outputs: Sequence[Any], labels: Any) -> list[Any]:
    """What `compute` gives for the metrics that look at no value in it, None for others: what is recorded
    before `optimizer.step()` belongs to the program of the step."""
    with no_grad():
        return [
            # Before the update: accuracy is then computed with the step, on the device.
            metric.compute(*outputs, *labels) if type(metric).compute is Accuracy.compute else None
            for metric in metrics
        ]


def measure(
    metrics: Any, outputs: Sequence[Any], labels: Any, ahead: Sequence[Any] | None = None
) -> list[Any]:
    """Takes a batch into the metrics, of which some have been `computed` ahead; returns
    their results for it."""
    results = []
    for metric, value in zip(metrics, ahead or [None] * len(metrics), strict=True):
        if value is None:
            value = metric.compute(*outputs, *labels)
        results.append(metric.update(*map(to_numpy, listed(value))))
    return results


class DynamicGraphAdapter:
    """Runs batches of a Model eagerly. The Model holds all state."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.merged_rows = MergedRows()
        self._parallel = None
        # Each process has a part of the data, so the gradients are averaged.
        if is_parallel():
            init_parallel_env()
            self._parallel = DataParallel(model.network)

    @property
    def mode(self) -> str:
        """ "train", "eval" or "test"."""
        return self.model.mode

    @mode.setter
    def mode(self, value: Any) -> None:
        self.model.mode = value

    def _begin(self, mode: str) -> None:
        self.mode = mode
        network = self.model.network
        # The mode may have been changed by the user between batches.
        if network.training != (mode == "train") or mode == "train":
            network.train() if mode == "train" else network.eval()

    def _precision(self) -> Any:
        model = self.model
        if model._amp_level != "O0":
            return amp.auto_cast(level=model._amp_level, **model._amp_lists)
        return contextlib.nullcontext()

    def _forward(self, inputs: Any, labels: Any) -> tuple[list[Any], list[Any], list[Tensor]]:
        """(outputs, losses, labels)"""
        model = self.model
        network = model.network
        # Evaluation has no gradients, and processes may have batches of different sizes.
        if self.mode == "train" and self._parallel is not None:
            network = self._parallel
        with self._precision():
            outputs = listed(network(*_tensors(inputs)))
            labels = _tensors(labels)
            # Paddle wants a loss in training, and says so itself.
            if model._loss is not None or self.mode == "train":
                losses = listed(model._loss(*outputs, *labels))
            else:
                losses = []
        return outputs, losses, labels

    def train_batch(self, inputs: Any, labels: Any = None, update: bool = True) -> Any:
        """See Model.train_batch."""
        model = self.model
        if model._optimizer is None:
            raise AssertionError(
                "Model.train_batch: the model is not ready; call prepare() with an optimizer first"
            )
        self._begin("train")
        outputs, losses, labels = self._forward(inputs, labels)
        # One loss needs no sum.
        total = losses[0] if len(losses) == 1 else add_n(losses)
        scaler = model._scaler
        (total if scaler is None else scaler.scale(total)).backward()
        # Accuracy is recorded before the update, so that it joins its program.
        ahead = computed(model._metrics, outputs, labels)
        if update:
            if scaler is None:
                model._optimizer.step()
            else:
                scaler.step(model._optimizer)
                scaler.update()
            # The next gradients begin at zero.
            model.network.clear_gradients()
        with no_grad():
            measured = measure(model._metrics, outputs, labels, ahead)
        losses = [to_numpy(loss) for loss in losses]
        if measured:
            return (losses, measured)
        return losses

    def eval_batch(self, inputs: Any, labels: Any = None) -> Any:
        """See Model.eval_batch."""
        model = self.model
        self._begin("eval")
        with no_grad():
            outputs, losses, labels = self._forward(inputs, labels)
            outputs, labels = self._of_all_processes(outputs, labels)
            measured = measure(model._metrics, outputs, labels)
        losses = [to_numpy(loss) for loss in losses]
        if model._loss is None:
            return measured
        if measured:
            return (losses, measured)
        return losses

    def _of_all_processes(self, outputs: Sequence[Any], labels: Any) -> tuple[Any, Any]:
        """Outputs and labels of a batch of all processes, for metrics over all the data."""
        if self._parallel is None:
            return outputs, labels
        rows = [all_gather_rows(one) for one in (*outputs, *labels)]
        rows = self.merged_rows.cut(rows, self.model._test_dataloader)
        return rows[: len(outputs)], rows[len(outputs) :]

    def predict_batch(self, inputs: Any) -> Any:
        """See Model.predict_batch."""
        self._begin("test")
        with no_grad(), self._precision():
            outputs = listed(self.model.network(*_tensors(inputs)))
        return [to_numpy(each) for each in outputs]

    def parameters(self, *args: Any, **kwargs: Any) -> list[Tensor]:
        """The parameters of the network."""
        return self.model.network.parameters(*args, **kwargs)

    def save(self, path: str) -> None:
        """Writes weights, the state of the optimizer, and that of the loss scaling."""
        model = self.model
        save_file(model.network.state_dict(), f"{path}.pdparams")
        # An optimizer without states, such as SGD, has nothing to save.
        if model._optimizer is not None and (state := model._optimizer.state_dict()):
            save_file(state, f"{path}.pdopt")
        if model._scaler is not None and (state := model._scaler.state_dict()):
            save_file(state, f"{path}.pdscaler")

    def load(
        self,
        param_state_pairs: Sequence[tuple[Tensor, Any]],
        optim_state: dict[str, Any],
        scaler_state: dict[str, Any] | None = None,
    ) -> None:
        """Sets weights, and states if there are any."""
        for parameter, value in param_state_pairs:
            parameter.set_value(np.asarray(value.numpy() if isinstance(value, Tensor) else value))
        if scaler_state is not None and self.model._scaler is not None:
            self.model._scaler.load_state_dict(scaler_state)
        if optim_state is not None and self.model._optimizer is not None:
            self.model._optimizer.set_state_dict(optim_state)

    def prepare(self) -> None:
        """Nothing: everything is made when a batch comes."""
