"""What trainers put round the step of an optimizer."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

from paddle_jax.tensor.creation import zeros_like

__all__ = []


def _patch_grads_for_step(
    amp_master_grad: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of `step` of an optimizer: parameters without a gradient get zeros before it.

    Args:
        amp_master_grad: whether these zeros are float32. Default: they have the dtype of the parameter.
    """

    def decorator(step_method: Callable[..., Any]) -> Callable[..., Any]:
        @ft.wraps(step_method)
        def step(self: Any, *args: Any, **kwargs: Any) -> Any:
            for parameter in _parameters(self):
                if not parameter.stop_gradient and parameter.grad is None:
                    _set_zeros(parameter, amp_master_grad)
            return step_method(self, *args, **kwargs)

        return step

    return decorator


def _parameters(optimizer: Any) -> list[Any]:
    """The parameters of an optimizer, also those of groups."""
    parameters = optimizer._parameter_list
    if not isinstance(parameters[0], dict):
        return parameters
    return [one for group in optimizer._param_groups for one in group["params"]]


def _set_zeros(parameter: Any, is_wide: bool) -> None:
    # Trainers of mixed precision add up in float32 beside the gradient.
    if hasattr(parameter, "main_grad"):
        parameter.main_grad = zeros_like(parameter, dtype="float32")
    else:
        parameter.grad = zeros_like(parameter, dtype="float32" if is_wide else parameter.dtype)
