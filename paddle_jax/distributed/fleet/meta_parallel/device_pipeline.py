"""Pipelines in one process that drives several devices: the stages lie on parts of the mesh, and one thread
runs the schedules of all of them. Devices compute at the same time, as JAX does not wait for results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax.distributed import schedules
from paddle_jax.distributed.auto_parallel.layout import DENSE
from paddle_jax.distributed.auto_parallel.reshard import reshard_tensor
from paddle_jax.distributed.fleet.meta_parallel.pipeline_parallel import (
    Held,
    PipelineParallel,
    wanting_gradients,
)
from paddle_jax.distributed.fleet.meta_parallel.pp_utils.p2p_communication import GRADIENT, OUTPUT
from paddle_jax.distributed.schedules import BACKWARD, FORWARD, Pipeline, Step

__all__ = []

_KINDS = {
    "1f1b": schedules.one_forward_one_backward,
    "fthenb": schedules.forward_then_backward,
    "zbh1": schedules.zero_bubble,
}


class DevicePipeline(PipelineParallel):
    """A PipelineLayer whose stages lie on devices of this process, and that trains by whole batches.

    A batch has `micro_batch_size` times `accumulate_steps` rows for each of the dp x sharding replicas.

    Args:
        layers: PipelineLayer with a loss_fn.
        hcg: HybridCommunicateGroup.
        strategy: DistributedStrategy; its pipeline_configs say accumulate_steps, micro_batch_size and
            schedule_mode ("1F1B", "FThenB" or "ZBH1"). A PipelineLayer with use_dualpipev takes DualPipeV.
    Raises:
        TypeError: layers is no PipelineLayer. AssertionError: there are too few micro-batches for several
            chunks a stage, or there is no such schedule.

    Attributes:
        num_stages: how many stages there are.
        num_model_chunks: how many parts of the model each stage has.
    """

    def __init__(self, layers: Any, hcg: Any, strategy: Any) -> None:
        super().__init__(layers, hcg, strategy)
        self.num_stages = self._grid.stages
        self._kind = _schedule_of(strategy.pipeline_configs["schedule_mode"], self._sizes())
        self._parts = self.num_stages * self.num_model_chunks
        # {(OUTPUT or GRADIENT, part that needs it, micro-batch): value}
        self._arrived: dict[tuple[str, int, int], Any] = {}

    def is_pipeline_first_stage(self, ignore_virtual: bool = False) -> bool:
        """True: this process has all layers."""
        return True

    def is_pipeline_last_stage(self, ignore_virtual: bool = False) -> bool:
        """True: this process has all layers."""
        return True

    def get_static_scheduler(self) -> str:
        """The order of the steps of each stage, a line for each: `f0;f1;b0;b1;`."""
        lists = [self._kind(self._sizes(), stage) for stage in range(self.num_stages)]
        return "\n".join(schedules.text(steps, self.num_model_chunks) for steps in lists)

    def forward_backward_pipeline(
        self, data: Any, scaler: Any = None, return_micro_batch_loss: bool = False
    ) -> Any:
        self.scaler = scaler
        self._begin()
        self._forget()
        batches = self._batches(data)
        for stage, step in self._steps(self._kind):
            self._run_step(stage, step, batches)
        return self._result(return_micro_batch_loss)

    forward_backward_pipeline.__doc__ = PipelineParallel.forward_backward_pipeline.__doc__

    @no_grad()
    def eval_batch(self, data: Any, compute_loss: bool = False, loss_fn_idx: int = 0) -> Any:
        self._layers.eval()
        self._choose_loss(loss_fn_idx)
        self._begin()
        self._forget()
        batches = self._batches(data)
        outputs = []
        for stage, step in self._steps(schedules.forward_only):
            _, output = self._forward_part(stage, step, batches)
            # Only what the last part gives is a result.
            if self._number(stage, step) < self._parts - 1:
                continue
            if compute_loss:
                self._loss(output, self._labels(batches, step))
            else:
                outputs.append(output)
        return self._result(False) if compute_loss else outputs

    eval_batch.__doc__ = PipelineParallel.eval_batch.__doc__

    # steps of the schedules ---------------------------------------------------------------------------------

    def _run_step(self, stage: int, step: Step, batches: Any) -> None:
        if step.kind == BACKWARD:
            self._backward_part(stage, step)
        # The backward steps of DualPipeV give the gradients of weights, too.
        if step.kind != FORWARD:
            return
        value, output = self._forward_part(stage, step, batches)
        if self._number(stage, step) == self._parts - 1:
            output = self._loss(output, self._labels(batches, step))
        self._held[self._number(stage, step), step.micro_batch] = Held(value, output)

    def _forget(self) -> None:
        """Drops what an earlier call that raised has left."""
        self._held.clear()
        self._arrived.clear()

    def _steps(self, kind: Any) -> Iterator[tuple[int, Step]]:
        """(stage, Step) of all stages, in an order that has what each needs."""
        sizes = self._sizes()
        return schedules.all_stages(sizes, [kind(sizes, stage) for stage in range(self.num_stages)])

    def _number(self, stage: int, step: Step) -> int:
        return schedules.part_of(self._sizes(), stage, step.chunk)

    def _labels(self, batches: Any, step: Any) -> Any:
        return self._grid.batch(batches.labels(step.micro_batch), self._layers.stage_of(self._parts - 1))

    def _received(self, part: Any, step: Any, batches: Any) -> Any:
        """What a part of the model gets: data, or what the part before has given."""
        if part == 0:
            return self._inputs(batches, step.micro_batch)
        return self._arrived.pop((OUTPUT, part, step.micro_batch))

    def _forward_part(self, stage: Any, step: Any, batches: Any) -> tuple[Any, Any]:
        """(what a part of the model gets, what it gives); the latter goes to the devices of the next part."""
        part = self._number(stage, step)
        value = self._received(part, step, batches)
        with self._forward_hooks(step, value) as given:
            output = self._layers.run_part(part, value)
            given.append(output)
        if part < self._parts - 1:
            self._send(OUTPUT, part + 1, step, output)
        return value, output

    def _backward_part(self, stage: Any, step: Any) -> None:
        """Takes the gradients of what a part gave, and hands those of what it got to the part before."""
        part = self._number(stage, step)
        held = self._held.pop((part, step.micro_batch))
        received = None
        if part < self._parts - 1:
            received = self._arrived.pop((GRADIENT, part, step.micro_batch))
        with self._backward_hooks(step, held, received):
            self._backward_of(held, received)
        if part > 0:
            gradients = tuple(tensor.grad for tensor in wanting_gradients(held.input))
            self._send(GRADIENT, part - 1, step, gradients)

    def _send(self, kind: Any, part: Any, step: Any, value: Any) -> None:
        moved = self._grid.leaves(value, self._layers.stage_of(part))
        self._arrived[kind, part, step.micro_batch] = moved

    def _result_of(self, losses: Any, each: Any) -> Any:
        """On one device, as programs mix losses with Tensors of their own."""
        return reshard_tensor(super()._result_of(losses, each), DENSE)


def _schedule_of(mode: str, sizes: Pipeline) -> Any:
    """The function that makes the schedule of a stage."""
    if sizes.is_folded:
        return schedules.dual_pipe_v
    kind = _KINDS.get(plain_mode(mode))
    if kind is None:
        raise CheckError(
            f"DevicePipeline: schedule_mode: got {mode!r}; allowed are '1F1B', 'FThenB' and 'ZBH1'"
        )
    if sizes.chunks == 1:
        return kind
    if kind is schedules.zero_bubble:
        raise CheckError(
            f"DevicePipeline: schedule_mode: got {mode!r} with {sizes.chunks} chunks a stage; it takes one, "
            "leave num_virtual_pipeline_stages out"
        )
    if sizes.micro_batches < sizes.stages:
        raise CheckError(
            f"DevicePipeline: accumulate_steps: got {sizes.micro_batches}; a pipeline of {sizes.stages} "
            f"stages of {sizes.chunks} chunks needs {sizes.stages} micro-batches at least"
        )
    # With fewer micro-batches the stages would wait for each other in between.
    if sizes.micro_batches >= 2 * sizes.stages:
        return schedules.interleaved
    return schedules.forward_then_backward


def plain_mode(mode: str) -> str:
    """A schedule_mode without hyphens, in small letters."""
    return mode.replace("-", "").lower()
