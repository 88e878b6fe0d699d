"""ONNX forms of running products and extremes, medians, windows as columns, and random numbers.

Lengths may be open, so they are read from the operands while the file runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.framework.model_files.records import NotInOnnx
from paddle_jax.onnx.moving_rules import length, steps

if TYPE_CHECKING:
    from paddle_jax.onnx.graph import Graph

_UNIFORM = "float64"  # in which whole numbers are drawn


def _without_axis(g: Graph, x: str, axis: int, ndim: int) -> str:
    """The shape of x without an axis."""
    return g.node("Gather", [g.node("Shape", [x]), g.ints([i for i in range(ndim) if i != axis])])


def _longer(g: Graph, x: str, ndim: int, dtype: str) -> str:
    """x with one more element along each axis: onnxruntime's `Scan` takes no axis without elements."""
    return g.node("Pad", [x, g.ints([0] * ndim + [1] * ndim), g.number(0, dtype)])


def _cut(g: Graph, found: Sequence[str], x: str, ndim: int) -> list[str]:
    """The part of results that belongs to x."""
    return [g.node("Slice", [one, g.ints([0] * ndim), g.node("Shape", [x])]) for one in found]


def _scan(
    g: Graph,
    x: str,
    axis: int,
    states: Sequence[tuple[str, str]],
    step: Callable[..., tuple[Sequence[str], Sequence[str]]],
    dtype: str,
    result_dtypes: Sequence[str],
) -> list[str]:
    """What `step` gives for each element along an axis, after the elements before it.

    Args:
        g: graph.
        x: name of the operand.
        axis: int, from 0.
        states: (name of the first value, dtype) of what is carried.
        step: function of the names of the states and of the element, which gives the names of the new states
            and of the results.
        dtype: that of x.
        result_dtypes: those of the results.
    """
    outer = g.nodes
    g.nodes = []
    names = [g.name() for _ in states]
    item = g.name()
    carried, results = step(names, item)
    # Each result of the body has a name of its own.
    ends = [g.node("Identity", [name]) for name in (*carried, *results)]
    nodes = g.nodes
    g.nodes = outer
    dtypes = [dtype for _, dtype in states]
    info = g.onnx.helper.make_tensor_value_info
    inputs = [
        info(name, g.dtype(one), None) for name, one in zip([*names, item], [*dtypes, dtype], strict=True)
    ]
    outputs = [
        info(name, g.dtype(one), None) for name, one in zip(ends, [*dtypes, *result_dtypes], strict=True)
    ]
    body = g.onnx.helper.make_graph(nodes, g.name(), inputs, outputs)
    found = g.node(
        "Scan",
        [*[name for name, _ in states], x],
        len(ends),
        body=body,
        num_scan_inputs=1,
        scan_input_axes=[axis],
        scan_output_axes=[axis] * len(results),
    )
    return found[len(states) :]


def _check_plain(op: Any) -> None:
    if op.exclusive or op.reverse:
        raise NotInOnnx("sums and products from behind, or without the element")


def _cumprod(g: Graph, op: Any, x: str) -> str:
    _check_plain(op)
    axis = op.dim % op.ndim()
    kind = op.kind()
    longer = _longer(g, x, op.ndim(), kind)
    one = g.node("Expand", [g.number(1, kind), _without_axis(g, longer, axis, op.ndim())])

    def step(states: list[str], item: str) -> tuple[Sequence[str], Sequence[str]]:
        product = g.node("Mul", [*states, item])
        return [product], [product]

    found = _scan(g, longer, axis, [(one, kind)], step, kind, [kind])
    return _cut(g, found, x, op.ndim())[0]


def _logcumsumexp(g: Graph, op: Any, x: str) -> str:
    _check_plain(op)
    kind = op.kind()
    ndim = op.ndim()
    if op.flatten:
        x = g.node("Reshape", [x, g.ints([-1])])
        ndim = 1
    axis = 0 if op.flatten else op.axis % ndim
    longer = _longer(g, x, ndim, kind)
    shape = _without_axis(g, longer, axis, ndim)
    # The largest exponent so far, and the sum of the others below it.
    largest = g.node("Expand", [g.number(-math.inf, kind), shape])
    total = g.node("Expand", [g.number(0, kind), shape])

    def step(states: list[str], item: str) -> tuple[Sequence[str], Sequence[str]]:
        before, total = states
        after = g.node("Max", [before, item])
        # Infinity minus infinity is NaN.
        is_finite = g.node("Less", [g.node("Abs", [after]), g.number(math.inf, kind)])
        base = g.node("Where", [is_finite, after, g.number(0, kind)])
        scaled = g.node("Mul", [total, g.node("Exp", [g.node("Sub", [before, base])])])
        added = g.node("Exp", [g.node("Sub", [item, base])])
        # Without any exponent so far there is nothing to scale.
        is_first = g.node("Equal", [before, g.number(-math.inf, kind)])
        total = g.node("Add", [g.node("Where", [is_first, g.number(0, kind), scaled]), added])
        return [after, total], [g.node("Add", [base, g.node("Log", [total])])]

    found = _scan(g, longer, axis, [(largest, kind), (total, kind)], step, kind, [kind])
    return _cut(g, found, x, ndim)[0]


def _extreme(comparison: str) -> Callable[..., list[str]]:
    """`cummax` or `cummin`: values and where they are. comparison: of an element that is not taken."""

    def rule(g: Graph, op: Any, x: str) -> list[str]:
        kind = op.kind()
        is_half = kind in ("float16", "bfloat16")
        # onnxruntime compares few kinds of short floats; longer ones are in the same order.
        if is_half:
            kind = "float32"
            x = g.cast(x, kind)
        axis = op.axis % op.ndim()
        longer = _longer(g, x, op.ndim(), kind)
        shape = _without_axis(g, longer, axis, op.ndim())
        value = g.node("Expand", [g.number(0, kind), shape])
        place = g.node("Expand", [g.number(0, op.dtype), shape])

        def step(states: list[str], item: str) -> tuple[Sequence[str], Sequence[str]]:
            value, place, count = states
            is_worse = g.node(comparison, [item, value])
            # NaN stays, and is taken as no comparison with it holds.
            if np.dtype(kind).kind == "f":
                is_number = g.node("Not", [g.node("IsNaN", [item])])
                stays = g.node("And", [g.node("IsNaN", [value]), is_number])
                is_worse = g.node("Or", [is_worse, stays])
            is_first = g.node("Equal", [count, g.number(0, op.dtype)])
            is_taken = g.node("Or", [is_first, g.node("Not", [is_worse])])
            value = g.node("Where", [is_taken, item, value])
            place = g.node("Where", [is_taken, count, place])
            return [value, place, g.node("Add", [count, g.number(1, op.dtype)])], [value, place]

        states = [(value, kind), (place, op.dtype), (g.number(0, op.dtype), op.dtype)]
        found = _scan(g, longer, axis, states, step, kind, [kind, op.dtype])
        values, places = _cut(g, found, x, op.ndim())
        if is_half:
            values = g.cast(values, op.kind())
        return [values, places]

    return rule


def _median(ignores_nan: bool) -> Callable[..., list[str | None]]:
    """Values, and where the lower of the two middle ones is."""

    def rule(g: Graph, op: Any, x: str) -> list[str | None]:
        ndim = op.ndim()
        axes = sorted(axis % ndim for axis in op.axis) or list(range(ndim))
        kept = [axis for axis in range(ndim) if axis not in axes]
        kind = op.out[0]
        is_half = kind in ("float16", "bfloat16")
        if is_half:
            kind = "float32"
        is_float = np.dtype(kind).kind == "f"
        largest, nothing = (math.inf, math.nan) if is_float else (np.iinfo(kind).max, 0)
        rows = g.node("Transpose", [x], perm=[*kept, *axes]) if ndim else x
        shape = g.node("Gather", [g.node("Shape", [x]), g.ints(kept)])
        count = g.node("ReduceProd", [g.node("Gather", [g.node("Shape", [x]), g.ints(axes)])], keepdims=1)
        rows = g.node("Reshape", [rows, g.node("Concat", [shape, count], axis=0)], allowzero=1)
        rows = g.cast(rows, kind)
        # One more at the end, as onnxruntime takes nothing from an axis without elements.
        after = g.ints([0] * (2 * len(kept) + 1) + [1])
        rows = g.node("Pad", [rows, after, g.number(largest, kind)])
        # A whole number is never NaN, and never below itself.
        is_nan = g.node("IsNaN", [rows]) if is_float else g.node("Less", [rows, rows])
        nans = g.node("ReduceSum", [g.cast(is_nan, "int64"), g.ints([-1])], keepdims=1)
        # NaN comes behind all numbers.
        rows = g.node("Where", [is_nan, g.number(largest, kind), rows])
        ordered, places = g.node("TopK", [rows, g.node("Shape", [rows], start=-1)], 2, axis=-1, largest=0)
        number = g.node("Sub", [count, nans])
        zero, one, two = (g.ints([n]) for n in (0, 1, 2))
        low = g.node("Max", [g.node("Div", [g.node("Sub", [number, one]), two]), zero])
        value = g.node("GatherElements", [ordered, low], axis=-1)
        if op.mode == "avg":
            high = g.node("Div", [number, two])
            other = g.node("GatherElements", [ordered, high], axis=-1)
            value = g.node("Div", [g.node("Add", [value, other]), g.number(2, kind)])
        is_bad = g.node("Less", [number, one])
        # One NaN is enough.
        if not ignores_nan:
            is_bad = g.node("Or", [is_bad, g.node("Less", [zero, nans])])
        value = g.node("Where", [is_bad, g.number(nothing, kind), value])
        place = None
        if op.mode == "min":
            place = g.node("GatherElements", [places, low], axis=-1)
            first = g.node("ArgMax", [g.cast(is_nan, "int32")], axis=-1)
            place = g.node("Where", [is_bad, first, place])
        full = g.node("Shape", [x])
        if op.keepdim:
            ones = g.node("Expand", [one, g.ints([len(axes)])])
            shape = g.node("ScatterElements", [full, g.ints(axes), ones])
        value = g.node("Reshape", [value, shape], allowzero=1)
        if place is not None:
            place = g.node("Reshape", [place, shape], allowzero=1)
        return [g.cast(value, op.out[0]) if is_half else value, place]

    return rule


def _window_places(g: Graph, size: str, kernel: int, stride: int, dilation: int) -> tuple[str, str]:
    """(positions [kernel, windows] along an axis, the number of windows)."""
    reach = dilation * (kernel - 1) + 1
    room = g.node("Sub", [size, g.ints([reach])])
    windows = g.node("Add", [g.node("Div", [room, g.ints([stride])]), g.ints([1])])
    windows = g.checked(windows, g.node("LessOrEqual", [g.ints([reach]), size]))
    starts = g.node("Mul", [steps(g, windows), g.ints([stride])])
    offsets = g.ints([[dilation * k] for k in range(kernel)])
    return g.node("Add", [offsets, g.node("Unsqueeze", [starts, g.ints([0])])]), windows


def _unfold(g: Graph, op: Any, x: str) -> str:
    (height, width), (top, left, bottom, right) = op.kernel_sizes, op.paddings
    pads = g.ints([0, 0, top, left, 0, 0, bottom, right])
    padded = g.node("Pad", [x, pads, g.number(0, op.kind())])
    rows, down = _window_places(g, length(g, padded, 2), height, op.strides[0], op.dilations[0])
    columns, across = _window_places(g, length(g, padded, 3), width, op.strides[1], op.dilations[1])
    # [N, C, height, down, width, across]
    found = g.node("Gather", [g.node("Gather", [padded, rows], axis=2), columns], axis=4)
    found = g.node("Transpose", [found], perm=[0, 1, 2, 4, 3, 5])
    channels = g.node("Mul", [length(g, x, 1), g.ints([height * width])])
    shape = g.node("Concat", [length(g, x, 0), channels, g.node("Mul", [down, across])], axis=0)
    return g.node("Reshape", [found, shape], allowzero=1)


def _fold(g: Graph, op: Any, x: str) -> str:
    # onnxruntime convolves single precision alone.
    if op.kind() != "float32":
        return _fold_by_places(g, op, x)
    return _fold_by_convolution(g, op, x)


def _fold_by_places(g: Graph, op: Any, x: str) -> str:
    """Adds each number at its place in the padded image."""
    (height, width), pads = op.kernel_sizes, op.paddings
    full = [op.output_sizes[axis] + pads[axis] + pads[axis + 2] for axis in (0, 1)]
    places = []
    for axis in (0, 1):
        reach = op.dilations[axis] * (op.kernel_sizes[axis] - 1) + 1
        starts = np.arange(0, full[axis] - reach + 1, op.strides[axis])
        places.append(op.dilations[axis] * np.arange(op.kernel_sizes[axis])[:, None] + starts)
    # [height, width, rows, columns]
    index = places[0][:, None, :, None] * full[1] + places[1][None, :, None, :]
    batch, channels = length(g, x, 0), g.node("Div", [length(g, x, 1), g.ints([height * width])])
    outer = g.node("Concat", [batch, channels], axis=0)
    rows = g.node("Reshape", [x, g.node("Concat", [outer, g.ints([index.size])], axis=0)], allowzero=1)
    index = g.node("Expand", [g.ints(index.ravel()), g.node("Shape", [rows])])
    zeros = g.node("Concat", [outer, g.ints([full[0] * full[1]])], axis=0)
    zeros = g.node("Expand", [g.number(0, op.kind()), zeros])
    found = g.node("ScatterElements", [zeros, index, rows], axis=2, reduction="add")
    found = g.node("Reshape", [found, g.node("Concat", [outer, g.ints(full)], axis=0)], allowzero=1)
    ends = [pads[axis] + op.output_sizes[axis] for axis in (0, 1)]
    return g.node("Slice", [found, g.ints(list(pads[:2])), g.ints(ends), g.ints([2, 3])])


def _fold_by_convolution(g: Graph, op: Any, x: str) -> str:
    """A transposed convolution, in which each column of x is one place of the window."""
    (height, width), pads = op.kernel_sizes, op.paddings
    sums = pads[0] + pads[2], pads[1] + pads[3]
    windows = []
    rests = []
    for axis in (0, 1):
        reach = op.dilations[axis] * (op.kernel_sizes[axis] - 1) + 1
        count, rest = divmod(op.output_sizes[axis] + sums[axis] - reach, op.strides[axis])
        windows.append(count + 1)
        rests.append(rest)
    places = height * width
    columns = g.node("Reshape", [x, g.ints([-1, places, *windows])])
    weight = g.constant(np.eye(places, dtype=op.kind()).reshape(places, 1, height, width))
    found = g.node(
        "ConvTranspose",
        [columns, weight],
        strides=list(op.strides),
        dilations=list(op.dilations),
        pads=list(pads),
        output_padding=rests,
    )
    channels = g.node("Div", [length(g, x, 1), g.ints([places])])
    shape = g.node("Concat", [length(g, x, 0), channels, g.ints(list(op.output_sizes))], axis=0)
    return g.node("Reshape", [found, shape], allowzero=1)


def _frame(g: Graph, op: Any, x: str) -> str:
    axis = op.axis % op.ndim()
    places, _ = _window_places(g, length(g, x, axis), op.frame_length, op.hop_length, 1)
    # The first axis has the frames first.
    if op.axis == 0:
        places = g.node("Transpose", [places], perm=[1, 0])
    return g.node("Gather", [x, places], axis=axis)


def _overlap_add(g: Graph, op: Any, x: str) -> str:
    """Adds each frame at its place."""
    ndim = op.ndim()
    # [..., frame_length, frames], where the axis 0 has frames first.
    if op.axis == 0:
        perm = [*range(2, ndim), 1, 0]
        x = g.node("Transpose", [x], perm=perm)
    size, count = length(g, x, ndim - 2), length(g, x, ndim - 1)
    hop = g.ints([op.hop_length])
    # As in Paddle there are no gaps between frames.
    size = g.checked(size, g.node("LessOrEqual", [hop, size]))
    zero, one = (g.ints([n]) for n in (0, 1))
    total = g.node("Add", [g.node("Mul", [g.node("Sub", [count, one]), hop]), size])
    # The frames and what is in them, as one axis.
    outer = g.node("Slice", [g.node("Shape", [x]), zero, g.ints([ndim - 2])])
    rows = g.node("ReduceProd", [outer], keepdims=1) if ndim > 2 else one
    flat = g.node("Reshape", [x, g.node("Concat", [rows, g.node("Mul", [size, count])], axis=0)], allowzero=1)
    starts = g.node("Mul", [steps(g, count), hop])
    places = g.node("Add", [g.node("Unsqueeze", [steps(g, size), one]), starts])
    index = g.node("Expand", [g.node("Reshape", [places, g.ints([-1])]), g.node("Shape", [flat])])
    zeros = g.node("Expand", [g.number(0, op.kind()), g.node("Concat", [rows, total], axis=0)])
    found = g.node("ScatterElements", [zeros, index, flat], axis=1, reduction="add")
    found = g.node("Reshape", [found, g.node("Concat", [outer, total], axis=0)], allowzero=1)
    if op.axis == 0 and ndim > 2:
        found = g.node("Transpose", [found], perm=[ndim - 2, *range(ndim - 2)])
    return found


def _zeros(g: Graph, shape: Any, dtype: str) -> str:
    """Zeros, whose shape is that of the numbers that are drawn."""
    return g.node("Expand", [g.number(0, dtype), g.int_list(shape)])


def _gaussian(g: Graph, op: Any, shape: Any) -> str:
    like = _zeros(g, shape, op.dtype)
    return g.node("RandomNormalLike", [like], mean=float(op.mean), scale=float(op.std))


def _uniform(g: Graph, op: Any, shape: Any, low: str, high: str) -> str:
    share = g.node("RandomUniformLike", [_zeros(g, shape, op.dtype)], low=0.0, high=1.0)
    low, high = (g.node("Reshape", [g.cast(bound, op.dtype), g.ints([])]) for bound in (low, high))
    return g.node("Add", [low, g.node("Mul", [share, g.node("Sub", [high, low])])])


def _randint(g: Graph, op: Any, shape: Any) -> str:
    share = g.node("RandomUniformLike", [_zeros(g, shape, _UNIFORM)], low=0.0, high=1.0)
    steps_up = g.node("Floor", [g.node("Mul", [share, g.number(op.high - op.low, _UNIFORM)])])
    # A share that is rounded to 1 would be outside.
    steps_up = g.node("Min", [steps_up, g.number(op.high - op.low - 1, _UNIFORM)])
    return g.cast(g.node("Add", [steps_up, g.number(op.low, _UNIFORM)]), op.dtype)


def _bernoulli(g: Graph, op: Any, x: str) -> str:
    share = g.node("RandomUniformLike", [x], low=0.0, high=1.0)
    return g.cast(g.node("Less", [share, x]), op.kind())


def _gather_tree(g: Graph, op: Any, ids: str, parents: str) -> str:
    """Follows the beams from the last step to the first."""
    kind = op.kind()
    outer = g.nodes
    g.nodes = []
    beam, step_ids, step_parents = (g.name() for _ in range(3))
    found = g.node("GatherElements", [step_ids, beam], axis=-1)
    before = g.cast(g.node("GatherElements", [step_parents, beam], axis=-1), "int64")
    nodes = g.nodes
    g.nodes = outer
    info = g.onnx.helper.make_tensor_value_info
    kinds = {beam: "int64", step_ids: kind, step_parents: op.kind(1), before: "int64", found: kind}
    values = {name: info(name, g.dtype(one), None) for name, one in kinds.items()}
    body = g.onnx.helper.make_graph(
        nodes,
        g.name(),
        [values[one] for one in (beam, step_ids, step_parents)],
        [values[one] for one in (before, found)],
    )
    # Each beam ends at its own place.
    last = g.node("Expand", [steps(g, length(g, ids, 2)), _without_axis(g, ids, 0, 3)])
    return g.node(
        "Scan",
        [last, ids, parents],
        2,
        body=body,
        num_scan_inputs=2,
        scan_input_directions=[1, 1],
        scan_output_directions=[1],
    )[1]


def _dropout(g: Graph, op: Any, x: str, seed: str | None, p: str) -> list[str | None]:
    (share,) = g.numbers(p)
    kind = op.kind()
    is_scaled_at_test = op.mode == "downgrade_in_infer"
    if op.is_test:
        # Without a factor in training, the mean is kept here.
        if is_scaled_at_test:
            return [g.node("Mul", [x, g.number(1 - share, kind)]), None]
        return [g.node("Identity", [x]), None]
    # Nothing is left, so there is nothing to scale.
    if share == 1:
        return [g.node("Expand", [g.number(0, kind), g.node("Shape", [x])]), None]
    ratio = g.number(share, "float32")
    found = g.node("Dropout", [x, ratio, g.constant(np.array(True))])
    if is_scaled_at_test:
        found = g.node("Mul", [found, g.number(1 - share, kind)])
    return [found, None]


RULES = {
    "dropout": _dropout,
    "gather_tree": _gather_tree,
    "cumprod": _cumprod,
    "logcumsumexp": _logcumsumexp,
    "cummax": _extreme("Less"),
    "cummin": _extreme("Greater"),
    "median": _median(False),
    "nanmedian": _median(True),
    "unfold": _unfold,
    "fold": _fold,
    "frame": _frame,
    "overlap_add": _overlap_add,
    "gaussian": _gaussian,
    "uniform": _uniform,
    "randint": _randint,
    "bernoulli": _bernoulli,
}

__all__ = ["RULES"]
