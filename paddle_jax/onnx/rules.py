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
import dataclasses
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.kernels.op_record import READS
from paddle_jax.framework.model_files.plain_values import shape_along
from paddle_jax.framework.model_files.records import lowering_of, parse_record
from paddle_jax.onnx.element_rules import RULES as ELEMENT_RULES
from paddle_jax.onnx.moving_rules import RULES as MOVING_RULES
from paddle_jax.onnx.running_rules import RULES as RUNNING_RULES
from paddle_jax.onnx.selection_rules import RULES as SELECTION_RULES

if TYPE_CHECKING:
    from paddle_jax.onnx.graph import Graph


def rule_of(name: str) -> Any:
    """The rule that writes an operation: what the record of an op says, or a line below; None where
    there is neither."""
    # Operations that Paddle alone has are in the table.
    op = READS.get(name)
    if op is None:
        return RULES.get(name)
    said = op.record.onnx or lowering_of(op.record.code).onnx
    if not said:
        return RULES.get(name)
    if callable(said):
        return said
    # Brackets are those of several nodes.
    if "(" in said:
        return _expression(op, said)
    return _node(said)


def _node(text: str) -> Callable[..., Any]:
    """A rule that adds one node: its kind, and attributes `[node's=]name`."""
    kind, *attrs = text.split()
    pairs = [(in_node or name, name) for in_node, _, name in (one.rpartition("=") for one in attrs)]

    def rule(g: Graph, op: Any, *operands: Any) -> str:
        # Rules for one node assume the layout of ONNX.
        op.channels_first()
        return g.node(
            kind, operands, **{in_node: _plain(g, name, getattr(op, name)) for in_node, name in pairs}
        )

    return rule


def _plain(g: Graph, name: str, value: Any) -> float | list[int]:
    """An attribute of an operation as one of a node."""
    # ONNX has numbers for dtypes and for truth values.
    if name == "dtype":
        return g.dtype(value)
    if isinstance(value, bool):
        return int(value)
    return value


def _expression(op: Callable[..., Any], text: str) -> Callable[..., Any]:
    """A rule that adds the nodes of an expression."""
    known, body = parse_record(op.record.pir), ast.parse(text, mode="eval").body
    names = op.tensors or tuple(op.signature.parameters)
    if known.operands is None:
        kinds = dict.fromkeys(names, "")
    else:
        kinds = {one.parameter: one.kind for one in known.operands}
    # These attributes are whole numbers in Paddle's records.
    whole = {one.name for one in known.attributes if one.kind.startswith("i")}

    def rule(g: Graph, op: Any, *operands: Any) -> Any:
        op.channels_first()
        use = _Use(g, op, dict(zip(kinds, operands, strict=False)), kinds, whole)
        (found,) = use.tensors(body)
        if known.results is None:
            return found
        # Further results of Paddle's operation serve its gradient.
        return [found if one == "out" else None for one in known.results]

    return rule


@dataclasses.dataclass(frozen=True, slots=True)
class _Use:
    """An expression where it is used.

    Attributes:
        g: Graph.
        op: the operation, by which the attributes are known.
        given: dict from names of operands to names of tensors, or lists of them.
        kinds: dict from names of operands to their kinds in Paddle's record.
        whole: set of the names of attributes that are whole numbers.
    """

    g: Graph
    op: Any
    given: dict[str, Any]
    kinds: dict[str, str]
    whole: set[str]

    def tensors(self, node: Any) -> list[str]:
        """The names of what an argument stands for."""
        if isinstance(node, ast.Starred):
            # A list of tensors takes the place of one argument.
            return self.given[node.value.id]
        if isinstance(node, ast.Call):
            inputs = [name for one in node.args for name in self.tensors(one)]
            attributes = {one.arg: self._constant(one.value) for one in node.keywords}
            return [self.g.node(node.func.id, inputs, **attributes)]
        name = getattr(node, "id", None)
        if name in self.given:
            if self.kinds[name] in ("ints", "size"):
                return [self.g.int_list(self.given[name])]
            return [self.given[name]]
        # Numbers take the dtype of the operand, unless the attribute is a whole number.
        if name in self.whole:
            return [self.g.number(self._constant(node), "int64")]
        return [self.g.number(self._constant(node), self.op.kind())]

    def _constant(self, node: Any) -> Any:
        """The value of an attribute of a node."""
        if isinstance(node, ast.Constant):
            return node.value
        if node.id in self.given:
            return int(self.g.numbers(self.given[node.id])[0])
        return _plain(self.g, node.id, getattr(self.op, node.id))


def _full_like(g: Graph, op: Any, x: str, value: str) -> str:
    shape = g.node("Shape", [x])
    if value not in g.known:
        # The number is computed when the model runs.
        return g.node("Expand", [g.node("Reshape", [g.cast(value, op.dtype), g.ints([1])]), shape])
    number = g.onnx.numpy_helper.from_array(np.array([g.numbers(value)[0]], op.dtype))
    return g.node("ConstantOfShape", [shape], value=number)


def _arange(g: Graph, op: Any, start: str, end: str, step: str) -> str:
    return g.node("Range", [g.node("Reshape", [g.cast(v, op.dtype), g.ints([])]) for v in (start, end, step)])


def _split_evenly(g: Graph, op: Any, x: str, axis: Any) -> list[str]:
    axis = int(g.numbers(axis)[0])
    length = op.lengths()[axis]
    if length < 0:
        # The length is open: it is read when the model runs.
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
        # The error of the quotient, which grows with the size of the dtype's step.
        near = {"float64": 1e-12}.get(op.kind(), 1e-6)
        is_whole = g.node("Less", [gap, g.number(near, op.kind())])
        return g.node("Where", [is_whole, whole, found])

    return rule


def _linspace(g: Any, op: Any, start: Any, stop: Any, count: Any) -> Any:
    """From 0 to 1 first; one number is the start."""
    zero, one = (g.number(n, "int64") for n in (0, 1))
    count = g.node("Reshape", [g.cast(count, "int64"), g.ints([])])
    start, stop = (g.node("Reshape", [g.cast(end, "float64"), g.ints([])]) for end in (start, stop))
    # At least 1, as a single number has no step.
    last = g.node("Max", [g.node("Sub", [count, one]), one])
    steps = g.cast(g.node("Range", [zero, count, one]), "float64")
    step = g.node("Div", [g.node("Sub", [stop, start]), g.cast(last, "float64")])
    return g.cast(g.node("Add", [start, g.node("Mul", [steps, step])]), op.dtype)


def _set_value(g: Graph, op: Any, x: str, value: str, starts: str, ends: str, steps: str) -> str:
    """Writes into the places of a grid of positions, one axis after the other."""
    # ONNX writes at coordinates, so those of the whole block are made.
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
    # The shape of the block.
    grid = g.node("Concat", [g.node("Shape", [positions]) for positions in every], axis=0)
    columns = [
        g.node(
            "Expand",
            [
                g.node(
                    "Reshape",
                    [positions, g.ints(shape_along(axis, len(every)))],
                ),
                grid,
            ],
        )
        for axis, positions in enumerate(every)
    ]
    # A coordinate for each element of the block.
    index = g.node("Concat", [g.node("Unsqueeze", [column, g.ints([-1])]) for column in columns], axis=-1)
    if op.decrease_axes:
        value = _with_axes(g, op, value)
    return g.node("ScatterND", [x, index, g.node("Expand", [value, grid])])


def _with_axes(g: Graph, op: Any, value: str) -> str:
    """The value with the axes that an integer index drops, as far as it has axes before them."""
    missing = op.ndim() - len(op.decrease_axes) - op.ndim(1)
    # Axes in front, as NumPy broadcasts.
    if missing > 0:
        value = g.node("Unsqueeze", [value, g.ints(list(range(missing)))])
    return g.node("Unsqueeze", [value, g.ints(sorted(op.decrease_axes))])


def _positions(g: Graph, length: str, start: str, end: str, step: str) -> str:
    """The positions that a slice picks: bounds below 0 count from the end, and stay within the axis."""
    zero, one = (g.number(n, "int64") for n in (0, 1))
    forward = g.node("Greater", [step, zero])
    least = g.node("Where", [forward, zero, g.number(-1, "int64")])
    # Backwards the last place comes first.
    most = g.node("Where", [forward, length, g.node("Sub", [length, one])])
    bounds = []
    for bound in (start, end):
        # Bounds below 0 count from the end.
        counted = g.node("Where", [g.node("Less", [bound, zero]), g.node("Add", [bound, length]), bound])
        bounds.append(g.node("Min", [g.node("Max", [counted, least]), most]))
    return g.node("Range", [*bounds, step])


def _mean_of_all(g: Graph, op: Any, x: str) -> str:
    mean = g.node("ReduceMean", [x], keepdims=0)
    if all(n > 0 for n in op.lengths()):
        return mean
    # onnxruntime takes the mean of nothing for 0.
    is_empty = g.node("Equal", [g.node("Size", [x]), g.number(0, "int64")])
    return g.node("Where", [is_empty, g.number(math.nan, op.kind()), mean])


RULES = {
    **ELEMENT_RULES,
    **MOVING_RULES,
    **SELECTION_RULES,
    **RUNNING_RULES,
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
    "mean_all": _mean_of_all,
    "nonzero": lambda g, op, x: g.node("Transpose", [g.node("NonZero", [x])], perm=[1, 0]),
    "split_with_num": _split_evenly,
}
