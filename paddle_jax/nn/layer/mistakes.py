"""What is said of a mistake in the call of a layer: which layer it was, and which argument is no Tensor."""

import contextlib
import inspect

from paddle_jax._core.base.caller_info import is_ours, origin
from paddle_jax._core.base.error_translation import pop_notes
from paddle_jax._core.base.errors import TRACING, ArgumentError
from paddle_jax._core.tensors.tensor import Tensor


def note(layer, error):
    """Says below an exception's text in which layer it came up: the innermost one."""
    if isinstance(error, TRACING) or pop_notes(error):
        return
    with contextlib.suppress(Exception):  # a class of the user's describes itself
        shapes = ", ".join(
            f"{name} {list(p.shape)}" for name, p in layer._parameters.items() if p is not None
        )
        kind = type(layer)
        own = next(cls for cls in kind.__mro__ if "extra_repr" in cls.__dict__)
        what = kind.__name__ + (
            f"({', '.join(layer.extra_repr().splitlines())})" if own.__name__ != "Layer" else ""
        )
        error.add_note(f"in the layer {layer.full_name()}: {what}" + (f" with {shapes}" if shapes else ""))


def no_tensor(layer, error, inputs, kwargs):
    """The exception for an AttributeError that came up because an argument of a layer of ours is no Tensor;
    the same one where that is not so."""
    thing = error.obj
    if (
        error.name is None
        or isinstance(thing, Tensor)
        or not is_ours(origin(error))
        or not is_ours(type(layer).__module__)
    ):
        return error
    try:
        given = inspect.signature(layer.forward).bind(*inputs, **kwargs).arguments
    except TypeError:
        return error
    name = next((name for name, value in given.items() if value is thing), None)
    if name is None:
        return error
    if thing is None:
        got = "None"
    else:
        got = f"{type(thing).__name__} ({repr(thing)[:40]})"
    return ArgumentError(
        f"{type(layer).__name__}: {name}: got {got}; it must be a Tensor; make one with paddle.to_tensor"
    )


__all__ = ["no_tensor", "note"]
