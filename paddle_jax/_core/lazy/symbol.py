"""Symbols: what a Tensor holds while a static Program is recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn

import jax
import jax.core
import numpy as np

from paddle_jax._core.base.errors import restore_error
from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.aval import Aval, aval_of

# stand for a length that is not known; highly composite, so that reshapes and strides divide them
PROBE_LENGTHS = (5040, 10080)


class SymbolError(TypeError, AttributeError):
    """The value of a Variable was asked for while a program is recorded, where only its shape and
    dtype are known."""

    def __init__(self, what: str) -> None:
        text = what
        if " " not in what or ";" not in what:  # else a whole sentence already
            text += (
                ": the value is not known while a static program is recorded; run the program and fetch it"
            )
        TypeError.__init__(self, text)

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_error, (type(self), str(self))


class NoValueError(AssertionError):
    """As SymbolError, for methods of eager Tensors alone, which Paddle checks by an assertion."""


class Symbol:
    """A value of a Program that is known by shape and dtype only.

    Attributes:
        avals: its Aval with each unknown length taken as PROBE_LENGTHS[0], and as PROBE_LENGTHS[1]; the same
            object twice if all lengths are known.
        kind: "data" (fed by name), "variable" (in the Scope by name), "constant" (an array in `value`),
            "random" (operands of a random op), "block" (an operand of the block that it belongs to) or
            "result" (of `op`).
        program: the Program that it was made in.
        name: str or None.
        value: the array of a constant. Of kind "random": None for the seed words, else the number of the
            draw.
        op: the operation that it is a result of, or None.
    """

    __slots__ = ("__weakref__", "avals", "kind", "name", "op", "program", "value")

    def __init__(
        self,
        avals: tuple[Aval, Aval],
        kind: str,
        program: Any,
        name: str | None = None,
        value: Any = None,
        op: Any = None,
    ) -> None:
        self.avals: tuple[Aval, Aval] = avals
        self.kind: str = kind
        self.program: Any = program
        self.name: str | None = name
        self.value: Any = value
        self.op: Any = op

    def __repr__(self) -> str:
        return f"<Symbol {self.name or self.kind} {self.dtype.name}{list(self.shape)}>"

    @property
    def aval(self) -> Aval:
        """Shape and dtype, under the probe that a recording composite is in."""
        return self.avals[local.ctx.frame.probe or 0]

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths, -1 where unknown; inside a probed composite the lengths of the probe."""
        first, second = self.avals
        frame = local.ctx.frame
        if frame.symbolic:
            return frame.lengths_of(self)
        if first is second:
            return first.shape
        if frame.probe is None:
            return known_lengths(self.avals)
        return self.avals[frame.probe].shape

    @property
    def is_open(self) -> bool:
        """Whether a length is unknown."""
        return self.avals[0] is not self.avals[1]

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the elements."""
        return self.avals[0].dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.avals[0].ndim

    @property
    def size(self) -> int:
        """The number of elements; -1 where a length is unknown."""
        shape = self.shape
        if -1 in shape:
            return -1
        return math.prod(shape)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        raise SymbolError(self.name or "a Variable")

    def __getattr__(self, name: str) -> NoReturn:
        raise SymbolError(f"{name} of a Variable")


ABSTRACT_TYPES = (jax.core.Tracer, Symbol)  # what a Tensor may hold whose value is not known


def probe_avals(shape: Sequence[int | None], dtype: Any) -> tuple[Aval, Aval]:
    """The two Avals of a shape with None or -1 for unknown lengths."""
    first, second = (
        aval_of(tuple(probe if n in (None, -1) else n for n in shape), np.dtype(dtype))
        for probe in PROBE_LENGTHS
    )
    return first, second


def known_lengths(avals: tuple[Aval, Aval]) -> tuple[int, ...]:
    """The lengths that a pair of avals stands for, -1 where unknown."""
    first, second = avals
    return tuple([a if a == b else -1 for a, b in zip(first.shape, second.shape, strict=True)])


def common_avals(one: tuple[Aval, Aval], other: tuple[Aval, Aval]) -> tuple[Aval, Aval] | None:
    """The pair of avals that two pairs have in common, lengths that differ being unknown; None where dtypes
    or numbers of axes differ."""
    if one == other:
        return one
    if one[0].dtype != other[0].dtype or one[0].ndim != other[0].ndim:
        return None
    pairs = zip(known_lengths(one), known_lengths(other), strict=True)
    return probe_avals([n if n == m else -1 for n, m in pairs], one[0].dtype)


class DefaultPrograms:
    """The default programs and the Scope of the process; None until they are first used.

    Attributes:
        main: the default main Program.
        startup: the default startup Program.
        scope: the Scope.
    """

    main: Any = None
    startup: Any = None
    scope: Any = None
