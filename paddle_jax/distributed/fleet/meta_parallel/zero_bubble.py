"""Pipelines whose stages compute the gradients of weights while they would wait (ZB-H1)."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.execution.trace import flatten_tensors, trace
from paddle_jax._core.lazy.transfer import to_jax_array
from paddle_jax._core.tensors.tensor import Tensor, read_raw, wrap
from paddle_jax.autograd import backward
from paddle_jax.distributed import schedules
from paddle_jax.distributed.fleet.meta_parallel.device_pipeline import DevicePipeline
from paddle_jax.distributed.fleet.meta_parallel.pipeline_parallel import PipelineParallel
from paddle_jax.distributed.fleet.meta_parallel.pp_utils.p2p_communication import GRADIENT, OUTPUT
from paddle_jax.distributed.fleet.meta_parallel.split_backward import SplitBackward, split_backward
from paddle_jax.distributed.schedules import BACKWARD, FORWARD, Step

__all__ = []


class _Split(NamedTuple):
    """What a part keeps of a forward step.

    Attributes:
        programs: SplitBackward of the part.
        residuals: arrays that the backward pass needs.
        results: arrays whose gradients come back.
        weights: Tensors whose gradients the weight step gives.
    """

    programs: SplitBackward
    residuals: list[Any]
    results: list[Any]
    weights: list[Tensor]


class _SplitSteps(PipelineParallel):
    """Steps of a pipeline whose backward pass comes in two halves.

    A key is a part of the model and a micro-batch.
    """

    def _split_forward(
        self, key: tuple[int, int], value: Any, run_part: Callable[[Any], Any], labels: Sequence[Any] | None
    ) -> Any:
        """Runs a part inside a trace, and keeps what the two halves of its backward pass need.

        Args:
            key: where it is kept.
            value: what the part gets.
            run_part: function of such a value.
            labels: [labels] for the last part, whose losses are noted; None for others.
        Returns:
            What the part gives; None for the last part.
        """
        if not self.callbacks.is_empty():
            raise NotImplementedError(
                "PipelineParallel.register_hook: the steps of schedule_mode ZBH1 are compiled, and call no "
                "hooks; use 1F1B, or register none"
            )
        operands, rebuild = flatten_tensors(value)
        flags = []

        def run(*tensors: Any) -> Any:
            for tensor, operand in zip(tensors, operands, strict=True):
                # Operands inside the trace are new Tensors, which need the flags of the real ones.
                tensor.stop_gradient = operand.stop_gradient
            output = run_part(rebuild(list(tensors)))
            if labels is not None:
                output = self._losses(output, labels[0])
            flags[:] = [tensor.stop_gradient for tensor in flatten_tensors(output)[0]]
            return output

        arrays = [to_jax_array(read_raw(operand)) for operand in operands]
        traced = trace(run, [jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays])
        wanted = [place for place, operand in enumerate(operands) if not operand.stop_gradient]
        weights = [place for place, tensor in enumerate(traced.taken) if not tensor.stop_gradient]
        floating = [place for place, stopped in enumerate(flags) if not stopped]
        # What the part takes from outside comes behind its operands.
        programs = split_backward(traced, wanted, [len(arrays) + place for place in weights], floating)
        taken = [to_jax_array(read_raw(tensor)) for tensor in traced.taken]
        found, residuals = programs.forward([*arrays, *taken])
        results = [wrap(array, stopped) for array, stopped in zip(found, flags, strict=False)]
        # Buffers that the part has changed, such as running statistics.
        for tensor, array in zip(traced.changed, found[len(flags) :], strict=True):
            tensor._rebind(array)
        # Cotangents begin at these results alone.
        kept = [found[place] for place in floating]
        self._held[key] = _Split(programs, residuals, kept, [traced.taken[place] for place in weights])
        if labels is None:
            return traced.rebuild(results)
        self._note(results)
        return None

    def _split_backward(self, key: tuple[int, int], given: Any) -> tuple[Any, ...]:
        """The gradients that go back to the part before.

        Args:
            key: as in `_split_forward`.
            given: gradients of what the part gave; None for the last part, which begins at its loss.
        """
        held = self._held[key]
        if given is None:
            # Losses of other functions are reported only, and have no gradient.
            cotangents = [
                self._first_cotangent(array) if place == self.loss_fn_idx else jnp.zeros_like(array)
                for place, array in enumerate(held.results)
            ]
        else:
            cotangents = [
                jnp.zeros_like(array) if tensor is None else to_jax_array(read_raw(tensor))
                for tensor, array in zip(given, held.results, strict=True)
            ]
        gradients, kept = held.programs.of_inputs(held.residuals, cotangents)
        # residuals that only the inputs needed are free from here on
        self._held[key] = held._replace(residuals=kept, results=[])
        return tuple(wrap(array) for array in gradients)

    def _first_cotangent(self, loss: Any) -> Any:
        """What the backward pass of the chosen loss starts with: 1, or the scale of a GradScaler."""
        one = jnp.ones_like(loss)
        if self.scaler is None:
            return one
        # the scale has shape [1]
        return to_jax_array(read_raw(self.scaler.scale(wrap(one)))).reshape(loss.shape)

    def _weight_step(self, key: tuple[int, int]) -> None:
        """Adds the gradients of the weights of a part."""
        held = self._held.pop(key)
        gradients = held.programs.of_weights(held.residuals)
        if gradients:
            # a pass begins at results of operations, not at Parameters; hooks of Parameters run as ever
            backward([tensor * 1 for tensor in held.weights], [wrap(array) for array in gradients])


class ZeroBubblePipeline(_SplitSteps, DevicePipeline):
    """A DevicePipeline whose backward steps give the gradients that go back, and whose weight steps fill the
    time in which a stage would wait.

    Args:
        layers: PipelineLayer with a loss_fn, and one chunk a stage.
        hcg: HybridCommunicateGroup.
        strategy: DistributedStrategy.
    """

    def _run_step(self, stage: int, step: Step, batches: Any) -> None:
        part = self._number(stage, step)
        key = (part, step.micro_batch)
        is_last = part == self._parts - 1
        if step.kind == FORWARD:
            value = self._received(part, step, batches)
            # In a list: None says that this is not the last part, and labels may be None.
            labels = [self._labels(batches, step)] if is_last else None
            run_part = ft.partial(self._layers.run_part, part)
            with self._layers.weights_at(part):
                output = self._split_forward(key, value, run_part, labels)
            if not is_last:
                self._send(OUTPUT, part + 1, step, output)
        elif step.kind == BACKWARD:
            given = None if is_last else self._arrived.pop((GRADIENT, part, step.micro_batch))
            gradients = self._split_backward(key, given)
            if part > 0:
                self._send(GRADIENT, part - 1, step, gradients)
        else:
            self._weight_step(key)


class ProcessZeroBubblePipeline(_SplitSteps):
    """A PipelineParallel over processes whose backward steps give the gradients that go back, and whose
    weight steps fill the time in which a stage would wait.

    Args:
        layers: PipelineLayer with a loss_fn, and one chunk a stage.
        hcg: HybridCommunicateGroup.
        strategy: DistributedStrategy.
    Raises:
        AssertionError: a stage has several chunks.
    """

    def _check_sizes(self) -> None:
        if self.num_model_chunks > 1:
            raise CheckError(
                f"{type(self).__name__}: schedule_mode: got 'ZBH1' with {self.num_model_chunks} chunks a "
                "stage; it takes one, leave num_virtual_pipeline_stages out"
            )

    def _schedule(self) -> list[Step]:
        return schedules.zero_bubble(self._sizes(), self.stage_id)

    def _run_own_step(self, step: Step, batches: Any) -> None:
        key = (step.chunk, step.micro_batch)
        after = self._messages.neighbour(step.chunk, 1)
        before = self._messages.neighbour(step.chunk, -1)
        if step.kind == FORWARD:
            labels = [batches.labels(step.micro_batch)] if after is None else None
            output = self._split_forward(key, self._input(step, batches), self._layers, labels)
            if after is not None:
                self._messages.send(OUTPUT, *after, output)
        elif step.kind == BACKWARD:
            given = None
            if after is not None:
                given = self._messages.receive(GRADIENT, after[0], step.chunk, step.micro_batch)
            gradients = self._split_backward(key, given)
            if before is not None:
                self._messages.send(GRADIENT, *before, gradients)
        else:
            self._weight_step(key)
