"""Lengths of results as expressions of the lengths of operands, by JAX's symbolic dimensions."""

from typing import Any

import jax
import numpy as np
from jax import export

from paddle_jax._core.ops.kernel import Kernel
from paddle_jax._core.runtime.uninterrupted import swapped
from paddle_jax._core.state import Context, local
from paddle_jax._core.values import expressions as ex
from paddle_jax._core.values import lengths as ls

_MAX = 4096
_known: dict[Any, Any] = {}


def symbolic_lengths(kernel: Kernel, attrs: Any, shapes: list, dtypes: list, by_value=False) -> Any:
    """For each result of a kernel its lengths as expressions, None where one is not known; None for all where
    JAX cannot trace the kernel for open lengths.

    Args:
        kernel: Kernel, for the first values of Lengths.
        attrs: None, or the attributes with Lengths.
        shapes: list of the shapes of the operands, with Lengths.
        dtypes: list of their NumPy dtypes.
        by_value: whether Lengths of equal values count as the same one.
    """
    nodes: dict[Any, int] = {}
    pairs: dict[Any, Any] = {}
    for value in ls.lengths_in([*shapes, attrs or ()]):
        same = pairs.setdefault(value.pair, value.node) if by_value else value.node
        nodes.setdefault(value.node, nodes.get(same, len(nodes)))
    pattern = [tuple([("open", nodes[n.node]) if ls.is_length(n) else n for n in shape]) for shape in shapes]
    key = kernel, repr(_marked(attrs, nodes)), tuple(pattern), tuple(dtypes)
    if key not in _known:
        if len(_known) >= _MAX:
            _known.clear()
        _known[key] = _traced(kernel, attrs, shapes, dtypes, nodes)
    found = _known[key]
    if found is None:
        return None
    leaves = {number: node for node, number in reversed(nodes.items())}
    return [[_filled_in(n, leaves) for n in shape] for shape in found]


def _marked(value: Any, nodes: dict) -> Any:
    if isinstance(value, ls.Length):
        return "open", nodes[value.node]
    return tuple([_marked(item, nodes) for item in value]) if isinstance(value, tuple) else value


def _traced(kernel: Kernel, attrs: Any, shapes: list, dtypes: list, nodes: dict) -> Any:
    """The lengths of the results, with ("open", number) for the leaves; None where that cannot be traced."""
    if not nodes:
        return None
    names = [f"n{number}" for number in range(max(nodes.values()) + 1)]
    dims = export.symbolic_shape(", ".join(names))

    def opened(value: Any) -> Any:
        if isinstance(value, ls.Length):
            return dims[nodes[value.node]]
        return tuple(map(opened, value)) if isinstance(value, tuple) else value

    structs = [jax.ShapeDtypeStruct(tuple(map(opened, shape)), np.dtype(dtype))
               for shape, dtype in zip(shapes, dtypes, strict=True)]
    context = Context()
    context.segment = None
    try:
        fn = kernel.fn
        if attrs is not None:
            op, layout, _ = kernel.made_of
            fn = Kernel(op.name, op._bind(layout, tuple(map(opened, attrs)))).fn
        with swapped(local, ctx=context):
            out = jax.eval_shape(fn, *structs)
    except Exception:  # the code looks at lengths in a way that JAX's symbolic dimensions do not allow
        return None
    results = out if isinstance(out, tuple | list) else [out]
    return [[_expression(n, names) for n in one.shape] for one in results]


def _expression(dim: Any, names: list) -> Any:
    """A symbolic dimension of JAX as an expression; None where it is of an unknown kind."""
    if isinstance(dim, int | np.integer):
        return int(dim)
    total: Any = 0
    for term, factor in dim._sorted_terms:
        product: Any = 1
        for atom, power in term._factors:
            part = _atom(atom, names)
            if part is None:
                return None
            for _ in range(power):
                product = ex.binary("mul", product, part, True)
        total = ex.add(total, ex.scaled(product, factor) if isinstance(product, tuple) else product * factor)
    return total


_OPERATIONS = {"floordiv": "floordiv", "mod": "mod", "max": "max", "min": "min"}


def _atom(atom: Any, names: list) -> Any:
    if atom.var is not None:
        return "open", names.index(atom.var)
    if atom.operation not in _OPERATIONS:
        return None
    parts = [_expression(part, names) for part in atom.operands]
    if any(part is None for part in parts):
        return None
    return ex.binary(_OPERATIONS[atom.operation], *parts, True)


def _filled_in(node: Any, leaves: dict) -> Any:
    """An expression with the leaves in place of their numbers, brought to one form again."""
    if node is None or isinstance(node, int):
        return node
    if node[0] == "open":
        return leaves[node[1]]
    if node[0] == "lin":
        total: Any = node[1]
        for atom, factor in node[2]:
            part = _filled_in(atom, leaves)
            total = ex.add(total, part, factor)
        return total
    return ex.binary(node[0], *[_filled_in(part, leaves) for part in node[1:]], True)
