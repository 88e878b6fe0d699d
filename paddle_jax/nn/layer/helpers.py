"""Small helpers for layer classes: extra keyword names (Paddle 3.3 accepts some of PyTorch's), linked
attributes, printing."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from paddle_jax.tensor.attribute import shape

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])


def alias(**names: str) -> Callable[[_Decorated], _Decorated]:
    """Makes the decorated function accept the keyword `extra` for its parameter `name`, for
    each `extra="name"`."""

    def decorate(function: _Decorated) -> _Decorated:
        @ft.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            # A call without keywords, the usual one, pays nothing more.
            if kwargs:
                for extra, name in names.items():
                    if extra in kwargs:
                        if name in kwargs:
                            raise TypeError(
                                f"{function.__qualname__}: got both '{extra}' and '{name}', "
                                "which are the same argument"
                            )
                        kwargs[name] = kwargs.pop(extra)
            return function(*args, **kwargs)

        return cast(_Decorated, call)

    return decorate


def refuses(names: str, why: str) -> Callable[[_Decorated], _Decorated]:
    """Makes the decorated constructor say `why` where it is called with one of the keywords `names` (a text):
    torch's words for arguments of a layer that `paddle.compat` has."""
    refused = frozenset(names.split())

    def decorate(function: _Decorated) -> _Decorated:
        @ft.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            # Without such an argument nothing is looked up: this runs at each call.
            if not refused.isdisjoint(kwargs):
                wrong = sorted(refused & kwargs.keys())
                raise TypeError(
                    f"{function.__qualname__}() got an unexpected keyword argument '{wrong[0]}'; {why}"
                )
            return function(*args, **kwargs)

        return cast(_Decorated, call)

    return decorate


def length_of(tensor: Tensor, axis: int) -> int | Tensor:
    """The length of an axis; in a static program where it is not known, a Tensor of it."""
    if not -tensor.ndim <= axis < tensor.ndim:
        raise IndexError(
            f"batch_ref: got shape {list(tensor.shape)}; it must have at least {axis + 1} axes, "
            f"of which number {axis} is the batch's"
        )
    length = tensor.shape[axis]
    if length < 0:
        # A length that a program learns at run time is an operation.
        return shape(tensor)[axis]
    return length


def linked(name: str, doc: str) -> property:
    """A property that reads and writes the attribute `name`."""
    return property(lambda self: getattr(self, name), lambda self, value: setattr(self, name, value), doc=doc)


def show(label: str | None = None, **values: Any) -> str:
    """The text of extra_repr: "p=0.5, axis=None", and the user's name for the layer when there is one."""
    parts = [f"{key}={value}" for key, value in values.items()]
    return ", ".join([*parts, f"name={label}"] if label else parts)
