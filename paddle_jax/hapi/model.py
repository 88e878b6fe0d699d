"""`paddle.Model`: a network with its optimizer, loss and metrics, trained and evaluated by one call."""

from __future__ import annotations

import inspect
import numbers
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax import amp
from paddle_jax._core.tensors.place import get_device
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.input_spec import InputSpec
from paddle_jax.framework.addresses import local_copy
from paddle_jax.framework.io import load as load_file
from paddle_jax.framework.mode import in_dynamic_mode

# Metrics of programs written for Paddle import it from here.
from paddle_jax.hapi.adapters import DynamicGraphAdapter, listed
from paddle_jax.hapi.adapters import all_gather_rows as _all_gather  # noqa: F401
from paddle_jax.hapi.callbacks import EarlyStopping, config_callbacks
from paddle_jax.hapi.history import numbers_of
from paddle_jax.hapi.model_summary import summary
from paddle_jax.hapi.static_adapter import StaticGraphAdapter
from paddle_jax.io import DataLoader, Dataset, DistributedBatchSampler
from paddle_jax.jit.io import save as save_program
from paddle_jax.metric import Metric
from paddle_jax.utils.nested import flatten

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddle_jax.nn.layer.layers import Layer
    from paddle_jax.optimizer.optimizer import Optimizer

__all__ = []

_LISTS = ("custom_white_list", "custom_black_list")
_SCALER = (
    "init_loss_scaling",
    "incr_ratio",
    "decr_ratio",
    "incr_every_n_steps",
    "decr_every_n_nan_or_inf",
    "use_dynamic_loss_scaling",
)
_STATIC_ONLY = ("custom_black_varnames", "use_pure_fp16", "use_fp16_guard")


def _check(condition: Any, message: str, error: type[Exception] = AssertionError) -> None:
    if not condition:
        raise error(message)


class Model:
    """A network that can be trained, evaluated and used by one call each.

    Args:
        network: Layer.
        inputs: InputSpec with a name, or a list or tuple of them: what `network.forward` takes. Default None:
            as many inputs as the parameters of `forward`. Needed in static mode.
        labels: InputSpec or list: what loss and metrics take after the outputs. Default None.
            Needed in static mode.
    Attributes:
        network: as given.
        mode: str, "train", "eval" or "test".
        _inputs, _labels: lists of InputSpecs or None.
        _loss, _loss_weights: the loss function and its weights, or None.
        _optimizer: Optimizer or None.
        _scaler: GradScaler for float16, or None.
        _metrics: list of Metrics.
        _input_info: shapes and dtypes of the inputs seen last, or None.
        _is_shape_inferred: bool, whether these are known from data.
        _test_dataloader: the loader of `predict`, or None.
        stop_training: bool, set by callbacks.
        _amp_level, _amp_lists: settings of mixed precision.
        _adapter: DynamicGraphAdapter, which runs one batch.
        _place: the device.
        _accumulate: int, the batches of one update.
        num_iters: int or None, after how many batches `fit` stops.
        _history: list with a dict for each epoch of the last `fit`: epoch, loss, metrics, and with an
            evaluation these again as "eval loss" and so on.
    Raises:
        TypeError: inputs is no InputSpec with a name, in static mode.
    Example:
        >>> model = paddle.Model(paddle.nn.Linear(4, 2))
        >>> model.prepare(paddle.optimizer.SGD(0.1, parameters=model.parameters()),
        ...               paddle.nn.CrossEntropyLoss(), paddle.metric.Accuracy())
        >>> data = paddle.io.TensorDataset([paddle.randn([8, 4]), paddle.zeros([8, 1], "int64")])
        >>> model.fit(data, batch_size=4, epochs=2, verbose=0)
        >>> sorted(model.evaluate(data, batch_size=4, verbose=0))
        ['acc', 'loss']
    """

    network: Any

    def __init__(self, network: Layer, inputs: Any = None, labels: Any = None) -> None:
        self.mode = "train"
        self.network = network
        self._inputs = self._labels = None
        self._loss = self._loss_weights = self._optimizer = self._scaler = None
        self._metrics = []
        self._input_info = None  # shapes and dtypes of the inputs of the last batch
        self._is_shape_inferred = False
        self._test_dataloader = None
        self.stop_training: bool = False
        self._amp_level = "O0"
        self._amp_lists = {}
        self._history = []
        # A static program declares its inputs before any batch is there.
        if not in_dynamic_mode() and not isinstance(inputs, list | tuple | dict | InputSpec):
            raise TypeError(f"Model: inputs: got {inputs!r}; static mode needs InputSpecs with names")
        self._inputs = self._verify_spec(inputs, is_input=True)
        self._labels = self._verify_spec(labels)
        if in_dynamic_mode():
            self._adapter = DynamicGraphAdapter(self)
        else:
            self._adapter = StaticGraphAdapter(self)

    # batches ------------------------------------------------------------------------------------------------

    def train_batch(self, inputs: Any, labels: Any = None, update: bool = True) -> Any:
        """Trains on one batch.

        Args:
            inputs: ndarray, Tensor, or list of them.
            labels: the same. Default None.
            update: False only adds the gradients up; the next call with True uses them. Default True.
        Returns:
            List of losses (ndarrays); with metrics a tuple of that and the list of their results.
        Raises:
            AssertionError: `prepare` was not called with an optimizer.
        Example:
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.MSELoss())
            >>> [loss.shape for loss in model.train_batch([paddle.ones([3, 2])], [paddle.ones([3, 1])])]
            [()]
        """
        return self._remember(inputs, self._adapter.train_batch(inputs, labels, update))

    def eval_batch(self, inputs: Any, labels: Any = None) -> Any:
        """Computes losses and metrics of one batch. Arguments and result as for `train_batch`."""
        return self._remember(inputs, self._adapter.eval_batch(inputs, labels))

    def predict_batch(self, inputs: Any) -> Any:
        """Computes the outputs for one batch.

        Args:
            inputs: ndarray, Tensor, or list of them.
        Returns:
            List of ndarrays.
        Example:
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare()
            >>> [out.shape for out in model.predict_batch([paddle.ones([3, 2])])]
            [(3, 1)]
        """
        return self._remember(inputs, self._adapter.predict_batch(inputs))

    def _remember(self, inputs: Any, result: Any) -> Any:
        if in_dynamic_mode():
            # The shapes of a batch serve `summary` and the saving of a model.
            arrays = [each if isinstance(each, Tensor) else np.asarray(each) for each in listed(inputs)]
            self._input_info = (
                [list(each.shape) for each in arrays],
                [str(each.dtype).removeprefix("paddle.") for each in arrays],
            )
        return result

    # settings -----------------------------------------------------------------------------------------------

    def prepare(
        self,
        optimizer: Optimizer | None = None,
        loss: Callable[..., Any] | None = None,
        metrics: Any = None,
        amp_configs: str | dict[str, Any] | None = None,
    ) -> None:
        """Sets what training and evaluation need.

        Args:
            optimizer: Optimizer; needed for training.
            loss: Layer or callable `(*outputs, *labels)` that returns a Tensor or a list of them, whose sum
                is minimised; needed for training.
            metrics: Metric, or list of them.
            amp_configs: "O0", "O1", "O2", or a dict of "level", "custom_white_list", "custom_black_list" and
                arguments of `paddle.amp.GradScaler`.
        Raises:
            TypeError: the loss cannot be called.
            AssertionError: a metric is no Metric.
            ValueError: amp_configs has an unknown level or key.
        Example:
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.Adam(parameters=model.parameters()), paddle.nn.MSELoss())
        """
        _check(
            loss is None or callable(loss),
            f"Model.prepare: loss: got {type(loss).__name__}; it must be a Layer or a callable",
            TypeError,
        )
        metrics = listed(metrics)
        for metric in metrics:
            _check(
                isinstance(metric, Metric),
                f"Model.prepare: metrics: got {type(metric).__name__}; it must be a Metric or a list of them",
            )
        self._place = get_device()
        self._optimizer = optimizer
        self._loss = loss
        self._metrics = metrics
        self._prepare_amp(amp_configs)
        self._adapter.prepare()

    def _prepare_amp(self, amp_configs: str | dict[str, Any] | None) -> None:
        self._amp_level = "O0"
        self._amp_lists = {}
        self._scaler = None
        if not amp_configs:
            return
        if isinstance(amp_configs, str):
            configs = {"level": amp_configs}
        else:
            configs = dict(amp_configs)
        level = configs.pop("level", "O1")
        _check(
            level in ("O0", "O1", "O2"),
            f"Model.prepare: amp_configs: the level is {level!r}; it must be 'O0', 'O1' or 'O2'",
            ValueError,
        )
        self._amp_level = level
        unknown = tuple(key for key in configs if key not in (*_LISTS, *_SCALER, *_STATIC_ONLY))
        _check(
            not unknown,
            f"Model.prepare: amp_configs: unknown keys {unknown}; "
            f"allowed are level, {', '.join((*_LISTS, *_SCALER))}",
            ValueError,
        )
        static = [key for key in configs if key in _STATIC_ONLY]
        _check(
            not static or not in_dynamic_mode(),
            f"Model.prepare: amp_configs: {static} is for static mode only",
            ValueError,
        )
        # In static mode the precision belongs to the program.
        if level == "O0" or not in_dynamic_mode():
            return
        # Settings that are not given keep their defaults.
        self._amp_lists = {key: configs[key] for key in _LISTS if key in configs}
        self._scaler = amp.GradScaler(**{key: configs[key] for key in _SCALER if key in configs})
        if level == "O2":
            decorated = amp.decorate(models=self.network, optimizers=self._optimizer, level="O2")
            # Without an optimizer only the network changes.
            if self._optimizer is not None:
                self.network, self._optimizer = decorated

    def parameters(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The parameters of the network, as a list."""
        if in_dynamic_mode():
            return self.network.parameters()
        return self._adapter.parameters()

    def _verify_spec(
        self, specs: Any, shapes: Any = None, dtypes: Any = None, is_input: bool = False
    ) -> list[Any]:
        if specs is None:
            if is_input:
                # Without specs the names of the arguments of `forward` serve.
                names = _parameters_of(self.network.forward)
            else:
                names = []
            if is_input:
                return [InputSpec([None], "float32", name) for name in names]
            return []
        _check(
            not isinstance(specs, str | dict),
            f"Model: inputs: got {specs!r}; it must be an InputSpec, or a list or tuple of them",
        )
        specs = listed(specs)
        for number, spec in enumerate(specs):
            if not isinstance(spec, InputSpec):
                raise AttributeError(
                    f"Model: inputs: item {number} is {type(spec).__name__}; it must be an InputSpec"
                )
            _check(
                spec.name is not None,
                f"Model: inputs: InputSpec number {number} has no name; give it one",
                ValueError,
            )
        return specs

    # files --------------------------------------------------------------------------------------------------

    def save(self, path: str, training: bool = True) -> None:
        """Saves the model.

        Args:
            path: str, path without ending. With training=True weights go to `path.pdparams`, the state of the
                optimizer to `path.pdopt`.
            training: False saves a program to run the network without its code, as `paddle.jit.save`
                does. Default True.
        Raises:
            RuntimeError: training=False, and neither `inputs` were given nor a batch was run, so the
                shapes are not known.
        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     model = paddle.Model(paddle.nn.Linear(2, 1)); model.prepare()
            ...     model.save(folder + "/net"); model.load(folder + "/net")
        """
        if training:
            self._adapter.save(path)
        else:
            self._save_inference_model(path)

    def _save_inference_model(self, path: str) -> None:
        if not in_dynamic_mode():
            self._adapter.save_inference_model(path)
            return
        specs = self._inputs
        # Specs without lengths are replaced by those of the last batch.
        if self._has_open_specs() and self._input_info is not None:
            names = [spec.name for spec in specs]
            specs = [
                # The batch may have any length.
                InputSpec([None, *shape[1:]], dtype, name)
                for shape, dtype, name in zip(*self._input_info, names, strict=False)
            ]
        elif self._specs_unknown():
            raise RuntimeError(
                "Model.save: training: shapes of the inputs are not known; "
                "give Model inputs=[InputSpec(...)], or run a batch before"
            )
        save_program(self.network, path, input_spec=specs)

    def _has_open_specs(self) -> bool:
        """Whether the user has given no shapes of the inputs."""
        return any(spec.shape == (-1,) for spec in self._inputs)

    def _specs_unknown(self) -> bool:
        return self._input_info is None and all(spec.shape == (-1,) for spec in self._inputs)

    def load(self, path: str, skip_mismatch: bool = False, reset_optimizer: bool = False) -> None:
        """Loads what `save` saved: weights, and the state of the optimizer if there is a file with it.

        Args:
            path: str, path with or without `.pdparams`.
            skip_mismatch: leave out, with a warning, weights that are missing in the file or have another
                shape. Default False.
            reset_optimizer: do not load the state of the optimizer. Default False.
        Raises:
            AssertionError: there is no such file.
            ValueError: a weight is missing or has another shape.
        """
        prefix = local_copy("Model.load", str(path).removesuffix(".pdparams"), prefix=True)
        prefix = str(Path(prefix))
        _check(Path(prefix + ".pdparams").is_file(), f"Model.load: path: there is no file {prefix}.pdparams")
        found = load_file(prefix + ".pdparams")
        pairs = []
        for name, parameter in self.network.state_dict().items():
            problem = _mismatch(name, parameter, found.get(name))
            if problem is None:
                # All problems are found before the first parameter changes.
                pairs.append((parameter, found[name]))
            elif skip_mismatch:
                warnings.warn(f"Skip loading for {name}. {problem}", stacklevel=2)
            else:
                raise ValueError(problem)
        state = None
        # A missing file is no error: training may begin from the weights alone.
        if not reset_optimizer and self._optimizer is not None and Path(prefix + ".pdopt").is_file():
            state = load_file(prefix + ".pdopt")
        if self._scaler is not None and Path(prefix + ".pdscaler").is_file():
            scaler = load_file(prefix + ".pdscaler")
        else:
            scaler = None
        self._adapter.load(pairs, state, scaler)

    # loops --------------------------------------------------------------------------------------------------

    def fit(
        self,
        train_data: Any = None,
        eval_data: Any = None,
        batch_size: Any = 1,
        epochs: int = 1,
        eval_freq: int = 1,
        log_freq: int = 10,
        save_dir: str | None = None,
        save_freq: int = 1,
        verbose: int = 2,
        drop_last: bool = False,
        shuffle: bool = True,
        num_workers: int = 0,
        callbacks: Any = None,
        accumulate_grad_batches: int = 1,
        num_iters: int | None = None,
    ) -> None:
        """Trains the network.

        Args:
            train_data: Dataset, or an iterable of batches such as a DataLoader; the first fields are the
                inputs, the others the labels.
            eval_data: the same, evaluated after epochs. Default None.
            batch_size: int, or a list or tuple of those for training and evaluation; for Datasets. Default 1.
            epochs: int. Default 1.
            eval_freq: int, epochs from one evaluation to the next. Default 1.
            log_freq: int, steps from one report to the next. Default 10.
            save_dir: str, folder for checkpoints. Default None: none are saved.
            save_freq: int, epochs from one checkpoint to the next. Default 1.
            verbose: 0 prints nothing, 1 a bar, 2 lines, 3 lines with times. Default 2.
            drop_last: leave out the last batch when it is not full; for Datasets. Default False.
            shuffle: another order in every epoch; for Datasets. Default True.
            num_workers: int, processes that read the data; for Datasets. Default 0.
            callbacks: Callback or list of them. Default None.
            accumulate_grad_batches: int, batches whose gradients are added up for one step of the
                optimizer. Default 1.
            num_iters: int, batches in all; then `epochs` follows from it. Batches of evaluations count, as in
                Paddle. Default None.
        Raises:
            AssertionError: there is no data, or num_iters is not positive.
        Example:
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), paddle.nn.MSELoss())
            >>> data = paddle.io.TensorDataset([paddle.ones([4, 2]), paddle.ones([4, 1])])
            >>> model.fit(data, batch_size=2, epochs=1, log_freq=1)  # doctest: +ELLIPSIS
            The loss value printed in the log is the current step, and the metric is the average value of
            previous steps.
            Epoch 1/1
            step 1/2 - loss: ... - ...s/step
            step 2/2 - loss: ... - ...s/step
        """
        _check(
            train_data is not None, "Model.fit: train_data: got None; it must be a Dataset or a DataLoader"
        )
        train_size, eval_size = _sizes(batch_size)
        train_loader = self._loader(train_data, train_size, shuffle, drop_last, num_workers)
        if eval_data is None:
            eval_loader = None
        else:
            eval_loader = self._loader(eval_data, eval_size, False, False, num_workers)
        self._accumulate = accumulate_grad_batches
        steps = self._len_data_loader(train_loader)
        self._set_num_iters("fit", num_iters)
        if num_iters is not None and isinstance(steps, int):
            # As many epochs as the wanted steps take.
            epochs = -(-num_iters // steps) if steps else epochs
            steps = min(steps, num_iters)
        # A stream has no length; it ends by the count of steps.
        elif num_iters is not None:
            epochs = 1
        chosen = config_callbacks(
            callbacks,
            model=self,
            epochs=epochs,
            steps=steps,
            log_freq=log_freq,
            save_freq=save_freq,
            save_dir=save_dir,
            verbose=verbose,
            metrics=self._metrics_name(),
        )
        # It looks at results of evaluations alone.
        if eval_loader is None and any(isinstance(callback, EarlyStopping) for callback in chosen):
            warnings.warn("EarlyStopping needs validation data.", stacklevel=2)
        logs = {}
        self._history = []
        self._test_dataloader = eval_loader
        chosen.on_begin("train")
        for epoch in range(epochs):
            chosen.on_epoch_begin(epoch)
            logs = self._run_one_epoch(train_loader, chosen, "train", logs)
            self._history.append({"epoch": epoch, **numbers_of(logs)})
            chosen.on_epoch_end(epoch, logs)
            # Paddle evaluates after the first epoch and each `eval_freq` ones.
            if eval_loader is not None and epoch % eval_freq == 0:
                logs = self._evaluated(eval_loader, chosen, logs)
                self._history[-1].update(numbers_of(logs, "eval "))
            if self.stop_training:
                break
        chosen.on_end("train", logs)
        self._test_dataloader = None

    def evaluate(
        self,
        eval_data: Any,
        batch_size: Any = 1,
        log_freq: int = 10,
        verbose: int = 2,
        num_workers: int = 0,
        callbacks: Any = None,
        num_iters: int | None = None,
    ) -> dict[str, Any]:
        """Computes losses and metrics over a data set. Arguments as for `fit`.

        Returns:
            Dict with "loss" (list of floats, of the last batch) and each metric by name.
        Raises:
            AssertionError: num_iters is not positive.
        Example:
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare(loss=paddle.nn.MSELoss())
            >>> list(model.evaluate(paddle.io.TensorDataset([paddle.ones([4, 2]), paddle.ones([4, 1])]),
            ...                     verbose=0))
            ['loss']
        """
        loader = self._loader(eval_data, batch_size, False, False, num_workers)
        self._test_dataloader = loader
        self._set_num_iters("evaluate", num_iters)
        names = self._metrics_name()
        chosen = config_callbacks(
            callbacks, model=self, log_freq=log_freq, verbose=verbose, metrics=names, mode="eval"
        )
        logs = self._evaluated(loader, chosen, {}, num_iters)
        self._test_dataloader = None
        return {name: logs[name] for name in names if name in logs}

    def _evaluated(
        self, loader: Any, callbacks: Any, logs: dict[str, Any], num_iters: int | None = None
    ) -> dict[str, Any]:
        steps = self._len_data_loader(loader)
        if num_iters is not None and steps is not None:
            steps = min(steps, num_iters)
        # Rows of all processes are counted from the begin of the data.
        self._adapter.merged_rows.count = 0
        callbacks.on_begin("eval", {"steps": steps, "metrics": self._metrics_name()})
        logs = self._run_one_epoch(loader, callbacks, "eval", logs)
        callbacks.on_end("eval", logs)
        return logs

    def predict(
        self,
        test_data: Any,
        batch_size: Any = 1,
        num_workers: int = 0,
        stack_outputs: bool = False,
        verbose: int = 1,
        callbacks: Any = None,
    ) -> list[Any]:
        """Computes the outputs for a data set; fields after the inputs are left out.

        Args:
            test_data, batch_size, num_workers, verbose, callbacks: as for `fit`.
            stack_outputs: join the batches of each output along the first axis. Default False.
        Returns:
            List with one item per output: a tuple of ndarrays, one per batch, or one ndarray.
        Example:
            >>> model = paddle.Model(paddle.nn.Linear(2, 1))
            >>> model.prepare()
            >>> model.predict(paddle.io.TensorDataset([paddle.ones([4, 2])]), batch_size=2, verbose=0,
            ...               stack_outputs=True)[0].shape
            (4, 1)
        """
        loader = self._loader(test_data, batch_size, False, False, num_workers)
        self._test_dataloader = loader
        self._set_num_iters("predict", None)
        chosen = config_callbacks(callbacks, model=self, verbose=verbose, metrics=None, mode="predict")
        chosen.on_begin("predict", {"steps": self._len_data_loader(loader)})
        logs, outputs = self._run_one_epoch(loader, chosen, "predict", {})
        self._test_dataloader = None
        # One list for each output, in place of one for each batch.
        columns = [tuple(column) for column in zip(*outputs, strict=True)]
        if stack_outputs:
            columns = [np.vstack(column) for column in columns]
        chosen.on_end("predict", logs)
        return columns

    def _set_num_iters(self, where: str, num_iters: int | None) -> None:
        if num_iters is not None:
            _check(
                isinstance(num_iters, int) and num_iters > 0,
                f"Model.{where}: num_iters: got {num_iters!r}; it must be a positive int",
            )
        self.num_iters = num_iters

    def _loader(self, data: Any, batch_size: int, shuffle: bool, drop_last: bool, num_workers: int) -> Any:
        # A loader of the user stays as it is.
        if not isinstance(data, Dataset):
            return data
        if not hasattr(self, "_place"):
            raise AttributeError("Model: the model is not ready; call prepare() first")
        # Each process gets its part of the data.
        sampler = DistributedBatchSampler(data, batch_size=batch_size, shuffle=shuffle, drop_last=drop_last)
        return DataLoader(data, batch_sampler=sampler, num_workers=num_workers, return_list=True)

    def _run_one_epoch(
        self, data_loader: Any, callbacks: Any, mode: str, logs: dict[str, Any] | None = None
    ) -> Any:
        logs = {} if logs is None else logs
        outputs = []
        self._reset_metrics()
        steps = self._len_data_loader(data_loader)
        for step, data in enumerate(data_loader):
            data = flatten(data)
            if getattr(data[0], "shape", None):
                batch_size = data[0].shape[0]
            else:
                batch_size = 1
            callbacks.on_batch_begin(mode, step, logs)
            # The network's own inputs; labels of a data set for training are left out.
            if mode == "predict":
                outputs.append(self.predict_batch(data[: len(self._inputs)]))
            else:
                self._learn(mode, step, steps, data, logs)
            logs["step"], logs["batch_size"] = step, batch_size
            callbacks.on_batch_end(mode, step, logs)
            if self.num_iters is not None:
                self.num_iters -= 1
                if self.num_iters == 0:
                    self.stop_training = True
                    self.num_iters = None if mode == "eval" else 0
                    break
        if mode == "predict":
            return (logs, outputs)
        return logs

    def _learn(self, mode: str, step: int, steps: int | None, data: Any, logs: dict[str, Any]) -> None:
        """Runs a batch of training or evaluation, and notes its results."""
        inputs = data[: len(self._inputs)]
        labels = data[len(self._inputs) :]
        if mode == "train":
            # The last step updates with what has been added up.
            last = steps is not None and step + 1 == steps
            results = self.train_batch(inputs, labels, update=(step + 1) % self._accumulate == 0 or last)
        else:
            results = self.eval_batch(inputs, labels)
        # Adapters give both, or the one of losses and metrics that there is.
        losses, measured = (
            results if self._metrics and self._loss else ([], results) if self._metrics else (results, [])
        )
        if self._loss:
            logs["loss"] = [float(np.mean(loss)) for loss in losses]
        for metric in self._metrics:
            logs.update(zip(listed(metric.name()), listed(metric.accumulate()), strict=False))

    def summary(self, input_size: Any = None, dtype: Any = None) -> dict[str, Any]:
        """Prints the layers of the network. See `paddle.summary`.

        Args:
            input_size: shape, InputSpec, or a list of them. Default None: the `inputs` of the model, or the
                shapes of the last batch.
            dtype: str. Default None: float32.
        Returns:
            Dict with "total_params" and "trainable_params".
        """
        if input_size is None:
            if self._input_info is not None and self._has_open_specs():
                input_size = [tuple(shape) for shape in self._input_info[0]]
                dtype = dtype or self._input_info[1]
            else:
                input_size = self._inputs
                dtype = dtype or [spec.dtype for spec in self._inputs]
        return summary(self.network, input_size, dtype)

    def _reset_metrics(self) -> None:
        for metric in self._metrics:
            metric.reset()

    def _metrics_name(self) -> list[str]:
        return (["loss"] if self._loss else []) + [
            name for metric in self._metrics for name in listed(metric.name())
        ]

    def _len_data_loader(self, data_loader: Any) -> int | None:
        try:
            return len(data_loader)
        except Exception:  # whatever a data set without a length raises
            return None


def _mismatch(name: str, parameter: Tensor, value: Any) -> str | None:
    """What is wrong with a value for a parameter, or None."""
    if value is None:
        return f"{name} is not found in the providing file."
    if list(value.shape) != list(parameter.shape):
        return (
            f"{name} receives a shape {list(value.shape)}, but the expected shape is {list(parameter.shape)}."
        )
    return None


def _parameters_of(forward: Callable[..., Any]) -> list[str]:
    """Names of the positional parameters, of the function that was given where `to_static`
    has compiled it."""
    # A function that was compiled has its own one behind this attribute.
    forward = getattr(forward, "dygraph_function", forward)
    # Variable arguments cannot be named by a spec.
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [
        name for name, parameter in inspect.signature(forward).parameters.items() if parameter.kind in kinds
    ]


def _sizes(batch_size: Any) -> Any:
    """Batch sizes of training and evaluation."""
    if isinstance(batch_size, list | tuple) and len(batch_size) == 2:
        return batch_size
    if not isinstance(batch_size, numbers.Integral):
        raise TypeError(
            f"Model.fit: batch_size: got {batch_size!r}; it must be an int, or a list or tuple of two"
        )
    return batch_size, batch_size
