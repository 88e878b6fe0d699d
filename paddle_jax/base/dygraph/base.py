"""The dynamic mode as libraries take it from `paddle.base.dygraph.base`."""

from __future__ import annotations

import contextlib
import functools as ft
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import unique_name
from paddle_jax._core.base.state import local
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors import place as places
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.capture.capture import Capture
from paddle_jax.framework.mode import disable_static as enable_dygraph
from paddle_jax.framework.mode import enable_static as disable_dygraph
from paddle_jax.framework.mode import in_dynamic_mode as enabled
from paddle_jax.framework.mode import switched
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike


no_grad_ = no_grad


@contextlib.contextmanager
def guard(place: Any = None) -> Iterator[None]:
    """Context in which operations run when they are called, also in static mode. Names are counted
    from zero inside.

    Args:
        place: device that is chosen for good, if given.
    Returns:
        Context manager.
    Example:
        >>> with paddle.base.dygraph.guard():
        ...     paddle.ones([1]).item()
        1.0
    """
    if place is not None:
        places.set_device(place)
    with unique_name.guard(), switched(dynamic=True):
        yield


def to_variable(
    value: Any, name: str | None = None, zero_copy: Any = None, dtype: DTypeLike | None = None
) -> Tensor:
    """A Tensor of an array: an older name of `to_tensor`.

    Differs from Paddle: 3.3 has dropped it; older programs call it.

    Args:
        value: array, number or Tensor.
        name: str, the name of the Tensor.
        zero_copy: accepted.
        dtype: dtype of the result.
    Returns:
        Tensor.
    Example:
        >>> paddle.base.dygraph.to_variable(np.ones([2])).tolist()
        [1.0, 1.0]
    """
    if isinstance(value, Tensor):
        return value
    made = to_tensor(value, dtype)
    if name is not None:
        made.name = name
    return made


def switch_to_static_graph(func: Callable[..., Any]) -> Any:
    """Decorator: the function builds static programs, whatever the mode of its caller.

    Args:
        func: callable.
    Example:
        >>> @paddle.base.dygraph.base.switch_to_static_graph
        ... def mode():
        ...     return paddle.in_dynamic_mode()
        >>> mode(), paddle.in_dynamic_mode()
        (False, True)
    """

    @ft.wraps(func)
    def called(*args: Any, **kwargs: Any) -> Any:
        with switched(dynamic=False):
            return func(*args, **kwargs)

    return called


_switch_to_static_graph_ = switch_to_static_graph


def in_to_static_mode() -> bool:
    """Whether a function of `paddle.jit.to_static` is being compiled."""
    return isinstance(local.ctx.frame, Capture)


in_declarative_mode = in_to_static_mode


def in_sot_simulation_mode() -> bool:
    """False: bytecode is never simulated."""
    return False


@contextlib.contextmanager
def param_guard(parameters: dict[str, Any]) -> Iterator[None]:
    """A context that changes nothing: a compiled function finds the parameters of its Layers by itself.

    Args:
        parameters: dict of Parameters.
    """
    yield


@contextlib.contextmanager
def _switch_tracer_mode_guard_(is_train: bool = True) -> Iterator[None]:
    before, local.ctx.grad = local.ctx.grad, bool(is_train)
    try:
        yield
    finally:
        local.ctx.grad = before


def _set_grad_enabled(mode: Any) -> None:
    local.ctx.grad = bool(mode)


__all__ = [
    "disable_dygraph",
    "enable_dygraph",
    "enabled",
    "guard",
    "in_declarative_mode",
    "in_to_static_mode",
    "no_grad",
    "no_grad_",
    "param_guard",
    "switch_to_static_graph",
    "to_variable",
]
