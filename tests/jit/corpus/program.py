"""What a program of the corpus is, and the decorators that add one.

A program takes the engine `P`, paddle_jax or the real Paddle, and arguments. `@program(inputs, ...)` stands
over a function of P and the arguments, `@layer(inputs, ...)` over a function of P that builds a Layer or
another callable. `inputs` are lists of arguments, one list a call; arrays and numbers become Tensors.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

PROGRAMS: "dict[str, Program]" = {}


@dataclasses.dataclass(frozen=True, eq=False)
class Program:
    """A function of Tensors, and what is special about it.

    Attributes:
        name: module and function.
        build: gives the callable for an engine; the runner fills the parameters of a Layer.
        inputs: a list of arguments for each call.
        refused: what the error says if no one program can do it.
        refused_in_files: what the error of `jit.save` says, where it is another one.
        refused_by: what the error of a format says that has no form of it, by the mode.
        op_by_op: what the warning says if it runs op by op, because its lengths depend on values.
        gradients: whether floating inputs ask for gradients, which are compared with those of parameters.
        second: whether second ones are, too.
        file_gradients: whether a loaded file has them; it has no derivatives of the user's own.
        shapes: of the inputs in a file, None for any length; by default what the calls have in common.
        random_weights: whether parameters are small random numbers; else they rise.
        files_differ: whether files of the real Paddle give something else than its eager code. What it gives
            itself for such a file is right then.
        without: the modes it does not have, each with the reason.
        more: modes that it has besides the usual ones.
        precision: relative and absolute, of files and of all else.
    """

    name: str
    build: Callable[[Any], Callable]
    inputs: list[list]
    refused: str | None = None
    refused_in_files: str | None = None
    refused_by: dict[str, str] = dataclasses.field(default_factory=dict)
    op_by_op: str | None = None
    gradients: bool = True
    second: bool = False
    file_gradients: bool = True
    shapes: list[list] | None = None
    random_weights: bool = False
    files_differ: bool = False
    without: dict[str, str] = dataclasses.field(default_factory=dict)
    more: tuple[str, ...] = ()
    precision: tuple[float, float] = (2e-5, 2e-6)

    @property
    def module(self) -> str:
        """The module that has it."""
        return self.name.partition(".")[0]

    @property
    def has_integers(self) -> bool:
        """Whether it takes whole numbers."""
        return any(one.dtype.kind == "i" for one in self.arrays()[0])

    def arrays(self) -> list[list[np.ndarray]]:
        """The arguments of each call."""
        return [[np.asarray(value) for value in arguments] for arguments in self.inputs]


def name_of(function: Callable) -> str:
    """The name of a program: the last part of its module, and its own."""
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"


def add(made: Program) -> None:
    """Adds a program under its name."""
    assert made.name not in PROGRAMS, f"two programs have the name {made.name}"
    PROGRAMS[made.name] = made


def program(*inputs: list, **special: Any) -> Callable:
    """Adds a function of the engine and the arguments."""

    def decorate(function: Callable) -> Callable:
        add(Program(name_of(function), lambda P: functools.partial(function, P), list(inputs), **special))
        return function

    return decorate


def layer(*inputs: list, **special: Any) -> Callable:
    """Adds a function of the engine that builds a Layer."""

    def decorate(build: Callable) -> Callable:
        add(Program(name_of(build), build, list(inputs), **special))
        return build

    return decorate


POS, NEG, BIG = (
    np.array([1.0, -2.0, 3.0], "f4"),
    np.array([-1.0, 2.0, -3.0], "f4"),
    np.array([4.0, 5.0, 6.0], "f4"),
)


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
