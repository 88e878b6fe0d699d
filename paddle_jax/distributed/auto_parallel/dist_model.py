"""`dist.to_static`: a model, its loss and its optimizer as one compiled program for each of training,
evaluation and prediction."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.state import Observing
from paddle_jax._core.tensors.layout import by_devices
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.amp import GradScaler, auto_cast
from paddle_jax.distributed.auto_parallel import optimizers
from paddle_jax.distributed.auto_parallel.intermediate.pipeline_parallel import moved
from paddle_jax.distributed.auto_parallel.layers import ShardDataloader
from paddle_jax.distributed.auto_parallel.micro_batches import MicroBatchSteps
from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh, get_mesh
from paddle_jax.distributed.auto_parallel.step_strategy import Strategy
from paddle_jax.jit import to_static as compiled

if TYPE_CHECKING:
    from paddle_jax.nn.layer.layers import Layer
    from paddle_jax.optimizer.optimizer import Optimizer


def _warn_of_unused(strategy: Any) -> None:
    """Warns of settings that change nothing."""
    if strategy._dp_optimization.enable:
        warnings.warn(
            "dist.to_static: strategy: dp_optimization is not there; the step runs without it", stacklevel=5
        )
    recompute = strategy._recompute
    # With or without the setting, what the model passes to `recompute` is computed again.
    if recompute.enable and (recompute.checkpoints or recompute.refined_ops_patterns):
        warnings.warn(
            "dist.to_static: strategy: recompute.checkpoints and refined_ops_patterns are not read; pass the "
            "layers to distributed.fleet.utils.recompute in the model",
            stacklevel=5,
        )


def _sharding_mesh(layer: Any, loader: Any) -> ProcessMesh:
    """The mesh along which `strategy.sharding` cuts states.

    Raises:
        ValueError: there is none.
    """
    meshes = [p.process_mesh for p in layer.parameters() if p.is_dist()]
    if isinstance(loader, ShardDataloader):
        meshes.extend(loader._meshes)
    # The mesh that the user has set comes before those of the parameters.
    mesh = get_mesh() or next(iter(meshes), None)
    if mesh is None:
        raise ValueError(
            "dist.to_static: strategy.sharding: there is no mesh to cut states along; call "
            "distributed.auto_parallel.set_mesh, or shard the parameters or the loader"
        )
    return mesh


def _value_here(tensor: Tensor) -> np.ndarray | None:
    """A value as a NumPy array. None where it lies on a mesh of other processes."""
    return np.asarray(tensor) if tensor._is_initialized() else None


class DistModel:
    """A model that runs compiled on the devices its parameters lie on;
    `paddle.distributed.to_static` makes it.

    `train()`, `eval()` or `predict()` choose what a call does.

    Args:
        layer: Layer, the model.
        loader, loss, optimizer, strategy, input_spec: as for `paddle.distributed.to_static`.
        metrics: list of Metrics, kept.
    Attributes:
        _loader, _loss: as given.
        network: Layer, the model.
        _optimizer: Optimizer, sharded; or None.
        _strategy: Strategy.
        _metrics: list of Metrics.
        _mode: str, "train", "eval" or "predict", or None.
        _calls: int, the batches of training so far.
        _scaler: GradScaler for float16, or None.
        _pipeline: MicroBatchSteps, or None.
        _gradients, _update, _step, _test, _run: compiled functions for gradients, updates, and steps of
            each mode.
    Example:
        >>> from paddle_jax.distributed import to_static
        >>> net = paddle.nn.Linear(2, 1)
        >>> adam = paddle.optimizer.AdamW(0.1, parameters=net.parameters())
        >>> model = to_static(net, None, paddle.nn.MSELoss(), adam)
        >>> model.train()
        >>> losses = [float(model(paddle.ones([4, 2]), paddle.zeros([4, 1]))) for _ in range(3)]
        >>> losses[2] < losses[0]
        True
    """

    labels = 1  # how many of the arguments of a step are labels

    def __init__(
        self,
        layer: Any,
        loader: Any,
        loss: Any = None,
        optimizer: Any = None,
        strategy: Any = None,
        metrics: Any = None,
        input_spec: Any = None,
    ) -> None:
        self.network = layer
        self._loader = loader
        self._loss = loss
        self._optimizer = optimizer
        self._strategy, self._metrics, self._mode, self._calls = (
            strategy or Strategy(),
            metrics or [],
            None,
            0,
        )
        if optimizer is not None and self._strategy.sharding.enable:
            stage = (optimizers.ShardingStage1, optimizers.ShardingStage2, optimizers.ShardingStage3)[
                self._strategy.sharding.stage - 1
            ]
            mesh = _sharding_mesh(layer, loader)
            self._optimizer = optimizers.shard_optimizer(
                # without data parallelism along the first dimension, whatever its name
                optimizer,
                stage("dp" if "dp" in mesh.dim_names else 0, mesh),
            )
        _warn_of_unused(self._strategy)
        amp = self._strategy.amp
        self._scaler = None
        # bfloat16 has the range of float32: its gradients need no scale.
        if amp.enable and amp.dtype == "float16":
            self._scaler = GradScaler(
                init_loss_scaling=amp.init_loss_scaling,
                incr_ratio=amp.incr_ratio,
                decr_ratio=amp.decr_ratio,
                incr_every_n_steps=amp.incr_every_n_steps,
                decr_every_n_nan_or_inf=amp.decr_every_n_nan_or_inf,
                use_dynamic_loss_scaling=amp.use_dynamic_loss_scaling,
            )
        self._pipeline = None
        if self._strategy.pipeline.enable:
            self._pipeline = MicroBatchSteps(layer, self._strategy.pipeline)
        # Gradients and update are programs of their own too, for gradient_merge.
        self._gradients = self._compiled(self._add_gradients)
        self._update = self._compiled(self._apply_gradients)
        self._step = self._compiled(self._train_step)
        self._test = self._compiled(self._test_step)
        self._run = self._compiled(self._outputs)

    def _compiled(self, function: Any) -> Any:
        """A function as one program; as it is where the model lies on several meshes, whose programs the
        deferred tier makes."""
        return function if self._has_several_meshes() else compiled(function)

    def _has_several_meshes(self) -> bool:
        return len(by_devices(self.network.parameters())) > 1

    def train(self) -> None:
        """A call computes the loss and updates the parameters."""
        if self._loss is None or self._optimizer is None:
            raise RuntimeError("DistModel.train: there is no loss or no optimizer; pass both to to_static")
        self._mode = "train"
        self.network.train()

    def eval(self) -> None:
        """A call computes the loss."""
        if self._loss is None:
            raise RuntimeError("DistModel.eval: there is no loss; pass one to to_static")
        self._mode = "eval"
        self.network.eval()

    def predict(self) -> None:
        """A call computes the outputs."""
        self._mode = "predict"
        self.network.eval()

    def __call__(self, *args: Any) -> Any:
        """One step.

        Args:
            args: the inputs of the model, then the label (not in prediction).
        Returns:
            The loss as a NumPy array; in prediction a list of the outputs. None stands for a value on a mesh
            of other processes.
        Raises:
            ValueError: no mode is chosen.
        """
        if self._mode is None:
            raise ValueError("DistModel: no mode is chosen; call train(), eval() or predict() first")
        if self._mode == "predict":
            out = self._run(*args)
            return [
                _value_here(o) if isinstance(o, Tensor) else o
                for o in (out if isinstance(out, list | tuple) else [out])
            ]
        if self._mode == "eval":
            return _value_here(self._test(*args))
        merge = self._strategy.gradient_merge
        self._calls = self._calls + 1
        if not merge.enable or merge.k_steps <= 1:
            return _value_here(self._step(*args))
        # Gradients add up in place; every k-th call updates the parameters.
        loss = self._gradients(*args)
        if self._calls % merge.k_steps == 0:
            self._update()
        return _value_here(loss)

    # what is compiled ---------------------------------------------------------------------------------------

    def _outputs(self, *inputs: Any) -> Any:
        amp = self._strategy.amp
        lists = {
            "custom_white_list": amp.custom_white_list or None,
            "custom_black_list": amp.custom_black_list or None,
        }
        if amp.enable:
            cast = auto_cast(dtype=amp.dtype, level=amp.level.upper(), use_promote=amp.use_promote, **lists)
        else:
            cast = contextlib.nullcontext()
        with cast:
            return self.network(*inputs)

    def _measured(self, *args: Any) -> tuple[Any, list[Any]]:
        """The loss and the outputs."""
        out = self._outputs(*args[: len(args) - self.labels])
        outputs = list(out) if isinstance(out, list | tuple) else [out]
        labels = args[len(args) - self.labels :]
        if self._has_several_meshes():
            # The loss is computed where the last stage lies.
            labels = moved(tuple(labels), outputs[0].process_mesh)
        # A loss without a reduction gives a number for each row; a step needs one.
        return Observing.function(self._loss)(*outputs, *labels).mean(), outputs

    def _test_step(self, *args: Any) -> Any:
        return self._measured(*args)[0]

    def _add_gradients(self, *args: Any) -> Any:
        if self._pipeline is not None:
            return self._pipeline.train(self._measured, self._gradients_of, args)[0]
        return self._gradients_of(self._test_step(*args))

    def _gradients_of(self, loss: Any) -> Any:
        merge = self._strategy.gradient_merge
        # The gradients of k_steps calls add up to their mean. The loss that the caller gets is not divided.
        if merge.enable and merge.avg:
            scaled = loss / merge.k_steps
        else:
            scaled = loss
        (scaled if self._scaler is None else self._scaler.scale(scaled)).backward()
        return loss

    def _apply_gradients(self) -> None:
        if self._scaler is None:
            self._optimizer.step()
        else:
            self._scaler.step(self._optimizer)
            self._scaler.update()
        self._optimizer.clear_grad()

    def _train_step(self, *args: Any) -> Any:
        loss = self._add_gradients(*args)
        self._apply_gradients()
        return loss

    # state --------------------------------------------------------------------------------------------------

    def state_dict(self, mode: str = "all", split_fusion: Any = True) -> dict[Any, Any]:
        """Parameters and buffers ("param"), states of the optimizer ("opt"), or both ("all"), in one dict.

        Raises:
            ValueError: `mode` is something else.
        """
        if mode not in ("all", "param", "opt"):
            raise ValueError(
                f"DistModel.state_dict: mode: got {mode!r}; allowed are 'all', 'param' and 'opt'"
            )
        if mode == "opt":
            found = {}
        else:
            found = dict(self.network.state_dict())
        if mode != "param" and self._optimizer is not None:
            found |= {
                key: value for key, value in self._optimizer.state_dict().items() if isinstance(value, Tensor)
            }
        return found

    def set_state_dict(self, state_dict: Any) -> None:
        """Takes over what `state_dict` gave."""
        own = set(self.network.state_dict())
        self.network.set_state_dict({key: value for key, value in state_dict.items() if key in own})
        rest = {key: value for key, value in state_dict.items() if key not in own}
        if rest and self._optimizer is not None:
            # `state_dict` has Tensors alone, so the scheduler stays as it is.
            scheduler = self._optimizer.state_dict().get("LR_Scheduler")
            if scheduler is not None:
                rest = {"LR_Scheduler": scheduler} | rest
            self._optimizer.set_state_dict(rest)


def to_static(
    layer: Layer,
    loader: Any = None,
    loss: Any = None,
    optimizer: Optimizer | None = None,
    strategy: Any = None,
    input_spec: Any = None,
) -> DistModel:
    """Compiles the training, evaluation and prediction of a sharded model.

    Args:
        layer: Layer whose parameters are sharded.
        loader: data loader; it is only kept.
        loss: function (outputs, label) that gives a Tensor, or Layer.
        optimizer: Optimizer.
        strategy: Strategy: mixed precision, gradient merging, sharding of states, and for a model on several
            meshes its pipeline: schedule_mode ("1F1B", "FThenB", "VPP"), accumulate_steps (micro-batches of a
            batch) or micro_batch_size.
        input_spec: accepted for compatibility: shapes come from the arguments.
    Returns:
        DistModel.
    Example:
        >>> dist = paddle.distributed
        >>> mesh = dist.ProcessMesh([0], dim_names=["dp"])
        >>> net = dist.shard_layer(paddle.nn.Linear(2, 1), mesh)
        >>> model = dist.to_static(net, None, paddle.nn.MSELoss(),
        ...                        paddle.optimizer.SGD(0.1, parameters=net.parameters()))  # doctest: +SKIP
        >>> model.train()  # doctest: +SKIP
    """
    return DistModel(layer, loader, loss, optimizer, strategy, input_spec=input_spec)
