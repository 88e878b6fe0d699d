"""Small helpers for layer classes: extra keyword names (Paddle 3.3 accepts some of PyTorch's), linked
attributes, printing."""

import functools as ft

from paddle_jax.tensor.attribute import shape


def alias(**names):
    """Makes the decorated function accept the keyword `extra` for its parameter `name`, for
    each `extra="name"`."""

    def decorate(function):
        @ft.wraps(function)
        def call(*args, **kwargs):
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

        return call

    return decorate


def refuses(names, why):
    """Makes the decorated constructor say `why` where it is called with one of the keywords `names` (a text):
    torch's words for arguments of a layer that `paddle.compat` has."""
    refused = frozenset(names.split())

    def decorate(function):
        @ft.wraps(function)
        def call(*args, **kwargs):
            if not refused.isdisjoint(kwargs):
                wrong = sorted(refused & kwargs.keys())
                raise TypeError(
                    f"{function.__qualname__}() got an unexpected keyword argument '{wrong[0]}'; {why}"
                )
            return function(*args, **kwargs)

        return call

    return decorate


def length_of(tensor, axis):
    """The length of an axis; in a static program where it is not known, a Tensor of it."""
    if not -tensor.ndim <= axis < tensor.ndim:
        raise IndexError(
            f"batch_ref: got shape {list(tensor.shape)}; it must have at least {axis + 1} axes, "
            f"of which number {axis} is the batch's"
        )
    length = tensor.shape[axis]
    if length < 0:
        return shape(tensor)[axis]
    return length


def linked(name, doc):
    """A property that reads and writes the attribute `name`."""
    return property(lambda self: getattr(self, name), lambda self, value: setattr(self, name, value), doc=doc)


def show(label=None, **values):
    """The text of extra_repr: "p=0.5, axis=None", and the user's name for the layer when there is one."""
    parts = [f"{key}={value}" for key, value in values.items()]
    return ", ".join([*parts, f"name={label}"] if label else parts)
