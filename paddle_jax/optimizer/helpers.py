"""Small helpers of the optimizers: checks of arguments, zeros for gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.state import state
from paddle_jax._core.lazy.transfer import zeros_like
from paddle_jax._core.tensors.held_values import holds_symbol
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.nn.clip import ClipGradBase
from paddle_jax.optimizer.stack import new_state

if TYPE_CHECKING:
    from paddle_jax.optimizer.group import _Group


def zeros_for(group: _Group, raw: Any) -> Any:
    """Zeros for a gradient; at once, the equal ones of a group share one array."""
    # In a recorded step zeros are a constant of the program.
    if state.segment is not None or not state.frame.eager:
        return zeros_like(raw)
    key = raw.shape, raw.dtype
    if key not in group.zeros:
        group.zeros[key] = new_state(raw.shape, 0, raw.dtype)._value
    return group.zeros[key]


def require_parameters(name: str, groups: Sequence[_Group]) -> None:
    """Refuses a step that has nothing to update, such as that of an optimizer made before its layers.

    Raises:
        AssertionError: no group has a parameter, and a static program is recorded.
        IndexError: no group has a parameter.
    """
    if not any(group.params for group in groups):
        if state.frame.recording:
            raise AssertionError(f"{name}.step: it is called in static mode; call {name}.minimize(loss)")
        raise IndexError(f"{name}.step: parameters: got an empty list; pass layer.parameters()")


def in_program(tensor: Any) -> bool:
    """Whether a Tensor is a Variable of a static program."""
    return isinstance(tensor, Tensor) and holds_symbol(tensor)


def is_rule(clip: Any) -> bool:
    """Whether the compiled update can do the clipping; a user's own `__call__` or `_dygraph_clip`
    is called instead."""
    return (
        hasattr(clip, "rule")
        and type(clip).__call__ is ClipGradBase.__call__
        and type(clip)._dygraph_clip is ClipGradBase._dygraph_clip
    )


def checked(owner: str, argument: str, value: Any, test: Callable[[Any], bool], allowed: str) -> Any:
    """The value, when it passes the test; ValueError otherwise, AssertionError for None."""
    if value is None:
        raise AssertionError(f"{owner}: {argument}: got None; it must be {allowed}.")
    if not test(value):
        raise ValueError(f"{owner}: {argument}: got {value}; it must be {allowed}.")
    return value
