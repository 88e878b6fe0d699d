"""Symbols: what a Tensor holds while a static Program is recorded; and what is being recorded into."""

import math

import jax
import numpy as np

from paddle_jax._core.base.errors import restore_error
from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.aval import aval_of

# stand for a length that is not known; highly composite, so that reshapes and strides divide them
PROBE_LENGTHS = (5040, 10080)


class SymbolError(TypeError, AttributeError):
    """The value of a Variable was asked for while a program is recorded, where only its shape and
    dtype are known."""

    def __init__(self, what):
        text = (
            ""
            if " " in what and ";" in what
            else ": the value is not known while a static program is recorded; run the program and fetch it"
        )
        TypeError.__init__(self, what + text)

    def __reduce__(self):
        return restore_error, (type(self), str(self))


class NoValueError(AssertionError):
    """As SymbolError, for methods of eager Tensors alone, which Paddle checks by an assertion."""


class Symbol:
    """A value of a Program that is known by shape and dtype only.

    avals: its shape and dtype with each unknown length taken as PROBES[0], and as PROBES[1]; the same object
    twice where all are known. kind: "data" (fed by name), "variable" (lives in the Scope by name), "constant"
    (an array in `value`), "random" (operands of a random op: `value` is None for the seed words, else the
    number of the draw), "block" (an operand of the block it belongs to) or "result" (of `op`). program: the
    Program it was made in. name: str or None.
    """

    __slots__ = ("__weakref__", "avals", "kind", "name", "op", "program", "value")

    def __init__(self, avals, kind, program, name=None, value=None, op=None):
        self.avals, self.kind, self.program, self.name, self.value, self.op = (
            avals,
            kind,
            program,
            name,
            value,
            op,
        )

    def __repr__(self):
        return f"<Symbol {self.name or self.kind} {self.dtype.name}{list(self.shape)}>"

    @property
    def aval(self):
        """Shape and dtype, under the probe that a recording composite is in."""
        return self.avals[local.ctx.frame.probe or 0]

    @property
    def shape(self):
        """The lengths, -1 where unknown; inside a probed composite the lengths of the probe."""
        first, second = self.avals
        frame = local.ctx.frame
        if frame.symbolic:
            return frame.lengths_of(self)
        if first is second:
            return first.shape
        return known_lengths(self.avals) if frame.probe is None else self.avals[frame.probe].shape

    @property
    def is_open(self):
        """Whether a length is unknown."""
        return self.avals[0] is not self.avals[1]

    @property
    def dtype(self):
        return self.avals[0].dtype

    @property
    def ndim(self):
        return self.avals[0].ndim

    @property
    def size(self):
        """The number of elements; -1 where a length is unknown."""
        shape = self.shape
        return -1 if -1 in shape else math.prod(shape)

    def __array__(self, dtype=None, copy=None):
        raise SymbolError(self.name or "a Variable")

    def __getattr__(self, name):
        raise SymbolError(f"{name} of a Variable")


ABSTRACT_TYPES = (jax.core.Tracer, Symbol)  # what a Tensor may hold whose value is not known


def probe_avals(shape, dtype):
    """The two avals of a shape with None or -1 for unknown lengths."""
    first, second = (
        aval_of(tuple(probe if n in (None, -1) else n for n in shape), np.dtype(dtype))
        for probe in PROBE_LENGTHS
    )
    return first, second


def known_lengths(avals):
    """The lengths that a pair of avals stands for, -1 where unknown."""
    first, second = avals
    return tuple([a if a == b else -1 for a, b in zip(first.shape, second.shape, strict=True)])


def common_avals(one, other):
    """The pair of avals that two pairs have in common, lengths that differ being unknown; None where dtypes
    or numbers of axes differ."""
    if one == other:
        return one
    if one[0].dtype != other[0].dtype or one[0].ndim != other[0].ndim:
        return None
    pairs = zip(known_lengths(one), known_lengths(other), strict=True)
    return probe_avals([n if n == m else -1 for n, m in pairs], one[0].dtype)


class DefaultPrograms:
    """The default main and startup Program and the Scope, process-wide; None until asked for."""

    main, startup, scope = None, None, None
