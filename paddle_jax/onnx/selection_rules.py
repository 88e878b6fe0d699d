"""ONNX forms of operations that pick elements by their values, and of tables of positions. Lengths may be
open, so they are read from the operands while the file runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.framework.model_files.records import NotInOnnx
from paddle_jax.onnx.moving_rules import length, steps

if TYPE_CHECKING:
    from paddle_jax.onnx.graph import Graph

_INT64 = np.iinfo(np.int64)


def _flat(g: Graph, x: str) -> str:
    return g.node("Reshape", [x, g.ints([-1])])


def _masked_select(g: Graph, op: Any, x: str, mask: str) -> str:
    x = g.node("Expand", [x, g.node("Shape", [mask])])
    mask = g.node("Expand", [mask, g.node("Shape", [x])])
    return g.node("Compress", [_flat(g, x), _flat(g, mask)])


def _sequence_mask(g: Graph, op: Any, x: str, count: str) -> str:
    count = g.node("Reshape", [g.cast(count, "int64"), g.ints([1])])
    lengths = g.cast(x, "int64")
    # Without a length the longest sequence decides.
    longest = g.node("ReduceMax", [g.node("Concat", [_flat(g, lengths), g.ints([0])], axis=0)])
    count = g.node("Where", [g.node("Less", [count, g.ints([0])]), longest, count])
    is_inside = g.node("Less", [steps(g, count), g.node("Unsqueeze", [lengths, g.ints([-1])])])
    return g.cast(is_inside, op.out[0])


def _nms(g: Graph, op: Any, boxes: str) -> str:
    # The first boxes count most: their scores fall from box to box.
    order = g.cast(steps(g, length(g, boxes, 0)), "float32")
    scores = g.node("Unsqueeze", [g.node("Neg", [order]), g.ints([0, 1])])
    boxes = g.node("Unsqueeze", [g.cast(boxes, "float32"), g.ints([0])])
    limits = [g.ints([_INT64.max]), g.constant(np.array([op.threshold], np.float32))]
    found = g.node("NonMaxSuppression", [boxes, scores, *limits])
    # Each row has the numbers of the picture, of the class and of the box.
    return g.node("Gather", [found, g.number(2, "int64")], axis=1)


def _roi_align(g: Graph, op: Any, x: str, boxes: str, counts: str | None) -> str:
    number = steps(g, length(g, boxes, 0))
    if counts is None:
        pictures = g.node("Mul", [number, g.ints([0])])
    else:
        ends = g.node("CumSum", [g.cast(counts, "int64"), g.number(0, "int64")])
        # How many pictures have all their boxes before this one.
        is_behind = g.node("LessOrEqual", [ends, g.node("Unsqueeze", [number, g.ints([1])])])
        pictures = g.node("ReduceSum", [g.cast(is_behind, "int64"), g.ints([1])], keepdims=0)
    return g.node(
        "RoiAlign",
        [x, boxes, pictures],
        output_height=op.pooled_height,
        output_width=op.pooled_width,
        # 0: as many points as the size of a box asks for.
        sampling_ratio=max(op.sampling_ratio, 0),
        spatial_scale=float(op.spatial_scale),
        coordinate_transformation_mode="half_pixel" if op.aligned else "output_half_pixel",
    )


def _unique(g: Graph, op: Any, x: str) -> list[str]:
    axis = {"axis": op.axis[0]} if op.axis else {}
    kind = op.kind()
    # onnxruntime has it for these alone.
    is_taken = kind in ("float32", "float64", "int64", "int8")
    if not is_taken:
        x = g.cast(x, "float32" if kind in ("float16", "bfloat16") else "int64")
    found, *places = g.node("Unique", [x], 4, sorted=1, **axis)
    return [found if is_taken else g.cast(found, kind), *[g.cast(one, op.dtype) for one in places]]


def _unique_consecutive(g: Graph, op: Any, x: str) -> list[str]:
    if op.axis:
        raise NotInOnnx("an axis, along which whole slices are compared")
    x = _flat(g, x)
    count = length(g, x, 0)
    places = steps(g, count)
    before = g.node("Max", [g.node("Sub", [places, g.ints([1])]), g.ints([0])])
    is_same = g.node("Equal", [x, g.node("Gather", [x, before])])
    # The first element starts a run, too.
    is_first = g.node("Or", [g.node("Not", [is_same]), g.node("Equal", [places, g.ints([0])])])
    runs = g.node("CumSum", [g.cast(is_first, "int64"), g.number(0, "int64")])
    starts = g.node("Compress", [places, is_first])
    ends = g.node("Slice", [g.node("Concat", [starts, count], axis=0), g.ints([1]), g.ints([_INT64.max])])
    # Without elements there is no run, though the list of ends has one place.
    counts = g.node("Sub", [g.node("Slice", [ends, g.ints([0]), g.node("Shape", [starts])]), starts])
    numbers = [g.node("Sub", [runs, g.ints([1])]), counts]
    return [g.node("Compress", [x, is_first]), *[g.cast(one, op.dtype) for one in numbers]]


def _diagonal(g: Graph, op: Any, x: str) -> str:
    first, second = op.axis1 % op.ndim(), op.axis2 % op.ndim()
    others = [axis for axis in range(op.ndim()) if axis not in (first, second)]
    x = g.node("Transpose", [x], perm=[*others, first, second])
    height, width = (length(g, x, axis) for axis in (-2, -1))
    row, column = max(-op.offset, 0), max(op.offset, 0)
    rooms = [g.node("Sub", [n, g.ints([start])]) for n, start in ((height, row), (width, column))]
    count = g.node("Max", [g.node("Min", rooms), g.ints([0])])
    # Neighbours on the diagonal are width + 1 apart where both axes are one.
    apart = g.node("Mul", [steps(g, count), g.node("Add", [width, g.ints([1])])])
    start = g.node("Add", [g.node("Mul", [width, g.ints([row])]), g.ints([column])])
    outer = g.node("Slice", [g.node("Shape", [x]), g.ints([0]), g.ints([len(others)])])
    shape = g.node("Concat", [outer, g.node("Mul", [height, width])], axis=0)
    flat = g.node("Reshape", [x, shape], allowzero=1)
    return g.node("Gather", [flat, g.node("Add", [apart, start])], axis=len(others))


def _affine_grid(g: Graph, op: Any, theta: str, shape: Any) -> str:
    sizes = g.int_list(shape)
    n = op.lengths()[1]
    counts = [g.node("Gather", [sizes, g.ints([axis + 2])]) for axis in range(n)]
    grid = g.node("Concat", [*counts, g.ints([1])], axis=0)
    columns = []
    # x, which belongs to the last axis, comes first.
    for axis in reversed(range(n)):
        places = g.node("Reshape", [_ends(g, op, counts[axis]), g.ints(_along(axis, n + 1))])
        columns.append(g.node("Expand", [places, grid]))
    ones = g.node("Expand", [g.number(1, op.kind()), grid])
    points = g.node("Reshape", [g.node("Concat", [*columns, ones], axis=-1), g.ints([-1, n + 1])])
    # [points, n + 1] and [N, n + 1, n] give [N, points, n].
    found = g.node("MatMul", [points, g.node("Transpose", [theta], perm=[0, 2, 1])])
    result = g.node("Concat", [length(g, theta, 0), *counts, g.ints([n])], axis=0)
    return g.node("Reshape", [found, result])


def _along(axis: int, ndim: int) -> list[int]:
    return [-1 if k == axis else 1 for k in range(ndim)]


def _ends(g: Graph, op: Any, count: str) -> str:
    """The places of a number of cells from -1 to 1, in double precision first."""
    places = g.cast(steps(g, count), "float64")
    one, two = (g.number(n, "float64") for n in (1, 2))
    cells = g.cast(count, "float64")
    if op.align_corners:
        # A single cell is at 0.
        last = g.node("Sub", [cells, one])
        found = g.node("Sub", [g.node("Mul", [places, two]), last])
        found = g.node("Div", [found, g.node("Max", [last, one])])
    else:
        centres = g.node("Add", [g.node("Mul", [places, two]), one])
        found = g.node("Sub", [g.node("Div", [centres, cells]), one])
    return g.cast(found, op.kind())


RULES = {
    "masked_select": _masked_select,
    "sequence_mask": _sequence_mask,
    "nms": _nms,
    "roi_align": _roi_align,
    "unique": _unique,
    "unique_consecutive": _unique_consecutive,
    "diagonal": _diagonal,
    "affine_grid": _affine_grid,
}

__all__ = ["RULES"]
