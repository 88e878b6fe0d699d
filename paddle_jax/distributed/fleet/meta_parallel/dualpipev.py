"""Pipelines whose stages have two parts of the model, which run through the stages as a V (DualPipeV)."""

from __future__ import annotations

from paddle_jax._core.base.errors import CheckError
from paddle_jax.distributed import schedules
from paddle_jax.distributed.fleet.meta_parallel.micro_batches import MicroBatches
from paddle_jax.distributed.fleet.meta_parallel.pipeline_parallel import PipelineParallel
from paddle_jax.distributed.fleet.meta_parallel.zero_bubble_utils import WeightGradStore
from paddle_jax.distributed.schedules import BACKWARD, WEIGHT, Step

__all__ = []


class DualPipeVParallel(PipelineParallel):
    """A PipelineLayer with use_dualpipev, over several processes, that trains by whole batches.

    The first stage has the first and the last part of the model, so it needs inputs and labels. Where a stage
    would wait, it computes gradients of weights that layers such as `SplitBWLinear` have put off.

    Args:
        layers: PipelineLayer with use_dualpipev and a loss_fn.
        hcg: HybridCommunicateGroup.
        strategy: DistributedStrategy; accumulate_steps must be twice the number of stages at least.
    Raises:
        AssertionError: there are too few micro-batches, or the PipelineLayer has no use_dualpipev.
    Example:
        >>> fleet = paddle.distributed.fleet
        >>> if paddle.distributed.get_world_size() == 2:  # after fleet.init(), with a pp_degree of 2
        ...     layers = fleet.meta_parallel.PipelineLayer(
        ...         [fleet.meta_parallel.LayerDesc(paddle.nn.Linear, 2, 2) for _ in range(4)],
        ...         2, loss_fn=paddle.nn.MSELoss(), use_dualpipev=True)
        ...     net = fleet.meta_parallel.DualPipeVParallel(
        ...         layers, fleet.get_hybrid_communicate_group(), strategy)
    """

    def _check_sizes(self) -> None:
        if not self._sizes().is_folded:
            raise CheckError("DualPipeVParallel: layers: got a PipelineLayer without use_dualpipev; set it")
        schedule = self._schedule()
        # Backward steps whose gradients of weights come later.
        self._split = {(step.chunk, step.micro_batch) for step in schedule if step.kind == WEIGHT}

    def _schedule(self) -> list[Step]:
        return schedules.dual_pipe_v(self._sizes(), self.stage_id)

    def _begin(self) -> None:
        super()._begin()
        # An earlier step that raised may have left something.
        WeightGradStore.clear()
        WeightGradStore.enabled = False

    def _run_own_step(self, step: Step, batches: MicroBatches) -> None:
        if step.kind == WEIGHT:
            WeightGradStore.pop()
            return
        is_split = step.kind == BACKWARD and (step.chunk, step.micro_batch) in self._split
        WeightGradStore.enabled = is_split
        try:
            super()._run_own_step(step, batches)
        finally:
            WeightGradStore.enabled = False
        if is_split:
            WeightGradStore.flush()
