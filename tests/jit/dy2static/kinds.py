"""Functions whose control flow depends on Tensors. Each takes the engine P (paddle_jax, or the real
Paddle) and Tensors.

`@case(inputs, ...)`: a function and the argument lists it is called with. `@layer(inputs, ...)`: a function
that builds a Layer. `why=`: no one program can do it; the text is part of the error. `lengths=True`: it is
one program whose lengths depend on values; the text is part of a warning.
"""

import functools
from typing import NamedTuple

import numpy as np

POS, NEG, BIG = (
    np.array([1.0, -2.0, 3.0], "f4"),
    np.array([-1.0, 2.0, -3.0], "f4"),
    np.array([4.0, 5.0, 6.0], "f4"),
)
CASES = {}


class Case(NamedTuple):
    """why: None, or what the refusal says. grad: whether gradients by floating inputs and parameters are
    compared. second: second ones too. lengths: whether it runs op by op because of its lengths."""

    build: object
    inputs: list
    why: "str | None" = None
    grad: bool = True
    second: bool = False
    lengths: bool = False


def case(*inputs, **options):
    def add(function):
        CASES[function.__name__] = Case(lambda P: functools.partial(function, P), list(inputs), **options)
        return function

    return add


def layer(*inputs, **options):
    def add(build):
        CASES[build.__name__] = Case(build, list(inputs), **options)
        return build

    return add


WRITTEN = {}


def written(*inputs, lengths=False):
    """Adds a function with the argument lists it is called with. lengths: whether its lengths depend on
    values, so that it runs op by op."""

    def add(function):
        WRITTEN[function.__name__] = (function, inputs, lengths)
        return function

    return add


def F4(*shape):  # noqa: N802
    """Floats from -1 to 2."""
    return np.linspace(-1, 2, int(np.prod(shape)), dtype="float32").reshape(shape)


def N(n):  # noqa: N802
    """An int64 without axes."""
    return np.array(n, "int64")


def I32(n):  # noqa: N802
    """An int32 without axes."""
    return np.array(n, "int32")


def N1(n):  # noqa: N802
    """An int64 with one axis."""
    return np.array([n], "int64")


class Holder:
    """An object with attributes."""
