"""Lengths of results as expressions of the lengths of operands, by JAX's symbolic dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import export

from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.base.state import Context, local
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy import length_expressions as ex
from paddle_jax._core.lazy import lengths as ls
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._program.shape_inference import Inferred, results_of

_MAX = 4096
_known: dict[Any, Any] = {}
_kinds: dict[Any, Any] = {}


class Call:
    """A kernel on operands of which lengths are Lengths: calls that differ in the values of these alone have
    the same key.

    Attributes:
        kernel: Kernel, for the first values of Lengths.
        attrs: None, or the attributes with Lengths.
        shapes: list of the shapes of the operands, with Lengths.
        dtypes: list of their NumPy dtypes.
        nodes: dict from the expression of each Length to a number.
        pairs: dict from that number to the two values.
        key: hashable.
    """

    def __init__(
        self, kernel: Kernel, attrs: Any, shapes: list[Any], dtypes: list[Any], by_value: bool = False
    ) -> None:
        """by_value: whether Lengths of equal values count as the same one."""
        self.kernel = kernel
        self.attrs = attrs
        self.shapes = shapes
        self.dtypes = dtypes
        self.nodes: dict[Any, int] = {}
        self.pairs: dict[int, Any] = {}
        # Lengths are numbered in the order in which they come, so that equal calls have equal keys.
        same: dict[Any, Any] = {}
        for value in ls.lengths_in([*shapes, attrs or ()]):
            if by_value:
                # Two expressions with equal values under both assignments count as one length.
                node = same.setdefault(value.pair, value.node)
            else:
                node = value.node
            number = self.nodes.setdefault(value.node, self.nodes.get(node, len(self.nodes)))
            self.pairs[number] = value.pair
        pattern = [tuple(map(self._marked, shape)) for shape in shapes]
        if attrs is None:
            called = kernel
        else:
            # Not the kernel itself: it has the values of Lengths in its attributes, which differ from call
            # to call.
            called = (*kernel.declaration[:2], repr(_marked(attrs, self.nodes)))
        self.key = called, tuple(pattern), tuple(dtypes)

    def result_lengths(self) -> Any:
        """For each result its lengths as expressions of the numbers of Lengths; None where JAX cannot trace
        the kernel for open lengths."""
        if self.key not in _known:
            if len(_known) >= _MAX:
                _known.clear()
            # Tracing takes milliseconds, and a model makes thousands of calls of few kinds.
            _known[self.key] = self._said() or _traced(
                self.kernel, self.attrs, self.shapes, self.dtypes, self.nodes
            )
        return _known[self.key]

    def _said(self) -> Any:
        """As `result_lengths` for operations whose attributes say it."""
        made = self.kernel.declaration
        if made is None:
            return None
        values = made[2]
        if self.attrs is not None:
            values = self.attrs
        attrs = dict(zip(made[0].attrs, values, strict=True))
        # A cut by integers and slices alone: the attributes have the lengths of the slices as expressions.
        if made[0].name == "take_index" and not made[1][-1]:
            return [[self._marked(n) for n in self._cut(attrs["axes"])]]
        # Their windows are made of lengths as numbers, so they cannot be traced for open ones.
        if made[0].name.startswith(("adaptive_avg_pool", "adaptive_max_pool", "_fractional_of_lengths")):
            return self._pooled(attrs)
        if made[0].name == "_top":
            return self._selected(attrs)
        if made[0].name in ("expand", "broadcast_to"):
            return self._expanded(attrs)
        return None

    def _selected(self, attrs: dict[str, Any]) -> Any:
        """As `result_lengths` for the largest elements: k along their axis, values and positions."""
        shape = list(self.shapes[0])
        if shape:
            shape[attrs["axis"]] = attrs["k"]
        return [[self._marked(n) for n in shape]] * 2

    def _expanded(self, attrs: dict[str, Any]) -> Any:
        """As `result_lengths` for `expand`, whose attribute is the shape; None where it is not at hand."""
        shape = attrs["shape"]
        lengths = self.shapes[0]
        if not isinstance(shape, tuple) or len(shape) < len(lengths):
            return None
        # -1 keeps the length.
        before = [*[1] * (len(shape) - len(lengths)), *lengths]
        kept = [m if ls.expression_of(n) == -1 else n for n, m in zip(shape, before, strict=True)]
        return [[self._marked(n) for n in kept]]

    def _pooled(self, attrs: dict[str, Any]) -> Any:
        """As `result_lengths` for adaptive and fractional pooling; None where the sizes do not fit x."""
        shape = list(self.shapes[0])
        size = attrs["output_size"]
        if not isinstance(size, tuple):
            size = (size,) * (len(shape) - 2)
        if len(size) != len(shape) - 2:
            return None
        first_axis = 2
        if attrs.get("data_format", "NCHW")[-1] == "C":
            first_axis = 1
        for axis, n in enumerate(size, first_axis):
            # None keeps the length.
            if n is not None:
                shape[axis] = n
        # The positions of the maxima are a second result.
        count = 2 if attrs.get("return_mask") else 1
        return [[self._marked(n) for n in shape]] * count

    def _marked(self, n: Any) -> Any:
        if ls.is_length(n):
            return ("open", self.nodes[n.node])
        return n

    def _cut(self, axes: tuple[Any, ...]) -> list[Any]:
        """The shape that an index of integers and slices gives."""
        lengths = iter(self.shapes[0])
        found = []
        for kind in axes:
            # In the order of the axes of the operand.
            # "n" is a new axis; an integer "i" takes an axis away; "s" has the length of its slice.
            if kind[0] == "n":
                found.append(1)
                continue
            length = next(lengths)
            if kind[0] == "s":
                found.append(kind[1])
            elif kind[0] != "i":
                found.append(length)
        return found

    def lengths(self, avals: list[Any]) -> Any:
        """As `result_lengths`, by the lengths of operands; None where they do not give the results.

        avals: list of pairs, for both values of Lengths."""
        found = self.result_lengths()
        # An expression of JAX may hold only under its assumption, so both pairs of values are tried.
        if found is None or not all(
            self._gives(found, which, [pair[which] for pair in avals]) for which in (0, 1)
        ):
            return None
        # Of several expressions with one number the first one is used.
        leaves = {number: node for node, number in reversed(self.nodes.items())}
        return [[_filled_in(n, leaves) for n in shape] for shape in found]

    def results(self, weak: tuple[Any, ...]) -> Any:
        """(tuple, list or None, avals for the first values, avals for the second ones) where a call of this
        key was seen to give what the expressions say; else None. weak: for each operand, whether its dtype
        is weak."""
        kinds = _kinds.get((self.key, weak))
        # `squeeze` and broadcasting treat an axis of length 1 in another way, and so does the kernel itself.
        if kinds is None or any(1 in pair for pair in self.pairs.values()):
            return None
        many, dtypes = kinds
        shapes = [self._values(which) for which in (0, 1)]
        # A negative length is an error, which the kernel itself reports better.
        if any(n < 0 for one in shapes for shape in one for n in shape):
            return None
        return many, *[
            tuple(
                [aval_of(shape, dtype, is_weak) for shape, (dtype, is_weak) in zip(one, dtypes, strict=True)]
            )
            for one in shapes
        ]

    def note(self, weak: tuple[Any, ...], many: Any, outs: tuple[Any, ...], others: tuple[Any, ...]) -> None:
        """Takes in what the kernel gives, where the expressions say the same."""
        found = self.result_lengths()
        if found is None or any(n is None for shape in found for n in shape):
            return
        # Seen to be right for both pairs of values of this call. Others of its key have the same
        # expressions.
        if all(
            self._values(which) == [one.shape for one in avals] for which, avals in enumerate((outs, others))
        ):
            if len(_kinds) >= _MAX:
                _kinds.clear()
            _kinds[self.key, weak] = many, [(one.dtype, one.weak) for one in outs]

    def second(self, outs: tuple[Any, ...]) -> Any:
        """The avals for the second values of Lengths, where each length of a result is one of an operand, or
        fixed; else None. outs: the avals for the first values."""
        found = self.result_lengths()
        # An expression with arithmetic may hold for the first values alone; the kernel is asked there.
        if found is None or not all(
            isinstance(n, int) or n is not None and n[0] == "open" for shape in found for n in shape
        ):
            return None
        if self._values(0) != [one.shape for one in outs]:
            return None
        return tuple(
            [aval_of(shape, one.dtype, one.weak) for shape, one in zip(self._values(1), outs, strict=True)]
        )

    def _gives(self, found: list[Any], which: int, outs: list[Any]) -> bool:
        """Whether expressions have the values of some shapes: JAX takes a length to be none that a kernel
        compares it with."""
        return len(found) == len(outs) and all(
            len(shape) == one.ndim
            and all(n is None or self._value(n, which) == m for n, m in zip(shape, one.shape, strict=True))
            for shape, one in zip(found, outs, strict=True)
        )

    def _values(self, which: int) -> list[Any]:
        return [tuple([self._value(n, which) for n in shape]) for shape in self.result_lengths()]

    def _value(self, node: Any, which: int) -> Any:
        """What an expression of the numbers of Lengths has for their first or second values."""
        return ex.evaluate(node, lambda leaf: self.pairs[leaf[1]][which])


def results_of_both(first: Kernel, second: Kernel, operands: Sequence[Any], call: Call | None) -> Any:
    """(tuple, list or None, avals for the first values of Lengths, avals for the second ones) of a call.

    operands: their avals for both values. call: None for kernels of one call alone."""
    many, outs = results_of(first, operands[0])
    if second is first and operands[0] == operands[1]:
        # With equal operands the second trace would repeat the first.
        return many, outs, outs
    others = None
    if call is not None:
        others = call.second(outs)
    if others is None:
        others = results_of(second, operands[1])[1]
    return many, outs, others


def equal_ones(inferred: Inferred, numbers: Any) -> Any:
    """For each result its lengths as expressions of Lengths of the same two values, None for others."""
    known = {}
    # A pair of equal values may belong to any fixed number.
    for one in ls.lengths_in(numbers):
        if one.pair[0] == one.pair[1]:
            continue  # it may be any number that is the same
        # None where two expressions have these values: there is no telling which one it is.
        known[one.pair] = one.node if known.get(one.pair, one.node) == one.node else None
    return [
        [known.get(pair) for pair in zip(one.shape, other.shape, strict=True)]
        for one, other in inferred.avals
    ]


def _marked(value: Any, nodes: dict[Any, Any]) -> Any:
    if isinstance(value, ls.Length):
        return "open", nodes[value.node]
    if isinstance(value, tuple):
        return tuple([_marked(item, nodes) for item in value])
    return value


def _traced(kernel: Kernel, attrs: Any, shapes: list[Any], dtypes: list[Any], nodes: dict[Any, Any]) -> Any:
    """The lengths of the results, with ("open", number) for the leaves; None where that cannot be traced."""
    # Without open lengths there is nothing to express.
    if not nodes:
        return None
    names = [f"n{number}" for number in range(max(nodes.values()) + 1)]
    dims = export.symbolic_shape(", ".join(names))

    def opened(value: Any) -> Any:
        if isinstance(value, ls.Length):
            return dims[nodes[value.node]]
        if isinstance(value, tuple):
            # Attributes are tuples: `freeze` has made them so.
            return tuple(map(opened, value))
        return value

    structs = [
        jax.ShapeDtypeStruct(tuple(map(opened, shape)), np.dtype(dtype))
        for shape, dtype in zip(shapes, dtypes, strict=True)
    ]
    # A Context of its own: the code of kernels may ask for flags and the frame of the thread.
    context = Context()
    # Symbolic dimensions must not get into the operations that this thread has pending.
    context.segment = None
    try:
        fn = kernel.fn
        if attrs is not None:
            op, layout, _ = kernel.declaration
            # A kernel with JAX's dimensions as attributes; it is made for this trace alone.
            fn = Kernel(op.name, op._bind(layout, tuple(map(opened, attrs)))).fn
        with swapped_attributes(local, ctx=context):
            out = jax.eval_shape(fn, *structs)
    except Exception:  # the code looks at lengths in a way that JAX's symbolic dimensions do not allow
        return None
    results = out if isinstance(out, tuple | list) else [out]
    return [[_expression(n, names) for n in one.shape] for one in results]


def _expression(dim: Any, names: list[Any]) -> Any:
    """A symbolic dimension of JAX as an expression; None where it is of an unknown kind."""
    # Fixed for every length.
    if isinstance(dim, int | np.integer):
        return int(dim)
    total: Any = 0
    # JAX keeps a dimension as a sum of terms: factor times a product of powers. The names begin with an
    # underscore, see jax._src.export.shape_poly.
    for term, factor in dim._sorted_terms:
        product: Any = 1
        for atom, power in term._factors:
            part = _atom(atom, names)
            if part is None:
                return None
            for _ in range(power):
                product = ex.binary("mul", product, part, True)
        if isinstance(product, tuple):
            total = ex.add(total, ex.multiply(product, factor))
        else:
            total = ex.add(total, product * factor)
    return total


# JAX's name and that of `lengths`; other operations of it have no counterpart.
_OPERATIONS = {"floordiv": "floordiv", "mod": "mod", "max": "max", "min": "min"}


def _atom(atom: Any, names: list[Any]) -> Any:
    if atom.var is not None:
        return "open", names.index(atom.var)
    if atom.operation not in _OPERATIONS:
        return None
    left, right = [_expression(part, names) for part in atom.operands]
    if left is None or right is None:
        return None
    return ex.binary(_OPERATIONS[atom.operation], left, right, True)


def _filled_in(node: Any, leaves: dict[Any, Any]) -> Any:
    """An expression with the leaves in place of their numbers, brought to one form again."""
    if node is None or isinstance(node, int):
        return node
    # Leaves of open lengths are numbers here, see `Call.nodes`.
    if node[0] == "open":
        return leaves[node[1]]
    # "lin" is a sum: a number, and pairs of an expression and its factor.
    if node[0] == "lin":
        total: Any = node[1]
        for atom, factor in node[2]:
            part = _filled_in(atom, leaves)
            total = ex.add(total, part, factor)
        return total
    left, right = [_filled_in(part, leaves) for part in node[1:]]
    return ex.binary(node[0], left, right, True)
