"""Pipelines in one process whose stages compute the gradients of weights while they would wait (ZB-H1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from paddle_jax._core.execution.trace import flatten_tensors, trace
from paddle_jax._core.lazy.transfer import to_jax_array
from paddle_jax._core.tensors.tensor import Tensor, read_raw, wrap
from paddle_jax.autograd import backward
from paddle_jax.distributed.fleet.meta_parallel.device_pipeline import DevicePipeline
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


class ZeroBubblePipeline(DevicePipeline):
    """A DevicePipeline whose backward steps give the gradients that go back, and whose weight steps fill the
    time in which a stage would wait.

    Args:
        layers: PipelineLayer with a loss_fn, and one chunk a stage.
        hcg: HybridCommunicateGroup.
        strategy: DistributedStrategy.
    """

    def _run_step(self, stage: int, step: Step, batches: Any) -> None:
        part = self._number(stage, step)
        if step.kind == FORWARD:
            self._split_forward(part, step, batches)
        elif step.kind == BACKWARD:
            self._split_backward(part, step)
        else:
            self._weight_step(part, step)

    def _split_forward(self, part: Any, step: Any, batches: Any) -> None:
        """Runs a part inside a trace, and keeps what the two halves of its backward pass need."""
        value = self._received(part, step, batches)
        is_last = part == self._parts - 1
        labels = self._labels(batches, step) if is_last else None
        operands, rebuild = flatten_tensors(value)
        flags = []

        def run(*tensors: Any) -> Any:
            for tensor, operand in zip(tensors, operands, strict=True):
                tensor.stop_gradient = operand.stop_gradient
            output = self._layers.run_part(part, rebuild(list(tensors)))
            if is_last:
                output = self._losses(output, labels)
            flags[:] = [tensor.stop_gradient for tensor in flatten_tensors(output)[0]]
            return output

        arrays = [to_jax_array(read_raw(operand)) for operand in operands]
        with self._layers.weights_at(part):
            traced = trace(run, [jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays])
        wanted = [place for place, operand in enumerate(operands) if not operand.stop_gradient]
        weights = [place for place, tensor in enumerate(traced.taken) if not tensor.stop_gradient]
        floating = [place for place, stopped in enumerate(flags) if not stopped]
        programs = split_backward(traced, wanted, [len(arrays) + place for place in weights], floating)
        taken = [to_jax_array(read_raw(tensor)) for tensor in traced.taken]
        found, residuals = programs.forward([*arrays, *taken])
        results = [wrap(array, stopped) for array, stopped in zip(found, flags, strict=False)]
        for tensor, array in zip(traced.changed, found[len(flags) :], strict=True):
            tensor._rebind(array)
        kept = [found[place] for place in floating]
        self._held[part, step.micro_batch] = _Split(
            programs, residuals, kept, [traced.taken[place] for place in weights]
        )
        if is_last:
            self._note(results)
        else:
            self._send(OUTPUT, part + 1, step, traced.rebuild(results))

    def _split_backward(self, part: Any, step: Any) -> None:
        """Gives the gradients that go back to the part before."""
        held = self._held[part, step.micro_batch]
        if part == self._parts - 1:
            cotangents = [
                self._first_cotangent(array) if place == self.loss_fn_idx else jnp.zeros_like(array)
                for place, array in enumerate(held.results)
            ]
        else:
            given = self._arrived.pop((GRADIENT, part, step.micro_batch))
            cotangents = [
                jnp.zeros_like(array) if tensor is None else to_jax_array(read_raw(tensor))
                for tensor, array in zip(given, held.results, strict=True)
            ]
        gradients, kept = held.programs.of_inputs(held.residuals, cotangents)
        # residuals that only the inputs needed are free from here on
        self._held[part, step.micro_batch] = held._replace(residuals=kept, results=[])
        if part > 0:
            self._send(GRADIENT, part - 1, step, tuple(wrap(array) for array in gradients))

    def _first_cotangent(self, loss: Any) -> Any:
        """What the backward pass of the chosen loss starts with: 1, or the scale of a GradScaler."""
        one = jnp.ones_like(loss)
        if self.scaler is None:
            return one
        # the scale has shape [1]
        return to_jax_array(read_raw(self.scaler.scale(wrap(one)))).reshape(loss.shape)

    def _weight_step(self, part: Any, step: Any) -> None:
        """Adds the gradients of the weights of a part."""
        held = self._held.pop((part, step.micro_batch))
        gradients = held.programs.of_weights(held.residuals)
        if gradients:
            # a pass begins at results of operations, not at Parameters; hooks of Parameters run as ever
            backward([tensor * 1 for tensor in held.weights], [wrap(array) for array in gradients])
