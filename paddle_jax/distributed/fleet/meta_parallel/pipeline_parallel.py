"""Training steps of a PipelineLayer: a batch in several small ones, over one stage or several processes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.execution.python_state import tensors_in
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.amp.auto_cast import auto_cast
from paddle_jax.autograd import backward
from paddle_jax.distributed import schedules
from paddle_jax.distributed.communication.objects import all_gather_object
from paddle_jax.distributed.fleet.base.registry import Current
from paddle_jax.distributed.fleet.meta_parallel.micro_batches import MicroBatches
from paddle_jax.distributed.fleet.meta_parallel.micro_step_hooks import (
    PipelineParallelMicroStepLocations,
    pipeline_parallel_callbacks_,
)
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.pp_layers import PipelineLayer
from paddle_jax.distributed.fleet.meta_parallel.pp_utils.p2p_communication import (
    GRADIENT,
    OUTPUT,
    StageMessages,
)
from paddle_jax.distributed.fleet.meta_parallel.wrapped import MetaParallelBase
from paddle_jax.distributed.schedules import Pipeline, Step
from paddle_jax.tensor.creation import zeros
from paddle_jax.tensor.joining import stack

if TYPE_CHECKING:
    from paddle_jax.distributed.communication.group import Group
    from paddle_jax.distributed.fleet.base.distributed_strategy import DistributedStrategy
    from paddle_jax.distributed.fleet.base.topology import HybridCommunicateGroup
    from paddle_jax.nn.layer.layers import Layer


__all__ = []


class _Batched(MetaParallelBase):
    """A PipelineLayer that trains by whole batches.

    Attributes:
        accumulate_steps: how many micro-batches a batch has.
        micro_batch_size: rows of each.
        total_loss: for each loss function the losses of the micro-batches of the last step.
        loss_fn_idx: which of several loss functions is made small.
        optimizer, lr_scheduler, scaler: those of the last `train_batch`.
    """

    def __init__(
        self, layers: Layer, strategy: DistributedStrategy | None, hcg: HybridCommunicateGroup | None
    ) -> None:
        if not isinstance(layers, PipelineLayer):
            raise TypeError(
                f"{type(self).__name__}: layers: got {type(layers).__name__}; it must be a PipelineLayer"
            )
        super().__init__(layers, hcg, strategy)
        configs = strategy.pipeline_configs
        self.accumulate_steps = configs["accumulate_steps"]
        self.micro_batch_size = configs["micro_batch_size"]
        self._delay_scale_loss = strategy.hybrid_configs["pp_configs"].delay_scale_loss
        self._grid = Current.grid
        if self._grid is not None:
            # What is on no mesh yet gets copies on all devices.
            self._grid.replicate([*layers.parameters(), *layers.buffers()])
        self.total_loss = None
        self.loss_fn_idx: int = 0
        self.optimizer = None
        self.lr_scheduler = None
        self.scaler = None

    def is_pipeline_first_stage(self, ignore_virtual: bool = False) -> bool:
        """Whether this process has the first layer."""
        return True

    def is_pipeline_last_stage(self, ignore_virtual: bool = False) -> bool:
        """Whether this process has the last layer."""
        return True

    def forward_backward_pipeline(
        self, data: Any, scaler: Any = None, return_micro_batch_loss: bool = False
    ) -> Any:
        """Computes the gradients of the mean loss of the micro-batches, and returns it.

        Args:
            data: [inputs, labels], each a Tensor of all rows, a list of one Tensor for each micro-batch, or
                a tuple or dict of such; or an iterator of (inputs, labels) of micro-batches.
            scaler: GradScaler or None.
            return_micro_batch_loss: give the losses of all micro-batches instead, divided by their number.
        Returns:
            Tensor [], or [micro-batches]; a list of them for several loss functions. The same on all stages.
        """
        self.scaler = scaler
        self._begin()
        batches = self._batches(data)
        for micro_batch in range(self.accumulate_steps):
            output = self._layers(self._inputs(batches, micro_batch))
            self._backward(self._loss(output, batches.labels(micro_batch)))
        return self._result(return_micro_batch_loss)

    def train_batch(
        self,
        data: Any,
        optimizer: Any,
        lr_scheduler: Any = None,
        scaler: Any = None,
        loss_fn_idx: int = 0,
        return_micro_batch_loss: bool = False,
    ) -> Any:
        """One training step.

        Args:
            data: as in forward_backward_pipeline; stages between the first and the last may give None.
            optimizer: Optimizer.
            lr_scheduler: LRScheduler or None; it goes on by one step.
            scaler: GradScaler or None.
            loss_fn_idx: int, which of several loss functions is made small.
            return_micro_batch_loss: as in forward_backward_pipeline.
        Returns:
            The mean loss, a Tensor [].
        Raises:
            AssertionError: there is no such loss function.
        """
        self.optimizer = optimizer
        self.lr_scheduler = lr_scheduler
        self._layers.train()
        self._choose_loss(loss_fn_idx)
        loss = self.forward_backward_pipeline(data, scaler, return_micro_batch_loss)
        # The caller may train in mixed precision; updates are in the dtype of the states.
        with auto_cast(enable=False):
            self._optimizer_step()
        return loss

    @no_grad()
    def eval_batch(self, data: Any, compute_loss: bool = False, loss_fn_idx: int = 0) -> Any:
        """The mean loss of a batch, or what comes out for each micro-batch.

        Args:
            data: as in forward_backward_pipeline.
            compute_loss: give the mean loss. Default False: a list of outputs.
            loss_fn_idx: int, which of several loss functions must be there.
        """
        self._layers.eval()
        self._choose_loss(loss_fn_idx)
        self._begin()
        batches = self._batches(data)
        outputs = []
        for micro_batch in range(self.accumulate_steps):
            outputs.append(self._layers(self._inputs(batches, micro_batch)))
            if compute_loss:
                # Taken out of the list again: only the loss is wanted.
                self._loss(outputs.pop(), batches.labels(micro_batch))
        if compute_loss:
            return self._result(False)
        return outputs

    # parts of a step ----------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self.total_loss = [[] for _ in self._layers._loss_fn]

    def _batches(self, data: Any) -> MicroBatches:
        rows = self.micro_batch_size
        if self._grid is not None:
            # this process has the data of all replicas
            rows *= self._grid.degree("dp") * self._grid.degree("sharding")
        return MicroBatches(data, self.accumulate_steps, rows)

    def _inputs(self, batches: MicroBatches, micro_batch: int) -> Tensor:
        """The inputs of a micro-batch, on the devices of this process where it drives several."""
        inputs = batches.inputs(micro_batch)
        return inputs if self._grid is None else self._grid.batch(inputs)

    def _choose_loss(self, index: int) -> None:
        functions = self._layers._loss_fn
        if index not in range(len(functions)) or functions[index] is None:
            raise CheckError(
                f"{type(self).__name__}: loss_fn_idx: got {index}; the PipelineLayer has no such loss_fn, "
                "give it one"
            )
        self.loss_fn_idx = index

    def _loss(self, output: Tensor, labels: Tensor) -> Tensor:
        """The loss of a micro-batch that is made small, as its share of the whole; all are noted."""
        return self._note(self._losses(output, labels))

    def _losses(self, output: Tensor, labels: Tensor) -> list[Any]:
        """The loss of a micro-batch by each loss function, as its share of the whole."""
        losses = []
        for function in self._layers._loss_fn:
            if function is None:
                raise CheckError(f"{type(self).__name__}: the PipelineLayer has no loss_fn; give it one")
            loss = function(output, labels)
            if not isinstance(loss, Tensor):
                raise CheckError(f"loss_fn: it gives {type(loss).__name__}; it must give a Tensor")
            # With delay_scale_loss the gradients are divided once, before the update.
            if self.accumulate_steps > 1 and not self._delay_scale_loss:
                loss = loss / self.accumulate_steps
            losses.append(loss)
        return losses

    def _note(self, losses: Sequence[Tensor]) -> Tensor:
        """Keeps the losses of a micro-batch; gives the one that is made small."""
        # Without its graph, which would hold the activations.
        for noted, loss in zip(self.total_loss, losses, strict=True):
            noted.append(loss.detach())
        return losses[self.loss_fn_idx]

    def _backward(self, loss: Tensor) -> None:
        (loss if self.scaler is None else self.scaler.scale(loss)).backward()

    def _result(self, each: bool) -> Tensor | list[Tensor]:
        """The losses of a step: their sum, or each of them, for one loss function or a list."""
        results = [self._result_of(losses, each) for losses in self.total_loss]
        if len(results) == 1:
            return results[0]
        return results

    def _result_of(self, losses: Sequence[Tensor], each: bool) -> Tensor:
        if each:
            return stack([loss.reshape([]) for loss in losses])
        total = losses[0]
        for loss in losses[1:]:
            total = total + loss
        if self._delay_scale_loss:
            return total / self.accumulate_steps
        return total

    @no_grad()
    def _optimizer_step(self) -> None:
        if self._delay_scale_loss:
            for parameter in self._layers.parameters():
                if parameter.grad is not None:
                    # The losses were not divided; see `_losses`.
                    parameter.grad = parameter.grad / self.accumulate_steps
        if self.scaler is None:
            self.optimizer.step()
        else:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        self.optimizer.clear_grad()
        if self.lr_scheduler is not None:
            self.lr_scheduler.step()


class NoPipelineParallel(_Batched):
    """A PipelineLayer of one stage that trains by whole batches.

    Args:
        layers: PipelineLayer with a loss_fn.
        strategy: DistributedStrategy; its pipeline_configs say accumulate_steps, into how many small batches
            a batch is cut, and micro_batch_size.
        hcg: HybridCommunicateGroup.
    Raises:
        TypeError: layers is no PipelineLayer.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> strategy = fleet.DistributedStrategy()
        >>> strategy.pipeline_configs = {"accumulate_steps": 2, "micro_batch_size": 2}
        >>> _ = fleet.init(is_collective=True, strategy=strategy)
        >>> parts = [fleet.meta_parallel.LayerDesc(paddle.nn.Linear, 2, 2), paddle.nn.Linear(2, 1)]
        >>> layers = fleet.meta_parallel.PipelineLayer(parts, 1, loss_fn=paddle.nn.MSELoss())
        >>> groups = fleet.get_hybrid_communicate_group()
        >>> net = fleet.meta_parallel.NoPipelineParallel(layers, strategy, groups)
        >>> sgd = paddle.optimizer.SGD(0.01, parameters=net.parameters())
        >>> batch = [paddle.ones([4, 2]), paddle.zeros([4, 1])]
        >>> first = net.train_batch(batch, sgd)
        >>> bool(net.train_batch(batch, sgd) < first)
        True
    """


class Held:
    """What a stage keeps of a forward step until its backward step.

    Attributes:
        input: what came in, whose Tensors get the gradients that go back.
        output: what went out, whose gradients come back; the loss on the last stage.
    """

    __slots__ = ("input", "output")

    def __init__(self, input: Any, output: Any) -> None:
        self.input: Any = input
        self.output: Any = output


class PipelineParallel(_Batched):
    """A PipelineLayer over several processes, one stage each, that trains by whole batches (1F1B).

    Args:
        layers: PipelineLayer with a loss_fn.
        hcg: HybridCommunicateGroup.
        strategy: DistributedStrategy; its pipeline_configs say accumulate_steps, into how many small batches
            a batch is cut, and micro_batch_size.
    Raises:
        TypeError: layers is no PipelineLayer.

    Attributes:
        num_stages: how many stages there are.
        stage_id: which one this process has.
        num_model_chunks: how many parts of the model a stage has.
        callbacks: PipelineParallelMicroStepCallback, the hooks of all pipelines.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> strategy = fleet.DistributedStrategy()
        >>> strategy.pipeline_configs = {"accumulate_steps": 2, "micro_batch_size": 2}
        >>> _ = fleet.init(is_collective=True, strategy=strategy)
        >>> parts = [fleet.meta_parallel.LayerDesc(paddle.nn.Linear, 2, 2), paddle.nn.Linear(2, 1)]
        >>> layers = fleet.meta_parallel.PipelineLayer(parts, 1, loss_fn=paddle.nn.MSELoss())
        >>> groups = fleet.get_hybrid_communicate_group()
        >>> net = fleet.meta_parallel.PipelineParallel(layers, groups, strategy)
        >>> sgd = paddle.optimizer.SGD(0.01, parameters=net.parameters())
        >>> batch = [paddle.ones([4, 2]), paddle.zeros([4, 1])]
        >>> first = net.train_batch(batch, sgd)
        >>> bool(net.train_batch(batch, sgd) < first)
        True
    """

    _agreed = False  # whether the stages have compared what must be equal on all of them

    def __init__(
        self, layers: Layer, hcg: HybridCommunicateGroup | None, strategy: DistributedStrategy | None
    ) -> None:
        super().__init__(layers, strategy, hcg)
        self.pp_group: Group = hcg.get_pipe_parallel_group()
        self.num_stages: int = hcg.get_pipe_parallel_world_size()
        self.stage_id: int = hcg.get_stage_id()
        self.num_model_chunks: int = layers.sizes(1).chunks
        self._check_sizes()
        self._messages = None
        if self.num_stages > 1:
            self._messages = StageMessages(self.pp_group, self._sizes())
        # {(chunk or part, micro-batch): what a step keeps}
        self._held: dict[tuple[int, int], Any] = {}
        self.callbacks = pipeline_parallel_callbacks_
        # PaddleNLP's trainer asks for these: gradients are reduced after the step, not beside it.
        self._dp_comm_overlap = False
        self._sharding_comm_overlap = False
        self._chunk_2_comm_buffers: dict[int, list[Any]] = {}

    def _prepare_training(self, data: Any, optimizer: Any, lr_scheduler: Any) -> Any:
        """What trainers call before `forward_backward_pipeline`; gives the data.

        Args:
            data: as in forward_backward_pipeline.
            optimizer: Optimizer.
            lr_scheduler: LRScheduler or None.
        """
        self.optimizer = optimizer
        self.lr_scheduler = lr_scheduler
        self._layers.train()
        return data

    def register_hook(self, location: PipelineParallelMicroStepLocations, hook: Callable[..., Any]) -> None:
        """As `register_global_pipeline_parallel_hook`."""
        self.callbacks.register_hook(location, hook)

    @contextlib.contextmanager
    def _forward_hooks(self, step: Step, value: Any) -> Iterator[list[Any]]:
        """Calls hooks before and after a forward step, which puts what it gives into the list."""
        known = {"input_tensor": value, "step_id": step.micro_batch}
        self.callbacks.on_location(PipelineParallelMicroStepLocations.FORWARD_BEGIN, **known)
        given: list[Any] = []
        # Without `finally`: a step that has raised has no result for the hooks behind it.
        yield given
        self.callbacks.on_location(
            PipelineParallelMicroStepLocations.FORWARD_END, **known, output_tensor=given[0]
        )

    @contextlib.contextmanager
    def _backward_hooks(self, step: Step, held: Held, gradients: Any) -> Iterator[None]:
        """Calls hooks before and after a backward step. gradients: of what was given; None for a loss."""
        known = {
            "input_tensor": held.input,
            "output_tensor": held.output,
            "output_tensor_grad": _alike(held.output, gradients),
            "step_id": step.micro_batch,
        }
        self.callbacks.on_location(PipelineParallelMicroStepLocations.BACKWARD_BEGIN, **known)
        yield
        # After the backward step the inputs have their gradients.
        of_input = tuple(tensor.grad for tensor in wanting_gradients(held.input))
        self.callbacks.on_location(
            PipelineParallelMicroStepLocations.BACKWARD_END,
            **known,
            input_tensor_grad=_alike(held.input, of_input),
        )

    def _check_sizes(self) -> Any:
        """Refuses numbers of stages and micro-batches that the schedule does not take."""

    def is_pipeline_first_stage(self, ignore_virtual: bool = False) -> bool:
        """Whether this process has the first layer."""
        return self.stage_id == 0

    def is_pipeline_last_stage(self, ignore_virtual: bool = False) -> bool:
        """Whether this process has the last layer."""
        return self.stage_id == self.num_stages - 1

    def _agree(self) -> None:
        """Compares what must be equal on all stages, before the first batch.

        Raises:
            ValueError: two stages differ; their messages would be taken for others.
        """
        # Once, as it costs messages between all stages.
        if self._agreed:
            return
        own = {
            "accumulate_steps": self.accumulate_steps,
            "micro_batch_size": self.micro_batch_size,
            "schedule": type(self).__name__,
            "chunks of a stage": self.num_model_chunks,
            "bounds of the segments": list(self._layers.segment_parts),
        }
        # Messages do not carry these, and a stage with another plan would wait for ever.
        plans: list[dict[str, Any]] = []
        all_gather_object(plans, own, self.pp_group)
        for name, value in own.items():
            for stage, plan in enumerate(plans):
                if plan[name] != value:
                    raise ValueError(
                        f"{type(self).__name__}: {name}: stage {stage} has {plan[name]}, stage "
                        f"{self.stage_id} has {value}; it must be the same on all stages"
                    )
        self._agreed = True

    def get_static_scheduler(self) -> str:
        """The order of this stage's steps: `f0;f1;b0;b1;` (micro-batches forward and backward), with `_vp1`
        behind the steps of chunk 1 where there are several."""
        return schedules.text(self._schedule(), self.num_model_chunks)

    def _sizes(self) -> Pipeline:
        # The stages may be devices, of which a group of processes knows nothing.
        return self._layers.sizes(self.accumulate_steps)._replace(stages=self.num_stages)

    def _schedule(self) -> list[Step]:
        return schedules.one_forward_one_backward(self._sizes(), self.stage_id)

    def forward_backward_pipeline(
        self, data: Any, scaler: Any = None, return_micro_batch_loss: bool = False
    ) -> Any:
        if self._messages is None:
            return super().forward_backward_pipeline(data, scaler, return_micro_batch_loss)
        self.scaler = scaler
        self._agree()
        self._begin()
        # An earlier step that raised may have left something.
        self._held.clear()
        batches = self._batches(data)
        for step in self._schedule():
            self._run_own_step(step, batches)
        if self.scaler is not None and self.stage_id != self._messages.last_stage:
            # A scaler looks at the precision when it scales: it must decide on all stages as on the last one.
            self.scaler.scale(zeros([]))
        self._layers.allreduce_shared_weight_gradients()
        losses = self._share_losses(return_micro_batch_loss)
        # Messages to other stages may still be on their way; their errors are raised here.
        self._messages.finish()
        return losses

    # `help` shows the text of the base.
    forward_backward_pipeline.__doc__ = _Batched.forward_backward_pipeline.__doc__

    @no_grad()
    def eval_batch(self, data: Any, compute_loss: bool = False, loss_fn_idx: int = 0) -> Any:
        """The mean loss of a batch on all stages, or what the last layer of this process gives for each
        micro-batch.

        Args:
            data: as in forward_backward_pipeline.
            compute_loss: give the mean loss. Default False: a list of outputs.
            loss_fn_idx: int, which of several loss functions must be there.
        """
        if self._messages is None:
            return super().eval_batch(data, compute_loss, loss_fn_idx)
        self._agree()
        self._layers.eval()
        self._choose_loss(loss_fn_idx)
        self._begin()
        batches = self._batches(data)
        outputs = []
        # No backward steps: micro-batches follow each other.
        for step in schedules.forward_only(self._sizes(), self.stage_id):
            output = self._forward(step, self._input(step, batches))
            if self._is_last(step.chunk) and compute_loss:
                self._loss(output, batches.labels(step.micro_batch))
            # Outputs of earlier chunks are only passed on.
            elif step.chunk == self.num_model_chunks - 1:
                outputs.append(output)
        result = self._share_losses(False) if compute_loss else outputs
        self._messages.finish()
        return result

    # steps of a schedule ------------------------------------------------------------------------------------

    def _run_own_step(self, step: Step, batches: MicroBatches) -> None:
        """Runs a step of this stage."""
        if step.kind == schedules.FORWARD:
            self._forward_step(step, batches)
        else:
            self._backward_step(step)

    def _is_last(self, chunk: Any) -> bool:
        """Whether a chunk of this stage has the last layer of the model."""
        return self._messages.neighbour(chunk, 1) is None

    def _input(self, step: Any, batches: Any) -> Any:
        """What a forward step starts with: data, or what the stage before gives."""
        before = self._messages.neighbour(step.chunk, -1)
        if before is None:
            return batches.inputs(step.micro_batch)
        return self._messages.receive(OUTPUT, before[0], step.chunk, step.micro_batch)

    def _forward(self, step: Any, value: Any) -> Any:
        """Runs a chunk, and sends what it gives to the next stage."""
        # A PipelineLayer without chunks takes no chunk_id.
        chunk = None if self.num_model_chunks == 1 else step.chunk
        with self._forward_hooks(step, value) as given:
            output = self._layers(value, chunk_id=chunk)
            given.append(output)
        after = self._messages.neighbour(step.chunk, 1)
        if after is not None:
            self._messages.send(OUTPUT, *after, output)
        return output

    def _forward_step(self, step: Any, batches: Any) -> None:
        value = self._input(step, batches)
        output = self._forward(step, value)
        # The backward pass of the last stage begins at the loss.
        if self._is_last(step.chunk):
            output = self._loss(output, batches.labels(step.micro_batch))
        self._held[step.chunk, step.micro_batch] = Held(value, output)

    def _backward_step(self, step: Any) -> None:
        """Takes the gradients of what a chunk gave, and sends back those of what it got."""
        # Taken out, so that its memory is free after the step.
        held = self._held.pop((step.chunk, step.micro_batch))
        after = self._messages.neighbour(step.chunk, 1)
        received = None
        if after is not None:
            received = self._messages.receive(GRADIENT, after[0], step.chunk, step.micro_batch)
        with self._backward_hooks(step, held, received):
            self._backward_of(held, received)
        before = self._messages.neighbour(step.chunk, -1)
        if before is not None:
            # The stage before waits for one gradient for each Tensor that wants one.
            gradients = tuple(tensor.grad for tensor in wanting_gradients(held.input))
            self._messages.send(GRADIENT, *before, gradients)

    def _backward_of(self, held: Held, gradients: Any) -> None:
        """The backward pass of a step, from a loss where there are no gradients of what was given."""
        if gradients is None:
            self._backward(held.output)
        else:
            backward_from(held.output, gradients)

    def _share_losses(self, each: Any) -> Any:
        """The losses of a step, which the stage with the last part has computed, on all stages."""
        if self.stage_id == self._messages.last_stage:
            result = self._result(each)
        else:
            result = None
        return self._messages.broadcast(result)


class PipelineParallelWithInterleave(PipelineParallel):
    """A PipelineLayer whose stages have several chunks, which take turns: a smaller bubble, more messages.

    Args:
        layers: PipelineLayer with num_virtual_pipeline_stages above 1.
        hcg: HybridCommunicateGroup.
        strategy: DistributedStrategy; accumulate_steps must be twice the number of stages at least.
    Raises:
        AssertionError: there are too few stages, chunks or micro-batches.
    Example:
        >>> fleet = paddle.distributed.fleet
        >>> if paddle.distributed.get_world_size() == 2:  # after fleet.init(), with a pp_degree of 2
        ...     layers = fleet.meta_parallel.PipelineLayer(
        ...         [fleet.meta_parallel.LayerDesc(paddle.nn.Linear, 2, 2) for _ in range(4)],
        ...         2, loss_fn=paddle.nn.MSELoss(), seg_method="layer:Linear",
        ...         num_virtual_pipeline_stages=2)
        ...     net = fleet.meta_parallel.PipelineParallelWithInterleave(
        ...         layers, fleet.get_hybrid_communicate_group(), strategy)
    """

    _least = 2  # micro-batches for each stage

    def _check_sizes(self) -> None:
        if self.num_model_chunks < 2 or self.num_stages < 2:
            raise CheckError(
                f"{type(self).__name__}: got {self.num_stages} stages of {self.num_model_chunks} chunks; "
                "there must be 2 of both at least"
            )
        if self.accumulate_steps < self._least * self.num_stages:
            raise CheckError(
                f"{type(self).__name__}: accumulate_steps: got {self.accumulate_steps}; it must be "
                f"{self._least * self.num_stages} at least for {self.num_stages} stages"
            )

    def _schedule(self) -> list[Step]:
        return schedules.interleaved(self._sizes(), self.stage_id)


class PipelineParallelWithInterleaveFthenB(PipelineParallelWithInterleave):
    """As PipelineParallelWithInterleave, with all forward steps before all backward steps, for fewer
    micro-batches.

    Args:
        layers: PipelineLayer with num_virtual_pipeline_stages above 1.
        hcg: HybridCommunicateGroup.
        strategy: DistributedStrategy; accumulate_steps must be the number of stages at least.
    Raises:
        AssertionError: there are too few stages, chunks or micro-batches.
    Example:
        >>> fleet = paddle.distributed.fleet
        >>> if paddle.distributed.get_world_size() == 2:  # after fleet.init(), with a pp_degree of 2
        ...     layers = fleet.meta_parallel.PipelineLayer(
        ...         [fleet.meta_parallel.LayerDesc(paddle.nn.Linear, 2, 2) for _ in range(4)],
        ...         2, loss_fn=paddle.nn.MSELoss(), seg_method="layer:Linear",
        ...         num_virtual_pipeline_stages=2)
        ...     net = fleet.meta_parallel.PipelineParallelWithInterleaveFthenB(
        ...         layers, fleet.get_hybrid_communicate_group(), strategy)
    """

    _least = 1

    def _schedule(self) -> list[Step]:
        return schedules.forward_then_backward(self._sizes(), self.stage_id)


def _alike(value: Any, gradients: Any) -> Any:
    """Gradients as hooks get them: a Tensor for a Tensor, a tuple for others, None for none."""
    if gradients and isinstance(value, Tensor):
        return gradients[0]
    return gradients or None


def wanting_gradients(value: Any) -> list[Tensor]:
    """Tensors of a nest that have gradients."""
    return [tensor for tensor in tensors_in(value) if not tensor.stop_gradient]


def backward_from(output: Any, gradients: Any) -> None:
    """The backward pass from what a stage gave; None for a Tensor that the next stage has not used."""
    pairs = [
        (tensor, gradient)
        for tensor, gradient in zip(wanting_gradients(output), gradients, strict=True)
        if gradient is not None
    ]
    # Nothing wants a gradient where the next stage used nothing.
    if pairs:
        backward([tensor for tensor, _ in pairs], [gradient for _, gradient in pairs])
