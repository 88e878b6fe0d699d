"""Shapes and dtypes of what an operation gives, found by tracing it: once for each probe of the lengths
that are not known.

Three things beyond that. Lengths that do not fit a probe (an unknown length added to a known one) are tried
with the known lengths around. Integers that depend on shapes alone (`paddle.shape(x)[0] * 2`) are computed
along, so that they may be lengths themselves. Operations whose result's shape depends on values (nonzero) are
run on small samples; where these differ, the length is unknown, and the operation runs on the host.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.error_translation import cause_for, translate
from paddle_jax._core.base.errors import TracedValueError
from paddle_jax._core.base.interrupt_safe import eager_evaluation
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.lazy.symbol import PROBE_LENGTHS, known_lengths
from paddle_jax._core.lazy.transfer import to_array, to_numpy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from paddle_jax._core.lazy.aval import Aval
    from paddle_jax._core.lazy.symbol import Symbol

_MAX = 1 << 14  # entries of each cache
_TRIES = 160  # tries with lengths that fit
_SMALL = 64  # elements of whole numbers that are computed along: they may be sizes
_known: dict[Any, Any] = {}


class Inferred:
    """What a kernel gives.

    Attributes:
        many: tuple, list or None, how the results are returned.
        avals: list of pairs of Avals, one for each result.
        host: bool, whether it runs on the host.
        known: list with None or the values under both probes, one for each result.
    """

    __slots__ = ("avals", "host", "known", "many")

    def __init__(self, many: type | None, avals: list[Any], host: bool = False) -> None:
        self.many = many
        self.avals = avals
        self.host = host
        self.known: list[tuple[Any, ...] | None] = [None] * len(avals)


class _Varies(ValueError):
    """The number of results is not known."""


def infer(kernel: Kernel, symbols: Sequence[Symbol], probe: int | None = None) -> Inferred:
    """What a kernel gives for Symbols, under one probe or under both."""
    if probe is not None:
        many, outs = results_of(kernel, tuple([s.avals[probe] for s in symbols]))
        return Inferred(many, [(o, o) for o in outs])
    first = tuple([s.avals[0] for s in symbols])
    second = tuple([s.avals[1] for s in symbols])
    try:
        found = _both(kernel, first, second)
    # The kernel asks for the value of an operand.
    except TracedValueError:
        found = _with_values(kernel, symbols)
    except _Varies:
        # It fails for every length, so trying other ones would hide this message.
        raise
    except (ValueError, TypeError, AssertionError, IndexError, RuntimeError):
        try:
            # The probe lengths may not fit together, as for `reshape` to fixed lengths: fitting ones are
            # tried.
            found = None if first == second else _fitted(kernel, symbols)
        except TracedValueError:
            found = _with_values(kernel, symbols)
        if found is None:
            raise
    # Results that depend on shapes alone get their values.
    _fold(kernel, symbols, found)
    return found


def results_of(kernel: Kernel, avals: tuple[Aval, ...]) -> tuple[type | None, tuple[Aval, ...]]:
    """(tuple, list or None, tuple of avals) of a kernel on operands of these avals."""
    # A kernel that is made for one call would fill the cache and never be found again.
    if getattr(kernel.fn, "once", False):
        return _traced(kernel, kernel.fn, [a.struct for a in avals])
    key = kernel, avals
    found = _known.get(key)
    if found is None:
        if len(_known) >= _MAX:
            _known.clear()
        found = _known[key] = _traced(kernel, kernel.fn, [a.struct for a in avals])
    return found


def _traced(
    kernel: Kernel, fn: Callable[..., Any], structs: Sequence[jax.ShapeDtypeStruct]
) -> tuple[type | None, tuple[Aval, ...]]:
    try:
        out = jax.eval_shape(fn, *structs)
    except Exception as error:
        raise (found := translate(kernel.name, structs, error, kernel)) from cause_for(found, error)
    many, results = _as_results(out)
    return many, tuple([aval_of(o.shape, o.dtype, o.weak_type) for o in results])


def _as_results(out: Any) -> tuple[type | None, Sequence[Any]]:
    """(tuple, list or None, all results) of what a kernel gave: one with a single result gives it alone."""
    if type(out) in (tuple, list):
        return type(out), out
    return None, (out,)


def _both(kernel: Kernel, first: tuple[Aval, ...], second: tuple[Aval, ...]) -> Inferred:
    # The avals are equal objects where no length is unknown: the second trace would repeat the first.
    many, outs = results_of(kernel, first)
    if first == second:
        others = outs
    else:
        others = results_of(kernel, second)[1]
    return _paired(kernel, many, outs, others)


def _paired(kernel: Kernel, many: type | None, outs: Sequence[Aval], others: Sequence[Aval]) -> Inferred:
    if len(outs) != len(others) or any(a.ndim != b.ndim for a, b in zip(outs, others, strict=False)):
        raise _Varies(
            f"{kernel.name}: the number of results depends on a length that is not known; "
            "declare the input with that length"
        )
    return Inferred(many, list(zip(outs, others, strict=True)))


def _fitted(kernel: Kernel, symbols: Sequence[Symbol]) -> Inferred | None:
    """As `infer`, with unknown lengths taken to be known ones that make the call possible; None
    where none does."""
    places = [(i, axis) for i, s in enumerate(symbols) for axis, n in enumerate(s.shape) if n == -1]
    # An unknown length usually equals 1, a known length, or a number among the attributes.
    lengths = {1, *[n for s in symbols for n in s.shape if n != -1]}
    if kernel.declaration is not None:
        lengths |= set(_ints(kernel.declaration[2]))
    # There may be millions of combinations; what fits has few fixed lengths.
    choices = itertools.islice(itertools.product((None, *sorted(lengths)), repeat=len(places)), 4096)
    # As few lengths as possible are fixed. The first choice fixes none, and has failed already.
    # For each choice the lengths that stay free take both probes.
    for choice in sorted(choices, key=lambda c: sum(n is not None for n in c))[1 : _TRIES + 1]:
        pair = []
        for probe in PROBE_LENGTHS:
            # One shape per operand, in which the chosen lengths stand for unknown ones.
            avals = []
            for i, s in enumerate(symbols):
                chosen = {
                    axis: n for (k, axis), n in zip(places, choice, strict=True) if k == i and n is not None
                }
                shape = tuple(chosen.get(axis, probe if n == -1 else n) for axis, n in enumerate(s.shape))
                avals.append(aval_of(shape, s.dtype, s.avals[0].weak))
            pair.append(tuple(avals))
        try:
            return _both(kernel, *pair)
        except (TracedValueError, _Varies):
            raise
        except Exception:  # noqa: S112  does not fit: the next one
            continue
    return None


def _ints(value: Any) -> Iterator[int]:
    if isinstance(value, tuple):
        for item in value:
            yield from _ints(item)
    elif type(value) is int and value > 0:
        yield value


# values that depend on shapes -------------------------------------------------------------------------------


def known_value(symbol: Any, probe: int) -> Any:
    """The value of a small Symbol of integers under a probe, where it depends on shapes and constants
    alone; else None."""
    if symbol.kind == "constant" and symbol.dtype.kind in "iub" and symbol.avals[0].size <= _SMALL:
        return to_numpy(to_array(symbol.value), "static.save")
    if symbol.kind == "result" and symbol.value is not None:
        return symbol.value[probe]
    return None


def is_shape(kernel: Kernel) -> bool:
    """Whether a kernel gives what its operand's shape says."""
    return kernel.declaration is not None and kernel.declaration[0].name in ("shape", "numel")


def of_shape(kernel: Kernel, shape: Sequence[int]) -> np.ndarray:
    """What such a kernel gives for a shape."""
    if kernel.declaration[0].name == "shape":
        return np.asarray(shape, np.int64)
    return np.asarray(int(np.prod(shape, dtype=np.int64)), np.int64)


def _fold(kernel: Kernel, symbols: Sequence[Symbol], found: Inferred) -> None:
    """Computes results that depend on shapes alone."""
    # Small arrays of whole numbers alone are worth it: they may be sizes or indices of sizes.
    if (
        found.host
        or not all(a.dtype.kind in "iub" and a.size <= _SMALL for a, _ in found.avals)
        or not symbols
    ):
        return
    # No value is needed, so this holds for operands that are not known, too.
    if is_shape(kernel):
        found.known = [
            tuple(
                [of_shape(kernel, symbols[0].avals[p].shape).astype(found.avals[0][0].dtype) for p in (0, 1)]
            )
        ]
        return
    inputs = [[known_value(s, p) for s in symbols] for p in (0, 1)]
    # One operand that is not known makes the result unknown.
    if any(v is None for values in inputs for v in values):
        return
    results = []
    for values in inputs:
        # Inside a trace of the caller, too, these values have to be numbers at once.
        with eager_evaluation():
            out = kernel.fn(*map(jnp.asarray, values))
        results.append([np.asarray(o) for o in _as_results(out)[1]])
    found.known = list(zip(*results, strict=True))


def _with_values(kernel: Kernel, symbols: Sequence[Symbol]) -> Inferred:
    """Inference of a kernel that has to look at values: at those that depend on shapes, else at samples."""
    results = []
    for probe in (0, 1):
        values = [known_value(s, probe) for s in symbols]
        # Nothing is known of any operand: the kernel can only be run on samples.
        if all(v is None for v in values):
            return _sampled(kernel, symbols)
        # What is known becomes a part of the function, so that the trace sees numbers for it.
        open_ = [i for i, v in enumerate(values) if v is None]

        # The defaults bind the values of this turn of the loop.
        def fn(*rest: Any, values: list[Any] = values, open_: list[int] = open_) -> Any:
            full = list(values)
            for i, array in zip(open_, rest, strict=True):
                full[i] = array
            return kernel.fn(*full)

        try:
            results.append(_traced(kernel, fn, [symbols[i].avals[probe].struct for i in open_]))
        except TracedValueError:
            return _sampled(kernel, symbols)
    return _paired(kernel, results[0][0], results[0][1], results[1][1])


def varying_results(
    kernel: Kernel, symbols: Sequence[Symbol], hints: Sequence[int]
) -> tuple[type | None, tuple[Aval, ...], tuple[Aval, ...]]:
    """(tuple, list or None, avals, avals) of a kernel whose results have shapes that depend on values, for
    the first and second values of lengths: what varies has two lengths of its own.

    hints: these two lengths.
    """
    samples = [Sample(s) for s in symbols]
    found = _sampled(kernel, samples)
    pairs = []
    for one, other in found.avals:
        shapes = [
            [hints[which] if n != m else n for n, m in zip(one.shape, other.shape, strict=True)]
            for which in (0, 1)
        ]
        pairs.append([aval_of(tuple(shape), one.dtype) for shape in shapes])
    return found.many, tuple([pair[0] for pair in pairs]), tuple([pair[1] for pair in pairs])


class Sample:
    """A Symbol of which small samples are made: -1 for lengths that vary.

    Attributes:
        kind: str, of the Symbol.
        dtype: NumPy dtype.
        value: what a constant Symbol holds.
        avals: tuple of its two Avals.
        shape: tuple of ints.
        is_open: bool, whether a length varies.
        op: Operation that gives it, or None.
    """

    def __init__(self, symbol: Symbol) -> None:
        self.kind = symbol.kind
        self.dtype = symbol.dtype
        self.value = symbol.value
        self.avals = symbol.avals
        self.shape = known_lengths(symbol.avals)
        self.is_open = -1 in self.shape
        self.op = symbol.op


def _sampled(kernel: Kernel, symbols: Sequence[Any]) -> Inferred:
    """Inference by running a kernel on small arrays; lengths that differ between them are unknown."""
    runs = []
    errors: list[Exception] = []
    # A length that another operand has is likely to fit, when 2 and 3 do not.
    if any(s.is_open for s in symbols):
        known = sorted({n for s in symbols for n in s.shape if 3 < n <= _SMALL})[:3]
    else:
        known = []
    # Zeros give no elements (`nonzero`), counts give all of them, mixed ones some. Sizes must be possible
    # ones.
    for length, make in itertools.product((2, 3, *known), _SAMPLES):
        arrays = [_sample(s, length, make) for s in symbols]
        try:
            out = kernel.fn(*map(jnp.asarray, arrays))
        except Exception as refused:
            errors.append(refused)
            continue
        runs.append(_as_results(out))
    # No sample fits: the error of the first one names what the kernel wants.
    if not runs:
        raise errors[0]
    many, first = runs[0]
    pairs = []
    for k, one in enumerate(first):
        # An axis whose length is the same in all runs counts as known.
        # A run may give fewer axes, as `squeeze` does for length 1; those say nothing here.
        shapes = [np.shape(outs[k]) for _, outs in runs if np.ndim(outs[k]) == np.ndim(one)]
        pair = [
            tuple(n if all(s[axis] == n for s in shapes) else probe for axis, n in enumerate(shapes[0]))
            for probe in PROBE_LENGTHS
        ]
        pairs.append(tuple([aval_of(shape, one.dtype) for shape in pair]))
    return Inferred(many, pairs, host=True)


def _sample(symbol: Any, length: int, make: Callable[..., np.ndarray]) -> np.ndarray:
    known = _value_for(symbol, length)
    if known is not None:
        return known
    return make(_shape_for(symbol, length)).astype(symbol.dtype)


def _shape_for(symbol: Any, length: int) -> tuple[int, ...]:
    """The shape of a Symbol where unknown lengths are this one."""
    return tuple([length if n == -1 else n for n in symbol.shape])


def _value_for(symbol: Any, length: int) -> Any:
    """As `known_value` where unknown lengths are this one."""
    # An array for this length alone: `known` has the value for the probes, which are far too long for
    # samples.
    known = known_value(symbol, 0)
    if known is None or symbol.kind == "constant" or symbol.op is None:
        return known
    operation = symbol.op
    if is_shape(operation.kernel):
        return of_shape(operation.kernel, _shape_for(operation.inputs[0], length)).astype(symbol.dtype)
    values = [_value_for(one, length) for one in operation.inputs]
    if any(one is None for one in values):
        return known
    with eager_evaluation():
        out = operation.kernel.fn(*map(jnp.asarray, values))
    return np.asarray(operation.results_of(out)[operation.outputs.index(symbol)])


def _count(shape: Sequence[int]) -> np.ndarray:
    return np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape) + 1


def _mixed(shape: Sequence[int]) -> np.ndarray:
    return _count(shape) % 2


def _more(shape: Sequence[int]) -> np.ndarray:
    """Numbers above one: sizes that are not the least ones."""
    return _count(shape) + 1


def _zeros_and(size: int) -> Callable[[Sequence[int]], np.ndarray]:
    """Zeros, and a number without axes that is a possible size."""

    def make(shape: Sequence[int]) -> np.ndarray:
        if shape:
            return np.zeros(shape)
        return np.asarray(size)

    return make


_SAMPLES = (np.zeros, _count, _mixed, _more, _zeros_and(4), _zeros_and(5))


__all__ = ["Inferred", "infer", "is_shape", "known_value", "of_shape", "results_of"]
