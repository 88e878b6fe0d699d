"""`Engine`: training, evaluation and prediction of a model on the devices of a mesh, by one object."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distributed.auto_parallel.dist_model import DistModel
from paddle_jax.distributed.auto_parallel.high_level_api import mesh_for, onto
from paddle_jax.distributed.auto_parallel.layers import ShardDataloader
from paddle_jax.distributed.auto_parallel.step_strategy import Strategy as StepStrategy
from paddle_jax.distributed.auto_parallel.strategy import Strategy
from paddle_jax.framework.io import load as load_file
from paddle_jax.framework.io import save as save_file
from paddle_jax.io import DataLoader, Dataset
from paddle_jax.jit import save as save_program
from paddle_jax.metric import Metric
from paddle_jax.nn import Layer
from paddle_jax.optimizer import Optimizer
from paddle_jax.static import InputSpec
from paddle_jax.tensor.creation import to_tensor

_MODES = ("train", "eval", "predict")


class History:
    """What `Engine.fit` found in each epoch.

    Attributes:
        epoch: list of int, the epochs.
        history: dict from "loss", names of metrics, and the same with "val_" in front, to lists of
            numbers, one for each epoch.
    """

    def __init__(self) -> None:
        self.epoch: list[int] = []
        self.history: dict[str, list[Any]] = {}

    def add(self, epoch: int, logs: dict[str, Any]) -> None:
        """Adds the numbers of an epoch."""
        self.epoch.append(epoch)
        for name, value in logs.items():
            self.history.setdefault(name, []).append(value)


class Engine:
    """Trains, evaluates and runs a model on the devices of a mesh, each step as one compiled program.

    A model whose parameters are on one device is put on the mesh of `set_mesh`, or on all devices: each gets
    a copy, and a part of every batch. One that is laid out already (`shard_tensor`, `parallelize`) stays as
    it is; batches are cut along the mesh dimension "dp", the first if there is none.

    Attributes:
        _metrics, _loss: as given.
        _config_callbacks: function that makes a list of callbacks, from `hapi/callbacks.py`.
        _mesh: ProcessMesh.
        _mode: str, "train", "eval" or "predict", or None.
        _split: int, how many fields of a batch are inputs, or None.
        _specs: list of InputSpecs, or None.
        _seen_specs: list of InputSpecs, of the last inputs; None before the first step.
        dist_model: DistModel, which runs the steps.
        network: Layer, the model.
        _optimizer: Optimizer, sharded; or None.
        history: History of the last `fit`, or None.
        stop_training: bool, set by callbacks.
    Differs from Paddle: a model on one device will do, and `fit` and `evaluate` return numbers.

    Args:
        model: Layer.
        loss: function (outputs, labels) that gives a Tensor, or Layer.
        optimizer: Optimizer of the model.
        metrics: Metric, or a list of them.
        cluster: accepted for compatibility.
        strategy: Strategy: mixed precision, gradient merging, sharding of states, pipelines.
    Raises:
        TypeError: an argument is something else.
    Example:
        >>> net = paddle.nn.Linear(2, 1)
        >>> data = paddle.io.TensorDataset([paddle.ones([4, 2]), paddle.ones([4, 1])])
        >>> engine = paddle.distributed.auto_parallel.Engine(
        ...     net, paddle.nn.MSELoss(), paddle.optimizer.SGD(0.1, parameters=net.parameters()))
        >>> losses = engine.fit(data, batch_size=2, epochs=2, verbose=0).history["loss"]
        >>> losses[1] < losses[0]
        True
    """

    history: History | None  # of the last `fit`
    _config_callbacks: Callable[..., Any]  # paddle_jax.hapi.callbacks fills it in

    def __init__(
        self,
        model: Layer | None = None,
        loss: Any = None,
        optimizer: Any = None,
        metrics: Any = None,
        cluster: Any = None,
        strategy: Any = None,
    ) -> None:
        if isinstance(metrics, list | tuple):
            metrics = list(metrics)
        elif metrics is None:
            metrics = []
        else:
            metrics = [metrics]
        _need("model", model, Layer)
        if loss is not None and not callable(loss):
            _need("loss", loss, Layer)
        _need("optimizer", optimizer, Optimizer, None)
        _need("strategy", strategy, StepStrategy, None)
        if isinstance(strategy, Strategy):
            strategy.require_supported()
        for metric in metrics:
            _need("metrics", metric, Metric)
        self._mesh = mesh_for(model)
        # The model is on the mesh before programs are compiled for it.
        onto(model, optimizer, self._mesh)
        self._metrics = metrics
        self._mode = None
        self._split = None
        self._specs = None
        self._seen_specs = None
        self.history = None
        self.dist_model: _Steps = _Steps(model, None, loss, optimizer, strategy)
        self.network = model
        self._optimizer = self.dist_model._optimizer
        self._loss = loss

    @property
    def optimizer(self) -> Any:
        """The optimizer."""
        return self._optimizer

    # passes over data ---------------------------------------------------------------------------------------

    def fit(
        self,
        train_data: Any,
        train_sample_split: int | None = None,
        batch_size: int = 1,
        epochs: int = 1,
        steps_per_epoch: Any = None,
        log_freq: Any = 10,
        save_dir: Any = None,
        save_freq: Any = 1,
        valid_data: Any = None,
        valid_sample_split: Any = None,
        valid_freq: Any = 1,
        valid_steps: Any = None,
        collate_fn: Callable[..., Any] | None = None,
        callbacks: Any = None,
        verbose: Any = 2,
        nvprof_range: Any = (-1, -1),
    ) -> History:
        """Trains the model.

        Args:
            train_data: Dataset, or a loader of batches.
            train_sample_split: int, how many fields of a sample are inputs; the others are
                labels. Default: 1.
            batch_size: int, samples per step, on all devices together; the rest at the end of a
                Dataset is left out.
            epochs: int. steps_per_epoch: int, steps at most. Default: all.
            log_freq, verbose, callbacks, save_dir, save_freq: as for `paddle.Model.fit`.
            valid_data, valid_sample_split, valid_freq, valid_steps: what is evaluated after every
                `valid_freq` epochs.
            collate_fn: function that makes a batch of samples.
            nvprof_range: accepted for compatibility.
        Returns:
            History, whose `history` is a dict from "loss", names of metrics, and the same with "val_" in
            front, to lists of numbers, one for each epoch.
        Raises:
            RuntimeError: there is no loss or no optimizer.
        """
        self.to_mode("train")
        batches = self.dataloader(train_data, batch_size, drop_last=True, collate_fn=collate_fn)
        steps = steps_per_epoch or _length(train_data, batch_size)
        chosen = self._config_callbacks(
            callbacks,
            model=self,
            batch_size=batch_size,
            epochs=epochs,
            steps=steps,
            log_freq=log_freq,
            save_freq=save_freq,
            save_dir=save_dir,
            verbose=verbose,
            metrics=self._names(),
            mode="train",
        )
        self.history = History()
        # Callbacks may set it.
        self.stop_training = False
        chosen.on_begin("train")
        for epoch in range(epochs):
            chosen.on_epoch_begin(epoch)
            logs = self._pass("train", batches, train_sample_split, steps_per_epoch, chosen)
            if valid_data is not None and (epoch + 1) % valid_freq == 0:
                found = self.evaluate(
                    valid_data,
                    valid_sample_split,
                    batch_size,
                    valid_steps,
                    log_freq,
                    collate_fn,
                    callbacks,
                    verbose,
                )
                # Beside the numbers of training, which have the same names.
                logs |= {f"val_{name}": value for name, value in found.items()}
                # `evaluate` has chosen another mode.
                self.to_mode("train")
            chosen.on_epoch_end(epoch, logs)
            self.history.add(epoch, logs)
            if self.stop_training:
                break
        chosen.on_end("train", logs)
        return self.history

    def evaluate(
        self,
        valid_data: Any,
        valid_sample_split: Any = None,
        batch_size: Any = 1,
        steps: int | None = None,
        log_freq: Any = 10,
        collate_fn: Any = None,
        callbacks: Any = None,
        verbose: Any = 2,
    ) -> list[Any] | dict[str | Any, float | Any]:
        """Computes the loss and the metrics of the model on data.

        Args:
            valid_data, valid_sample_split, batch_size, collate_fn, log_freq, callbacks, verbose: as for
                `fit`; no sample is left out.
            steps: int, steps at most.
        Returns:
            dict with "loss", the mean over the batches, and the metrics.
        """
        return self._whole(
            "eval",
            valid_data,
            valid_sample_split,
            batch_size,
            steps,
            log_freq,
            collate_fn,
            callbacks,
            verbose,
        )

    def predict(
        self,
        test_data: Any,
        test_sample_split: Any = None,
        batch_size: Any = 1,
        steps: int | None = None,
        collate_fn: Any = None,
        callbacks: Any = None,
        verbose: Any = 2,
    ) -> list[Any] | dict[str | Any, float | Any]:
        """Computes the outputs of the model for data.

        Args:
            test_data, test_sample_split, batch_size, collate_fn, callbacks, verbose: as for `evaluate`;
                labels are left out.
            steps: int, steps at most.
        Returns:
            list with one item for each batch: the outputs, a list of NumPy arrays.
        """
        return self._whole(
            "predict", test_data, test_sample_split, batch_size, steps, 10, collate_fn, callbacks, verbose
        )

    def _whole(
        self,
        mode: Any,
        data: Any,
        split: Any,
        batch_size: Any,
        steps: Any,
        log_freq: Any,
        collate_fn: Any,
        callbacks: Any,
        verbose: Any,
    ) -> list[Any] | dict[str | Any, float | Any]:
        self.to_mode(mode)
        batches = self.dataloader(data, batch_size, drop_last=False, collate_fn=collate_fn)
        count = steps or _length(data, batch_size)
        chosen = self._config_callbacks(
            callbacks,
            model=self,
            batch_size=batch_size,
            steps=count,
            log_freq=log_freq,
            verbose=verbose,
            metrics=self._names(),
            mode=mode,
        )
        chosen.on_begin(mode, {"steps": count, "metrics": self._names()})
        found = self._pass(mode, batches, split, steps, chosen)
        # The outputs for a whole data set are no logs.
        chosen.on_end(mode, {} if mode == "predict" else found)
        return found

    def _pass(
        self, mode: Any, batches: Any, split: Any, steps: Any, callbacks: Any
    ) -> list[Any] | dict[str | Any, float | Any]:
        """One pass: a dict of numbers, or in prediction the outputs."""
        losses = []
        outputs = []
        logs = {}
        # Metrics add up; each pass begins at nothing.
        for metric in self._metrics:
            metric.reset()
        for step, batch in enumerate(batches):
            if steps is not None and step == steps:
                break
            callbacks.on_batch_begin(mode, step, logs)
            out = self._step(batch, split)
            # The rows are counted, as the last batch may be shorter.
            logs = {"step": step, "batch_size": _flat(batch)[0].shape[0]}
            if mode == "predict":
                outputs.append(out["outputs"])
            else:
                losses.append(float(out["loss"]))
                logs |= {"loss": losses[-1]} | out["metrics"]
            callbacks.on_batch_end(mode, step, logs)
        if mode == "predict":
            return outputs
        # No batch has no mean loss.
        return {"loss": float(np.mean(losses)) if losses else math.nan} | self._accumulated()

    # one step -----------------------------------------------------------------------------------------------

    def run(self, data: Any = None, feed: Any = None, fetch_list: Any = None, mode: Any = None) -> Any:
        """One step.

        Args:
            data: a batch: list or tuple of inputs and labels, or a dict of them in that order.
            feed, fetch_list: only None.
            mode: "train", "eval" or "predict". Default: that of `to_mode` or `prepare`.
        Returns:
            dict: "loss" (a number) and "metrics", or in prediction "outputs", a list of NumPy arrays.
        Raises:
            ValueError: there is no batch, or no mode.
        """
        if mode is not None:
            self.to_mode(mode)
        if feed is not None or fetch_list is not None:
            raise ValueError(
                "Engine.run: feed: the step is a compiled function, not a Program with "
                "variables; pass the batch as `data`"
            )
        if not isinstance(data, list | tuple | dict):
            raise ValueError(
                f"Engine.run: data: got {type(data).__name__}; it must be a list, tuple or dict "
                "of inputs and labels"
            )
        # A loader of this one batch puts it on the mesh.
        (batch,) = self._sharded_loader(
            [[to_tensor(each) for each in (data.values() if isinstance(data, dict) else data)]]
        )
        return self._step(batch, None)

    def _step(self, batch: Any, split: Any) -> Any:
        if self._mode is None:
            raise ValueError(
                "Engine: no mode is chosen; call to_mode('train'), or prepare(mode='train'), first"
            )
        fields = _flat(batch)
        # The first field is the input, unless the user says how many are.
        inputs = split or self._split or (1 if len(fields) > 1 or self._mode != "predict" else len(fields))
        self._seen_specs = [_any_batch(field) for field in fields[:inputs]]
        if self._mode == "predict":
            return {"outputs": self.dist_model(*fields[:inputs])}
        # What is left of a batch are labels.
        self.dist_model.labels = len(fields) - inputs
        # Outputs leave the program only where a metric reads them.
        loss, outputs = (
            self.dist_model.with_outputs(*fields) if self._metrics else (self.dist_model(*fields), [])
        )
        for metric in self._metrics:
            found = metric.compute(*outputs, *fields[inputs:])
            metric.update(
                *[np.asarray(each) for each in (found if isinstance(found, list | tuple) else [found])]
            )
        return {"loss": float(loss), "metrics": self._accumulated()}

    def _accumulated(self) -> dict[Any, Any]:
        return {
            name: value
            for m in self._metrics
            for name, value in zip(_listed(m.name()), _listed(m.accumulate()), strict=True)
        }

    def _names(self) -> list[str]:
        return ["loss"] * (self._loss is not None) + [
            name for metric in self._metrics for name in _listed(metric.name())
        ]

    # preparing ----------------------------------------------------------------------------------------------

    def to_mode(self, mode: Any) -> None:
        """Chooses what a step does.

        Args:
            mode: "train", "eval" or "predict".
        Raises:
            ValueError: it is something else. RuntimeError: the mode needs a loss or an optimizer,
                and there is none.
        """
        if mode not in _MODES:
            raise ValueError(f"Engine.to_mode: mode: got {mode!r}; allowed are {', '.join(_MODES)}")
        getattr(self.dist_model, mode)()
        self._mode = mode

    def prepare(
        self,
        inputs_spec: Any = None,
        labels_spec: Any = None,
        inputs: Any = None,
        labels: Any = None,
        main_program: Any = None,
        startup_program: Any = None,
        mode: Any = None,
        init_parameters: Any = True,
    ) -> None:
        """Says what batches look like, and chooses the mode. Programs are compiled at their first step.

        Args:
            inputs_spec, labels_spec: InputSpec, or a list of them; their number tells inputs from
                labels in `run`.
            inputs, labels, main_program, startup_program: only None.
            mode: as for `to_mode`. Default: "train".
            init_parameters: accepted for compatibility; parameters have their values.
        Raises:
            ValueError: a Program or its variables are given, or the mode is not known.
        """
        if any(each is not None for each in (inputs, labels, main_program, startup_program)):
            raise ValueError(
                "Engine.prepare: main_program: models are Layers here; "
                "build the Engine with one, and leave Programs out"
            )
        if inputs_spec is not None:
            if isinstance(inputs_spec, list | tuple):
                self._specs = list(inputs_spec)
            else:
                self._specs = [inputs_spec]
            self._split = len(self._specs)
        self.to_mode(mode or "train")

    def dataloader(
        self,
        dataset: Any,
        batch_size: Any = 1,
        shuffle: Any = False,
        drop_last: Any = True,
        collate_fn: Any = None,
        num_workers: Any = 0,
        use_buffer_reader: Any = True,
        use_shared_memory: Any = True,
        timeout: Any = 0,
        worker_init_fn: Any = None,
        epochs: Any = 1,
        steps_per_epoch: Any = None,
        sample_split: int = 1,
        mode: Any = None,
        places: Any = None,
    ) -> ShardDataloader:
        """A loader whose batches lie on the mesh.

        Args:
            dataset: Dataset, or a loader of batches.
            batch_size, shuffle, drop_last, collate_fn, num_workers, use_buffer_reader, use_shared_memory,
                timeout, worker_init_fn: as for `paddle.io.DataLoader`.
            epochs, steps_per_epoch, places: accepted for compatibility.
            sample_split: int, how many fields are inputs. mode: as for `to_mode`.
        Returns:
            ShardDataloader.
        """
        if mode is not None:
            self.to_mode(mode)
        # The default says nothing: what `prepare` has found stays.
        if sample_split != 1:
            self._split = sample_split
        if isinstance(dataset, Dataset):
            dataset = DataLoader(
                dataset,
                batch_size=batch_size,
                shuffle=shuffle,
                drop_last=drop_last,
                collate_fn=collate_fn,
                num_workers=num_workers,
                use_buffer_reader=use_buffer_reader,
                use_shared_memory=use_shared_memory,
                timeout=timeout,
                worker_init_fn=worker_init_fn,
                return_list=True,
            )
        if isinstance(dataset, ShardDataloader):
            return dataset
        return self._sharded_loader(dataset)

    def _sharded_loader(self, batches: Any) -> ShardDataloader:
        # Without a dimension of that name, batches are cut along the first one.
        return ShardDataloader(batches, self._mesh, shard_dims="dp" if "dp" in self._mesh.dim_names else 0)

    # files --------------------------------------------------------------------------------------------------

    def save(self, path: str, training: bool = True) -> None:
        """Saves the model: weights to `path.pdparams` and the states of the optimizer to `path.pdopt`.

        Args:
            path: str, without an ending.
            training: bool; False writes a program that runs without the code of the model, as
                `paddle.jit.save` does, for the `inputs_spec` of `prepare`; without it for inputs like
                those of the last step, and any batch size.
        Raises:
            RuntimeError: training=False, no step has run, and `prepare` was not called with `inputs_spec`.
        """
        if training:
            save_file(self.network.state_dict(), f"{path}.pdparams")
            if self._optimizer is not None:
                save_file(self._optimizer.state_dict(), f"{path}.pdopt")
            return
        # What the user has declared comes before what the last step has seen.
        specs = self._specs or self._seen_specs
        if specs is None:
            raise RuntimeError(
                "Engine.save: training: shapes of the inputs are not known; "
                "run a step, or call prepare(inputs_spec=...) first"
            )
        # It is written in evaluation mode, and the model keeps its mode.
        save_program(self.network, path, input_spec=specs)

    def load(self, path: str, strict: bool = True, load_optimizer: bool = True) -> tuple[Any, dict[Any, Any]]:
        """Loads what `save` has saved, into the layout that the model has.

        Args:
            path: str, without an ending.
            strict: bool, whether all weights must be in the file.
            load_optimizer: bool, whether states of the optimizer are loaded too.
        Returns:
            (dict of what was read, {}).
        Raises:
            ValueError: strict, and a weight is missing.
        """
        found = load_file(f"{path}.pdparams")
        missing = [name for name in self.network.state_dict() if name not in found]
        if strict and missing:
            raise ValueError(
                f"Engine.load: path: {path}.pdparams has no {', '.join(missing[:5])}; "
                "pass strict=False to load the others"
            )
        self.network.set_state_dict(found)
        if load_optimizer and self._optimizer is not None:
            state = load_file(f"{path}.pdopt")
            self._optimizer.set_state_dict(state)
            found = found | state
        return found, {}


class _Steps(DistModel):
    """A DistModel whose steps can give the outputs as well."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Apart from the plain steps, which give no outputs.
        self._step_outputs = self._compiled(self._train_step_outputs)
        self._test_outputs = self._compiled(self._measured)

    def with_outputs(self, *args: Any) -> Any:
        """(loss, outputs) of one step of training or evaluation."""
        merge = self._strategy.gradient_merge
        if self._mode == "train" and merge.enable and merge.k_steps > 1:
            # The programs that add gradients up give no outputs: the model runs once more for them.
            return self(*args), self._run(*args[: len(args) - self.labels])
        return (self._step_outputs if self._mode == "train" else self._test_outputs)(*args)

    def _train_step_outputs(self, *args: Any) -> tuple[Tensor | Any, list[Any]]:
        if self._pipeline is not None:
            loss, outputs = self._pipeline.train(self._measured, self._gradients_of, args, with_outputs=True)
        else:
            loss, outputs = self._measured(*args)
            self._gradients_of(loss)
        self._apply_gradients()
        return loss, outputs


def _need(name: Any, value: Any, kind: Any, *allowed: Any) -> None:
    if not isinstance(value, kind) and not (allowed and value is None):
        raise TypeError(f"Engine: {name}: got {type(value).__name__}; it must be a {kind.__name__}")


def _listed(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return list(value)
    return [value]


def _flat(batch: Any) -> list[Tensor] | list[Any]:
    """The Tensors of a batch, a list."""
    if isinstance(batch, Tensor):
        return [batch]
    return [
        tensor for part in (batch.values() if isinstance(batch, dict) else batch) for tensor in _flat(part)
    ]


def _any_batch(tensor: Tensor) -> InputSpec:
    """The InputSpec of a Tensor, with any number of rows."""
    return InputSpec([None, *tensor.shape[1:]], tensor.dtype)


def _length(data: Any, batch_size: Any) -> Any:
    """How many steps a pass has, None where that is not known."""
    try:
        if isinstance(data, Dataset):
            # rounded up: the last batch may be shorter
            return -(-len(data) // batch_size)
        return len(data)
    # A data set without random access has no length, nor has a loader of it.
    except (TypeError, NotImplementedError):
        return None
