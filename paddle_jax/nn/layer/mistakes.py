"""What is said of a mistake in the call of a layer: which layer it was, and which argument is no Tensor."""

from __future__ import annotations

import contextlib
import inspect
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.caller_info import is_ours, origin
from paddle_jax._core.base.error_translation import pop_notes
from paddle_jax._core.base.errors import TRACING, ArgumentError
from paddle_jax._core.tensors.tensor import Tensor

if TYPE_CHECKING:
    from paddle_jax.nn.layer.layers import Layer


def note(layer: Layer, error: Exception) -> None:
    """Says below an exception's text in which layer it came up: the innermost one."""
    # Errors of tracing are part of JAX's control flow; the innermost layer adds the only note.
    if isinstance(error, TRACING) or pop_notes(error):
        return
    with contextlib.suppress(Exception):  # a class of the user's describes itself
        shapes = ", ".join(
            f"{name} {list(p.shape)}" for name, p in layer._parameters.items() if p is not None
        )
        kind = type(layer)
        # What `Layer` itself prints says nothing.
        described_by = next(cls for cls in kind.__mro__ if "extra_repr" in cls.__dict__)
        description = kind.__name__ + (
            f"({', '.join(layer.extra_repr().splitlines())})" if described_by.__name__ != "Layer" else ""
        )
        error.add_note(
            f"in the layer {layer.full_name()}: {description}" + (f" with {shapes}" if shapes else "")
        )


def no_tensor(
    layer: Layer, error: AttributeError, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Exception:
    """The exception for an AttributeError that came up because an argument of a layer of ours is no Tensor;
    the same one where that is not so."""
    value_at_fault = error.obj
    if (
        # An error of the user's own code is not explained.
        error.name is None
        or isinstance(value_at_fault, Tensor)
        or not is_ours(origin(error))
        or not is_ours(type(layer).__module__)
    ):
        return error
    try:
        arguments = inspect.signature(layer.forward).bind(*inputs, **kwargs).arguments
    except TypeError:
        # Arguments that do not fit `forward` have no names there.
        return error
    # By identity: equal values may be elsewhere in the call.
    name = next((name for name, value in arguments.items() if value is value_at_fault), None)
    if name is None:
        return error
    if value_at_fault is None:
        got = "None"
    else:
        got = f"{type(value_at_fault).__name__} ({repr(value_at_fault)[:40]})"
    return ArgumentError(
        f"{type(layer).__name__}: {name}: got {got}; it must be a Tensor; make one with paddle.to_tensor"
    )


__all__ = ["no_tensor", "note"]
