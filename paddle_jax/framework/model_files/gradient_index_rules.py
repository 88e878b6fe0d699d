"""How gradients of operations that move elements are written: selections, gathering and scattering."""

from __future__ import annotations

from typing import Any

from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.gradient_expressions import gradients_through
from paddle_jax.framework.model_files.gradient_rules import RULES, Cotangents, add_rule, summed_to
from paddle_jax.framework.model_files.plain_values import as_list
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.nn.functional.common import unfold as im2col
from paddle_jax.tensor.indexing import run_pattern, take_index

# operations each of whose results is an element of the first operand, or zero
_SELECTIONS = (
    "channel_shuffle",
    "cut",
    "diag",
    "diagonal",
    "embed_diagonal",
    "every",
    "pixel_shuffle",
    "pixel_unshuffle",
    "take_flat",
    "temporal_shift",
    "tril",
    "triu",
    "unfold",
)


def _selection(call: Any, cotangents: Cotangents) -> Cotangents:
    """The same operation on the numbers of elements, from 1 on, says where each result comes from."""
    if call.attributes.get("padding_value"):
        raise NotWritable("paddle.grad through diag with a padding value cannot be saved; use zero")
    x, *rest = call.operands
    g = P.flatten(cotangents[0])
    count = P.numel(x)
    # Paddle moves only real numbers in some of these operations. float64 is exact up to 2 ** 53.
    numbers = P.reshape(P.arange(1, count + 1).astype("float64"), list(x.shape))
    places = P.flatten(call.repeated_on(numbers, *rest)).astype("int64")
    # Row 0 takes what came from nowhere.
    start = P.zeros_like(P.concat([P.flatten(x)[:1], P.flatten(x)]))
    sums = P.index_add(start, places, 0, g)
    return [P.reshape(sums[1:], list(x.shape)), *[None for _ in rest]]


RULES |= dict.fromkeys(_SELECTIONS, _selection)


@add_rule("fold")
def _fold(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    return im2col(g, a["kernel_sizes"], a["strides"], a["paddings"], a["dilations"])


# gathering --------------------------------------------------------------------------------------------------


@add_rule("take_points")
def _take_points(a: Any, g: Tensor, out: Tensor, x: Tensor, index: Tensor) -> Any:
    return P.scatter_nd_add(P.zeros_like(x), index, g), None


def _by_arrays(call: Any, x: Tensor, starts: Tensor | None, arrays: list[Tensor]) -> Tensor:
    """`x[index]` with arrays in the index: first the other parts of it, then the arrays."""
    axes, slots = call.attributes["axes"], call.attributes["slots"]
    window = run_pattern(take_index.op, (x,), tuple(axes), (), starts, ())
    if len(arrays) > 1:
        # What is left after other arrays were taken apart: arrays of one shape for the first axes.
        return P.gather_nd(window, P.stack(arrays, -1))
    index, slot = arrays[0], slots[0]
    rows = P.gather(window, P.flatten(index), slot)
    return P.reshape(rows, [*window.shape[:slot], *index.shape, *window.shape[slot + 1 :]])


_take_slices = RULES["take_index"]


def _take_index(call: Any, cotangents: Cotangents) -> Cotangents:
    if call.attributes["slots"]:
        return gradients_through(_by_arrays, call, cotangents)
    return _take_slices(call, cotangents)


RULES["take_index"] = _take_index


# scattering -------------------------------------------------------------------------------------------------


@add_rule("put_rows")
def _put_rows(a: Any, g: Tensor, out: Tensor, x: Tensor, index: Tensor, updates: Tensor) -> Any:
    return P.scatter(g, index, P.zeros_like(updates)), None, P.gather(g, index)


@add_rule("add_points")
def _add_points(a: Any, g: Tensor, out: Tensor, x: Tensor, index: Tensor, updates: Tensor) -> Any:
    return g, None, P.gather_nd(g, index)


@add_rule("put_elements")
def _put_elements(a: Any, g: Tensor, out: Tensor, x: Tensor, index: Tensor, values: Tensor) -> Any:
    if a["how"] not in ("set", "add"):
        raise NotWritable(f"paddle.grad through put_along_axis with {a['how']!r} cannot be saved; add values")
    axis = a["axis"]
    of_x = g
    if a["how"] == "set" or not a["include_self"]:
        zeros = P.zeros(list(index.shape), numpy_dtype(g).name)
        of_x = P.put_along_axis(g, index, zeros, axis, "assign", True, False)
    return of_x, None, P.take_along_axis(g, index, axis, False)


@add_rule("change_slices")
def _change_slices(a: Any, g: Tensor, out: Tensor, x: Tensor, index: Tensor, value: Tensor) -> Any:
    of_value = P.index_select(g, index, a["axis"])
    if a["how"] == "add":
        return g, None, of_value
    return P.index_fill(g, index, a["axis"], 0.0), None, of_value


def _put_at(call: Any, cotangents: Cotangents) -> Cotangents:
    """`index_put`."""
    named = call.named()
    g: Any = cotangents[0]
    indices = as_list(named["indices"])
    points = P.stack(P.broadcast_tensors(indices) if len(indices) > 1 else indices, -1)
    of_x = g
    if not call.attributes["accumulate"]:
        of_x = P.index_put(g, tuple(indices), P.zeros([], numpy_dtype(g).name))
    return [of_x, *[None for _ in indices], summed_to(named["value"], P.gather_nd(g, points))]


RULES["put_at"] = _put_at

__all__ = []
