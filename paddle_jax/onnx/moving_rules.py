"""ONNX forms of operations that move, repeat and scatter elements. Lengths may be open, so they are read from
the operands while the file runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.framework.model_files.records import NotInOnnx

if TYPE_CHECKING:
    from paddle_jax.onnx.graph import Graph


_LAST = np.iinfo(np.int64).max  # the end of a slice that takes all that is left


def length(g: Graph, x: str, axis: Any) -> str:
    """The length of an axis as a vector of one number."""
    return g.node("Gather", [g.node("Shape", [x]), g.ints([axis])])


def steps(g: Graph, count: str) -> str:
    """The whole numbers below a vector of one number."""
    # `Range` takes single numbers.
    scalar = g.node("Reshape", [count, g.ints([])])
    return g.node("Range", [g.number(0, "int64"), scalar, g.number(1, "int64")])


def _roll(g: Graph, op: Any, x: str, shifts: str) -> str:
    shifts = g.int_list(shifts)
    # Without axes the flattened tensor is rolled.
    if not op.axis:
        flat = g.node("Reshape", [x, g.ints([-1])])
        return g.node("Reshape", [_rolled(g, flat, shifts, 0), g.node("Shape", [x])])
    for position, axis in enumerate(op.axis):
        shift = g.node("Gather", [shifts, g.ints([position])])
        x = _rolled(g, x, shift, axis % op.ndim())
    return x


def _rolled(g: Graph, x: str, shift: str, axis: int) -> str:
    count = g.node("Max", [length(g, x, axis), g.ints([1])])  # an axis may be empty
    # ONNX has no roll: two slices change places.
    start = g.node("Mod", [g.node("Neg", [shift]), count])
    axes = g.ints([axis])
    end = g.node("Slice", [x, start, g.ints([_LAST]), axes])
    return g.node("Concat", [end, g.node("Slice", [x, g.ints([0]), start, axes])], axis=axis)


def _scatter(g: Graph, op: Any, x: str, index: str, updates: str) -> str:
    rows = g.node("Reshape", [g.cast(index, "int64"), g.ints([-1, 1])])
    if op.overwrite:
        return g.node("ScatterND", [x, rows, updates])
    zeros = g.node("Sub", [updates, updates])
    # In Paddle rows start from zero where updates add up.
    return g.node("ScatterND", [g.node("ScatterND", [x, rows, zeros]), rows, updates], reduction="add")


def _scatter_nd_add(g: Graph, op: Any, x: str, index: str, updates: str) -> str:
    return g.node("ScatterND", [x, g.cast(index, "int64"), updates], reduction="add")


def _index_add(g: Graph, op: Any, x: str, index: str, updates: str) -> str:
    axis = op.axis % op.ndim()
    rows = g.node("Reshape", [g.cast(index, "int64"), g.ints([-1, 1])])
    if not axis:
        return g.node("ScatterND", [x, rows, updates], reduction="add")
    # ONNX scatters along the first axes.
    order = [axis, *[i for i in range(op.ndim()) if i != axis]]
    x, updates = (g.node("Transpose", [one], perm=order) for one in (x, updates))
    found = g.node("ScatterND", [x, rows, updates], reduction="add")
    return g.node("Transpose", [found], perm=np.argsort(order).tolist())


def _index_put(g: Graph, op: Any, x: str, indices: Sequence[str], value: str) -> str:
    # A mask is no list of places.
    if any(kind[0] == "bool" for kind in op.kinds[1]):
        raise NotInOnnx("a mask as an index")
    total = indices[0]
    for one in indices[1:]:
        # The sum has the common shape of all indices.
        total = g.node("Add", [total, one])
    shape = g.node("Shape", [total])
    columns = [
        g.node("Unsqueeze", [g.node("Expand", [g.cast(one, "int64"), shape]), g.ints([-1])])
        for one in indices
    ]
    # Axes behind the indices stay whole.
    rest = g.node("Slice", [g.node("Shape", [x]), g.ints([len(indices)]), g.ints([_LAST])])
    updates = g.node("Expand", [value, g.node("Concat", [shape, rest], axis=0)])
    reduction = "add" if op.accumulate else "none"
    index = g.node("Concat", columns, axis=-1)
    return g.node("ScatterND", [x, index, updates], reduction=reduction)


_REDUCTIONS = {"assign": "none", "add": "add", "sum": "add", "mul": "mul", "multiply": "mul"}


def _put_along_axis(g: Graph, op: Any, x: str, index: str, values: str) -> str:
    if op.reduce not in _REDUCTIONS or not op.include_self:
        raise NotInOnnx(f"reduce={op.reduce!r}, include_self={op.include_self}")
    values = g.node("Expand", [values, g.node("Shape", [index])])
    return g.node(
        "ScatterElements",
        [x, g.cast(index, "int64"), values],
        axis=op.axis,
        reduction=_REDUCTIONS[op.reduce],
    )


def _repeat_interleave(g: Graph, op: Any, x: str) -> str:
    count = g.node("Mul", [length(g, x, op.axis % op.ndim()), g.ints([op.repeats])])
    # Each place comes so many times: k // repeats.
    rows = g.node("Div", [steps(g, count), g.number(op.repeats, "int64")])
    return g.node("Gather", [x, rows], axis=op.axis)


def _channel_shuffle(g: Any, op: Any, x: Any) -> Any:
    op.channels_first()
    channels = op.lengths()[1]
    # Groups and channels within them change places.
    split = g.node("Reshape", [x, g.ints([0, op.groups, channels // op.groups, -1])])
    return g.node("Reshape", [g.node("Transpose", [split], perm=[0, 2, 1, 3]), g.node("Shape", [x])])


def _pixel_unshuffle(g: Any, op: Any, x: Any) -> Any:
    op.channels_first()
    factor = op.downscale_factor
    channels = g.ints([op.lengths()[1]])
    batch, step = length(g, x, 0), g.ints([factor])
    height, width = (g.node("Div", [length(g, x, axis), step]) for axis in (2, 3))
    # The inverse of DepthToSpace, which ONNX does not have in this order.
    cut = g.node("Concat", [batch, channels, height, step, width, step], axis=0)
    moved = g.node("Transpose", [g.node("Reshape", [x, cut])], perm=[0, 1, 3, 5, 2, 4])
    shape = [batch, g.ints([op.lengths()[1] * factor * factor]), height, width]
    return g.node("Reshape", [moved, g.node("Concat", shape, axis=0)])


def _diag(g: Any, op: Any, x: Any) -> Any:
    if op.offset:
        raise NotInOnnx("another diagonal than the main one")
    if op.ndim() == 1:
        rows = g.node("Unsqueeze", [steps(g, length(g, x, 0)), g.ints([1])])
        # A comparison of rows and columns marks the diagonal.
        same = g.node("Equal", [rows, steps(g, length(g, x, 0))])
        return g.node("Where", [same, x, g.number(op.padding_value, op.kind())])
    width = length(g, x, 1)
    count = g.node("Min", [length(g, x, 0), width])
    # Neighbours on the diagonal are width + 1 apart in the flattened matrix.
    places = g.node("Mul", [steps(g, count), g.node("Add", [width, g.ints([1])])])
    return g.node("Gather", [g.node("Reshape", [x, g.ints([-1])]), places])


def _cross(g: Graph, op: Any, x: str, y: str) -> str:
    ndim = op.ndim()
    if op.axis not in range(-ndim, ndim):
        raise NotInOnnx("an axis that is chosen by its length; give the axis")
    axis = op.axis % ndim
    is_right = g.node("Equal", [length(g, x, axis), g.ints([3])])
    forward, backward = (g.checked(g.ints(order), is_right) for order in ([1, 2, 0], [2, 0, 1]))
    # The first component is x1 * y2 - x2 * y1, and so on in turn.
    products = [
        g.node("Mul", [g.node("Gather", [x, one], axis=axis), g.node("Gather", [y, other], axis=axis)])
        for one, other in ((forward, backward), (backward, forward))
    ]
    return g.node("Sub", products)


def _pad(g: Graph, op: Any, x: str, value: str) -> str:
    before, after = op.paddings[::2], op.paddings[1::2]
    number = g.node("Reshape", [g.cast(value, op.kind()), g.ints([])])
    # Paddle has pairs for each axis, ONNX all begins and then all ends.
    return g.node("Pad", [x, g.ints([*before, *after]), number])


RULES = {
    "pad": _pad,
    "cross": _cross,
    "roll": _roll,
    "scatter": _scatter,
    "scatter_": _scatter,
    "scatter_nd_add": _scatter_nd_add,
    "index_add": _index_add,
    "index_add_": _index_add,
    "index_put": _index_put,
    "index_put_": _index_put,
    "put_along_axis": _put_along_axis,
    "put_along_axis_": _put_along_axis,
    "repeat_interleave": _repeat_interleave,
    "channel_shuffle": _channel_shuffle,
    "pixel_unshuffle": _pixel_unshuffle,
    "diag": _diag,
}
