"""How PIR operations are written in ONNX: `rule(g, op, *operands) -> name` (or a list of names); operands are
names, lists of names, or None.

A record says it as one node, `onnx="LeakyRelu alpha=negative_slope"`, or as an expression of nodes,
`onnx="Mul(x, Sigmoid(x))"`: names are the operands and attributes of its `pir`; those after `=`, and numbers
there, are attributes of the node, all others tensors. What that cannot say is code in
`framework/model_files/custom_lowerings`, and below is what no op of ours has a record for: operations that
the writer makes on its own, or that only Paddle writes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.kernels.op_record import READS
from paddle_jax.framework.model_files.records import lowering_of, parse_record
from paddle_jax.onnx.element_rules import RULES as ELEMENT_RULES
from paddle_jax.onnx.moving_rules import RULES as MOVING_RULES

if TYPE_CHECKING:
    from paddle_jax.onnx.graph import Graph


def rule_of(name: str) -> Any:
    """The rule that writes an operation: what the record of an op says, or a line below; None where
    there is neither."""
    op = READS.get(name)
    if op is None:
        return RULES.get(name)
    said = op.record.onnx or lowering_of(op.record.code).onnx
    return (
        RULES.get(name)
        if not said
        else said
        if callable(said)
        else _expression(op, said)
        if "(" in said
        else _node(said)
    )


def _node(text: str) -> Callable[..., Any]:
    """A rule that adds one node: its kind, and attributes `[node's=]name`."""
    kind, *attrs = text.split()
    pairs = [(theirs or name, name) for theirs, _, name in (one.rpartition("=") for one in attrs)]

    def rule(g: Graph, op: Any, *operands: Any) -> str:
        op.channels_first()
        return g.node(
            kind, operands, **{theirs: _plain(g, name, getattr(op, name)) for theirs, name in pairs}
        )

    return rule


def _plain(g: Graph, name: str, value: Any) -> float | list[int]:
    """An attribute of an operation as one of a node."""
    return g.dtype(value) if name == "dtype" else int(value) if isinstance(value, bool) else value


def _expression(op: Callable[..., Any], text: str) -> Callable[..., Any]:
    """A rule that adds the nodes of an expression."""
    known, body = parse_record(op.record.pir), ast.parse(text, mode="eval").body
    names = op.tensors or tuple(op.signature.parameters)
    kinds = (
        {one.parameter: one.kind for one in known.operands}
        if known.operands is not None
        else dict.fromkeys(names, "")
    )
    whole = {one.name for one in known.attributes if one.kind.startswith("i")}

    def rule(g: Graph, op: Any, *operands: Any) -> Any:
        op.channels_first()
        given = dict(zip(kinds, operands, strict=False))

        def constant(node: Any) -> Any:
            """The value of an attribute of a node."""
            if isinstance(node, ast.Constant):
                return node.value
            return (
                int(g.numbers(given[node.id])[0])
                if node.id in given
                else _plain(g, node.id, getattr(op, node.id))
            )

        def tensors(node: Any) -> list[str]:
            """The names of what an argument stands for."""
            if isinstance(node, ast.Starred):
                return given[node.value.id]
            if isinstance(node, ast.Call):
                inputs = [name for one in node.args for name in tensors(one)]
                return [
                    g.node(node.func.id, inputs, **{one.arg: constant(one.value) for one in node.keywords})
                ]
            if isinstance(node, ast.Name) and node.id in given:
                return (
                    [g.int_list(given[node.id])] if kinds[node.id] in ("ints", "size") else [given[node.id]]
                )
            value = constant(node)
            return [
                g.number(value, "int64" if isinstance(node, ast.Name) and node.id in whole else op.kind())
            ]

        (found,) = tensors(body)
        return found if known.results is None else [found if one == "out" else None for one in known.results]

    return rule


def _full_like(g: Graph, op: Any, x: str, value: str) -> str:
    number = g.onnx.numpy_helper.from_array(np.array([g.numbers(value)[0]], op.dtype))
    return g.node("ConstantOfShape", [g.node("Shape", [x])], value=number)


def _arange(g: Graph, op: Any, start: str, end: str, step: str) -> str:
    return g.node("Range", [g.node("Reshape", [g.cast(v, op.dtype), g.ints([])]) for v in (start, end, step)])


def _split_evenly(g: Graph, op: Any, x: str, axis: Any) -> list[str]:
    axis = int(g.numbers(axis)[0])
    length = op.lengths()[axis]
    if length < 0:
        length = g.node("Gather", [g.node("Shape", [x]), g.ints([axis])])
        sizes = g.node("Expand", [g.node("Div", [length, g.ints([op.num])]), g.ints([op.num])])
        return g.node("Split", [x, sizes], op.num, axis=axis)
    return g.node("Split", [x, g.ints([length // op.num] * op.num)], op.num, axis=axis)


def _logarithm(base: int) -> Callable[..., Any]:
    def rule(g: Graph, op: Any, x: str) -> str:
        """That of a power of the base is the whole number; the quotient may be a little less."""
        found = g.node("Div", [g.node("Log", [x]), g.number(np.log(base), op.kind())])
        whole = g.node("Round", [found])
        gap = g.node("Abs", [g.node("Sub", [found, whole])])
        is_whole = g.node("Less", [gap, g.number(1e-12 if op.kind() == "float64" else 1e-6, op.kind())])
        return g.node("Where", [is_whole, whole, found])

    return rule


def _linspace(g: Any, op: Any, start: Any, stop: Any, count: Any) -> Any:
    """From 0 to 1 first; one number is the start."""
    zero, one = (g.number(n, "int64") for n in (0, 1))
    count = g.node("Reshape", [g.cast(count, "int64"), g.ints([])])
    start, stop = (g.node("Reshape", [g.cast(end, "float64"), g.ints([])]) for end in (start, stop))
    last = g.node("Max", [g.node("Sub", [count, one]), one])
    steps = g.cast(g.node("Range", [zero, count, one]), "float64")
    step = g.node("Div", [g.node("Sub", [stop, start]), g.cast(last, "float64")])
    return g.cast(g.node("Add", [start, g.node("Mul", [steps, step])]), op.dtype)


def _set_value(g: Graph, op: Any, x: str, value: str, starts: str, ends: str, steps: str) -> str:
    """Writes into the places of a grid of positions, one axis after the other."""
    shape, ranges = g.node("Shape", [x]), {}
    starts, ends, steps = map(g.int_list, (starts, ends, steps))
    for at, axis in enumerate(op.axes):
        length, *bounds = (
            g.node("Gather", [vector, g.number(place, "int64")])
            for vector, place in ((shape, axis), (starts, at), (ends, at), (steps, at))
        )
        ranges[axis] = _positions(g, length, *bounds)
    zero, one = (g.number(n, "int64") for n in (0, 1))
    for axis in range(op.ndim()):
        if axis not in ranges:
            length = g.node("Gather", [shape, g.number(axis, "int64")])
            ranges[axis] = g.node("Range", [zero, length, one])
    every = [ranges[axis] for axis in range(op.ndim())]
    grid = g.node("Concat", [g.node("Shape", [positions]) for positions in every], axis=0)
    columns = [
        g.node(
            "Expand",
            [
                g.node(
                    "Reshape",
                    [positions, g.ints([-1 if other == axis else 1 for other in range(len(every))])],
                ),
                grid,
            ],
        )
        for axis, positions in enumerate(every)
    ]
    index = g.node("Concat", [g.node("Unsqueeze", [column, g.ints([-1])]) for column in columns], axis=-1)
    if op.decrease_axes:
        value = _with_axes(g, op, value)
    return g.node("ScatterND", [x, index, g.node("Expand", [value, grid])])


def _with_axes(g: Graph, op: Any, value: str) -> str:
    """The value with the axes that an integer index drops, as far as it has axes before them."""
    missing = op.ndim() - len(op.decrease_axes) - op.ndim(1)
    if missing > 0:
        value = g.node("Unsqueeze", [value, g.ints(list(range(missing)))])
    return g.node("Unsqueeze", [value, g.ints(sorted(op.decrease_axes))])


def _positions(g: Graph, length: str, start: str, end: str, step: str) -> str:
    """The positions that a slice picks: bounds below 0 count from the end, and stay within the axis."""
    zero, one = (g.number(n, "int64") for n in (0, 1))
    forward = g.node("Greater", [step, zero])
    least = g.node("Where", [forward, zero, g.number(-1, "int64")])
    most = g.node("Where", [forward, length, g.node("Sub", [length, one])])
    bounds = []
    for bound in (start, end):
        counted = g.node("Where", [g.node("Less", [bound, zero]), g.node("Add", [bound, length]), bound])
        bounds.append(g.node("Min", [g.node("Max", [counted, least]), most]))
    return g.node("Range", [*bounds, step])


RULES = {
    **ELEMENT_RULES,
    **MOVING_RULES,
    "trunc": lambda g, op, x: g.node("Mul", [g.node("Sign", [x]), g.node("Floor", [g.node("Abs", [x])])]),
    "masked_fill": lambda g, op, x, mask, value: g.node("Where", [mask, value, x]),
    "linspace": _linspace,
    "log2": _logarithm(2),
    "log10": _logarithm(10),
    "set_value_with_tensor_": _set_value,
    "set_value_with_tensor": _set_value,
    "builtin.combine": lambda g, op, *xs: list(xs),
    "builtin.split": lambda g, op, xs: xs if op.count > 1 else xs[0],
    "full": lambda g, op: g.constant(np.full(op.shape, op.value, op.dtype)),
    "full_int_array": lambda g, op: g.ints(op.value),
    "full_like": _full_like,
    "full_with_tensor": lambda g, op, value, shape: g.node(
        "Expand", [g.node("Reshape", [value, g.ints([1])]), g.int_list(shape)]
    ),
    "assign_value_": lambda g, op, x: g.constant(np.array(op.values, op.dtype).reshape(op.shape)),
    "arange": _arange,
    "pow": lambda g, op, x: g.node("Pow", [x, g.number(op.y, op.kind())]),
    "mean_all": lambda g, op, x: g.node("ReduceMean", [x], keepdims=0),
    "nonzero": lambda g, op, x: g.node("Transpose", [g.node("NonZero", [x])], perm=[1, 0]),
    "dropout": lambda g, op, x, *rest: [g.node("Identity", [x]), None],
    "split_with_num": _split_evenly,
}
