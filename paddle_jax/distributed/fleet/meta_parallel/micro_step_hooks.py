"""Functions that a program has called before and after the steps of a pipeline."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

__all__ = []


class PipelineParallelMicroStepLocations(enum.Enum):
    """When a hook is called: before or after the forward or backward step of a micro-batch.

    Args:
        value: str, that of a member.
    Example:
        >>> paddle.distributed.fleet.meta_parallel.PipelineParallelMicroStepLocations.FORWARD_END.value
        'forward_end'
    """

    FORWARD_BEGIN = "forward_begin"
    FORWARD_END = "forward_end"
    BACKWARD_BEGIN = "backward_begin"
    BACKWARD_END = "backward_end"


class PipelineParallelMicroStepCallback:
    """The hooks of all pipelines of a program.

    Attributes:
        hooks: {location: list of functions}.
    """

    def __init__(self) -> None:
        self.hooks: dict[PipelineParallelMicroStepLocations, list[Callable[..., Any]]] = {
            location: [] for location in PipelineParallelMicroStepLocations
        }

    def register_hook(self, location: PipelineParallelMicroStepLocations, hook: Callable[..., Any]) -> None:
        """See `register_global_pipeline_parallel_hook`."""
        self._check(location)
        self.hooks[location].append(hook)

    def on_location(self, location: PipelineParallelMicroStepLocations, **known: Any) -> None:
        """Calls the hooks of a location with what is known there."""
        self._check(location)
        for hook in self.hooks[location]:
            hook(**known)

    def is_empty(self) -> bool:
        """Whether there are no hooks."""
        return not any(self.hooks.values())

    def _check(self, location: Any) -> None:
        if location not in self.hooks:
            names = ", ".join(one.name for one in PipelineParallelMicroStepLocations)
            raise AssertionError(
                f"register_hook: location: got {location!r}; it must be one of "
                f"PipelineParallelMicroStepLocations: {names}"
            )


pipeline_parallel_callbacks_: PipelineParallelMicroStepCallback = PipelineParallelMicroStepCallback()


def register_global_pipeline_parallel_hook(
    location: PipelineParallelMicroStepLocations, hook: Callable[..., Any]
) -> None:
    """Has a function called at each step of all pipelines of several stages.

    Args:
        location: PipelineParallelMicroStepLocations, when.
        hook: function of keywords: `input_tensor` and `step_id`, the number of the micro-batch; then what is
            known of `output_tensor`, `output_tensor_grad` and `input_tensor_grad`.
    Raises:
        AssertionError: there is no such location.
    Differs from Paddle: the schedule ZBH1 refuses hooks, as its steps are compiled.
    Example:
        >>> parallel = paddle.distributed.fleet.meta_parallel
        >>> parallel.PipelineParallelMicroStepLocations("forward_end").name
        'FORWARD_END'
    """
    pipeline_parallel_callbacks_.register_hook(location, hook)
