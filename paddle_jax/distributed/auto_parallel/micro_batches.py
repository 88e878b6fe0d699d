"""Steps of a model whose layers lie on several meshes, a batch in several small ones: `Strategy.pipeline`.

Each micro-batch runs through the whole model, in the order of the schedule of the first stage. JAX does not
wait for results, so each device works on its part of the micro-batches while others work on other parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distributed import schedules
from paddle_jax.distributed.schedules import FORWARD, Pipeline
from paddle_jax.nn import Layer
from paddle_jax.tensor.joining import concat

_KINDS = {
    "1F1B": schedules.one_forward_one_backward,
    # A micro-batch runs through the whole model at once, all chunks included.
    "VPP": schedules.one_forward_one_backward,
    "FTHENB": schedules.forward_then_backward,
}


class MicroBatchSteps:
    """Training steps in micro-batches.

    Args:
        network: Layer whose Parameters lie on the meshes of the stages.
        config: the section `pipeline` of a Strategy.
    Raises:
        ValueError: there is no such schedule; pp_degree or vpp_degree are not those of the model.

    Attributes:
        stages: on how many meshes the Parameters lie.
    """

    def __init__(self, network: Layer, config: Any) -> None:
        self._config = config
        meshes = [p.process_mesh for p in network.parameters() if p.is_dist()]
        # Parameters that are on one device make one stage.
        self.stages: int = len({tuple(mesh.process_ids) for mesh in meshes}) or 1
        name = str(config.schedule_mode).replace("-", "").upper()
        if name not in _KINDS:
            raise ValueError(
                f"Strategy.pipeline: schedule_mode: got {config.schedule_mode!r}; allowed are "
                "'1F1B', 'FThenB' and 'VPP'"
            )
        self._kind = _KINDS[name]
        if config.pp_degree not in (1, self.stages):
            raise ValueError(
                f"Strategy.pipeline: pp_degree: got {config.pp_degree}; the model lies on {self.stages} "
                "stages; cut it with parallelize or shard_tensor"
            )
        # Parameters come in the order of the model: each change of the mesh begins a part.
        parts = 1 + sum(one != other for one, other in zip(meshes, meshes[1:], strict=False))
        if config.vpp_degree > 1 and parts != self.stages * config.vpp_degree:
            raise ValueError(
                f"Strategy.pipeline: vpp_degree: got {config.vpp_degree}; the model has {parts} parts on "
                f"{self.stages} stages; give split_spec of parallelize a cut between each two parts"
            )

    def train(
        self,
        measured: Callable[..., Any],
        backward: Callable[..., Any],
        arguments: tuple[Any, ...],
        with_outputs: bool = False,
    ) -> tuple[Tensor, list[Any]]:
        """Adds the gradients of the mean loss of the micro-batches.

        Args:
            measured: (arguments of a micro-batch) -> (loss, list of outputs).
            backward: called with the part of the loss of a micro-batch.
            arguments: Tensors of the whole batch.
            with_outputs: give the outputs of the whole batch, too.
        Returns:
            The mean loss, and the outputs.
        Raises:
            ValueError: the rows do not divide into the micro-batches.
        """
        count = self._count(arguments)
        losses = {}
        parts = {}
        results = {}
        for step in self._kind(Pipeline(self.stages, count), 0):
            number = step.micro_batch
            if step.kind == FORWARD:
                loss, outputs = measured(*[_piece(one, number, count) for one in arguments])
                # So the gradients of the parts add up to those of the mean.
                parts[number] = loss / count
                # The mean that the caller gets holds no graph of a micro-batch.
                losses[number] = parts[number].detach()
                results[number] = outputs
            else:
                backward(parts.pop(number))
                # Outputs of all micro-batches together would need the memory of the whole batch.
                if not with_outputs:
                    del results[number]
        total = losses[0]
        for number in range(1, count):
            total = total + losses[number]
        if not with_outputs:
            return total, []
        each = [results[number] for number in range(count)]
        return total, [concat(list(rows)) for rows in zip(*each, strict=True)]

    def _count(self, arguments: Any) -> Any:
        """How many micro-batches a batch makes."""
        rows = next(one.shape[0] for one in arguments if isinstance(one, Tensor))
        size = self._config.micro_batch_size
        count = self._config.accumulate_steps
        # accumulate_steps is at its default: the size of a micro-batch decides.
        if count == 1 and size > 1:
            count = rows // size
        if count < 1 or rows % count or (size > 1 and rows % (size * count)):
            raise ValueError(
                f"Strategy.pipeline: got a batch of {rows} rows; accumulate_steps {count} and "
                f"micro_batch_size {size} must divide it"
            )
        return count


def _piece(value: Any, number: Any, count: Any) -> Any:
    """The part of a micro-batch of a Tensor of all rows."""
    if not isinstance(value, Tensor):
        return value
    size = value.shape[0] // count
    return value[number * size : (number + 1) * size].detach()
