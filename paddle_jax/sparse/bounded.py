"""Sparse Tensors with a number of elements given beforehand, for compiled functions: there coordinates may
depend on values, shapes may not.

What is missing is filled up with zeros at the last coordinate that is kept, so such a Tensor is an ordinary
one whose elements have not been added up; it remembers that (`_filled`), since zeros more would count in
means and maxima.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.kernels.value_checks import add_check, traced_value
from paddle_jax._core.ops.op import op
from paddle_jax._core.tensors.tensor import host_value
from paddle_jax.sparse.coo import SparseCooTensor
from paddle_jax.tensor.axes import concrete
from paddle_jax.tensor.joining import concat, stack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.sparse.nn.functional.rulebook import Window

# cells up to which numbers are looked up in a table of 64 MB at most; beyond it they are searched
_TABLE = 1 << 24


def _numbers(places: jax.Array, shape: Sequence[int]) -> jax.Array:
    """One number for each coordinate [axes, n]."""
    # Cells may be more than int32 can count.
    found = jnp.zeros(places.shape[1], jnp.int64)
    for place, length in zip(places, shape, strict=True):
        found = found * length + place
    return found


def _filled(numbers: jax.Array, values: jax.Array, count: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Numbers and values with what is behind the first `count` filled up."""
    kept = jnp.arange(numbers.shape[0]) < count
    if numbers.shape[0]:
        # The last coordinate again: sorted order stays, and its zeros add nothing.
        last = numbers[jnp.clip(count, 1, max(numbers.shape[0], 1)) - 1]
    else:
        last = 0
    return jnp.where(kept, numbers, last), jnp.where(kept.reshape([-1, *[1] * (values.ndim - 1)]), values, 0)


@op(register=False, method=False)
def nonzero_values(x: jax.Array, axes: int, nnz: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """(coordinates [axes, nnz], values, how many there are) of what is not 0."""
    rows = x.reshape(-1, *x.shape[axes:])
    some = (rows != 0).any(tuple(range(1, rows.ndim)))
    numbers = jnp.flatnonzero(some, size=nnz, fill_value=0)
    numbers, values = _filled(numbers, rows[numbers], some.sum())
    return jnp.stack(jnp.unravel_index(numbers, x.shape[:axes])).astype(jnp.int64), values, some.sum()


@op("places values", register=False, method=False)
def added_up(
    places: jax.Array, values: jax.Array, shape: Sequence[int], nnz: int
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """(sorted coordinates [axes, nnz] without repetition, the sums of their values, how many there are)."""
    # There is no first element to compare others with.
    if not places.shape[1]:
        return (
            jnp.zeros((places.shape[0], nnz), places.dtype),
            jnp.zeros((nnz, *values.shape[1:]), values.dtype),
            jnp.zeros((), jnp.int64),
        )
    numbers = _numbers(places, shape)
    order = jnp.argsort(numbers)
    numbers = numbers[order]
    # In sorted order a group begins where the number changes.
    first = jnp.concatenate([jnp.ones(1, bool), numbers[1:] != numbers[:-1]])
    group = jnp.cumsum(first) - 1
    # What is beyond the bound is dropped here, and refused by `within`.
    sums = jnp.zeros((nnz, *values.shape[1:]), values.dtype).at[group].add(values[order], mode="drop")
    numbers, sums = _filled(
        jnp.zeros(nnz, numbers.dtype).at[group].set(numbers, mode="drop"), sums, group[-1] + 1
    )
    return jnp.stack(jnp.unravel_index(numbers, shape)).astype(places.dtype), sums, group[-1] + 1


def _places(numbers: jax.Array, wanted: jax.Array, cells: int) -> jax.Array:
    """Where in the sorted numbers each wanted one stands first, if it does."""
    if cells > _TABLE:
        return jnp.searchsorted(numbers, wanted.reshape(-1)).reshape(wanted.shape)
    order = jnp.arange(numbers.shape[0], dtype=jnp.int32)
    # Of equal numbers the first counts: the others only fill up.
    return jnp.full(cells, numbers.shape[0], jnp.int32).at[numbers].min(order)[wanted]


@op("places values weight bias", register=False, method=False)
def near_products(
    places: jax.Array,
    values: jax.Array,
    weight: jax.Array,
    bias: jax.Array | None = None,
    shape: Sequence[int] = (),
    dilation: Sequence[int] = (),
) -> jax.Array:
    """A submanifold convolution of elements with sorted coordinates [axes, n]: the sum over the elements
    below the kernel round each. A coordinate that is there again is filling, and gets 0."""
    numbers = _numbers(places, shape)
    kernel = weight.shape[:-2]
    steps = np.indices(kernel).reshape(len(kernel), -1) - np.array(kernel)[:, None] // 2
    # [axes of space, offsets, n]
    near = places[1:, None] + jnp.asarray(steps * np.array(dilation)[:, None])[:, :, None]
    inside = jnp.stack([(p >= 0) & (p < n) for p, n in zip(near, shape[1:], strict=True)]).all(0)
    wanted = jnp.broadcast_to(places[0], near.shape[1:]).astype(jnp.int64)
    for place, length in zip(near, shape[1:], strict=True):
        wanted = wanted * length + place
    # Outside of the space a number would be that of another row.
    at = _places(numbers, jnp.where(inside, wanted, 0), math.prod(shape))
    # A place behind the end gives the last number, which is compared like any other.
    hit = inside & (numbers.at[at].get(mode="clip") == wanted)
    picked = jnp.where(hit[..., None], values.at[at].get(mode="clip"), 0)
    out = jnp.einsum("knc,kcd->nd", picked, weight.reshape(-1, *weight.shape[-2:]))
    if bias is not None:
        out = out + bias
    # Places that fill up the bound repeat the last one, and have to stay zeros.
    again = jnp.concatenate([jnp.zeros(1, bool), numbers[1:] == numbers[:-1]])
    return jnp.where(again[:, None], 0, out)


def within(name: str, count: Tensor, nnz: int) -> None:
    """Refuses more elements than there is room for; in a compiled function the check rides
    with the results."""

    def error(found: int) -> ValueError:
        return ValueError(f"bounded.{name}: nnz: got {nnz} for {found} elements; give at least as many")

    value = traced_value(count)
    if value is not None:
        add_check(value > nnz, (value,), error)
    elif concrete(count) is not None and (found := int(host_value(count, name))) > nnz:
        raise error(found)


def of_dense(x: Tensor, sparse_dim: int, nnz: int) -> SparseCooTensor:
    """See `paddle_jax.bounded.to_sparse_coo`."""
    places, values, count = nonzero_values(x, sparse_dim, nnz)
    within("to_sparse_coo", count, nnz)
    return SparseCooTensor(places, values, x.shape, filled=True)


def together(name: str, tensors: Sequence[SparseCooTensor], nnz: int) -> SparseCooTensor:
    """The sum of sparse Tensors of one shape with room for nnz elements."""
    shape = tensors[0].shape
    axes = tensors[0].sparse_dim()
    places, values = (
        parts[0] if len(parts) == 1 else concat(parts, n)
        for parts, n in (([t.indices() for t in tensors], 1), ([t.values() for t in tensors], 0))
    )
    places, values, count = added_up(places, values, tuple(shape[:axes]), nnz)
    within(name, count, nnz)
    return SparseCooTensor(places, values, shape, filled=True)


def convolved_near(
    x: SparseCooTensor, weight: Tensor, bias: Tensor | None, dilation: Sequence[int]
) -> SparseCooTensor:
    """A submanifold convolution with coordinates that are not known."""
    lengths = tuple(x.shape[: x.sparse_dim()])
    # sorted and each once, as the search needs them
    places, values, _ = added_up(x.indices(), x.values(), lengths, x.nnz())
    made = near_products(places, values, weight, bias, lengths, tuple(dilation))
    return SparseCooTensor(places, made, [*x.shape[:-1], weight.shape[-1]], filled=x._filled)


# windows whose results lie elsewhere ------------------------------------------------------------------------


def _reached(
    places: jax.Array,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    space: Sequence[int],
) -> tuple[jax.Array, jax.Array | bool]:
    """(number of the result that each element reaches by each offset of the kernel, whether there is
    one), [offsets, n]."""
    offsets = np.indices(kernel).reshape(len(kernel), -1)
    number = jnp.broadcast_to(places[0], (offsets.shape[1], places.shape[1])).astype(jnp.int64)
    valid = True
    for axis, length in enumerate(space):
        start = places[axis + 1] + padding[axis] - jnp.asarray(offsets[axis] * dilation[axis])[:, None]
        step = start // stride[axis]
        # Inside the result, and a multiple of the stride.
        valid = valid & (start >= 0) & (step < length) & (step * stride[axis] == start)
        number = number * length + step
    return number, valid


def _grouped(
    number: jax.Array, valid: jax.Array | bool, shape: Sequence[int], nnz: int
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """(order of the pairs, group of each, coordinates [axes, nnz] of the groups, how many
    groups there are)."""
    cells = math.prod(shape)
    # Pairs that reach nothing sort behind all cells.
    number = jnp.where(valid, number, cells).reshape(-1)
    order = jnp.argsort(number)
    number = number[order]
    first = jnp.concatenate([jnp.ones(1, bool), number[1:] != number[:-1]])
    group = jnp.cumsum(first) - 1
    count = (first & (number < cells)).sum()
    found, _ = _filled(jnp.zeros(nnz, number.dtype).at[group].set(number, mode="drop"), jnp.zeros(nnz), count)
    return order, group, jnp.stack(jnp.unravel_index(jnp.minimum(found, cells - 1), shape)), count


@op("places values weight bias", register=False, method=False)
def spread_products(
    places: jax.Array,
    values: jax.Array,
    weight: jax.Array,
    bias: jax.Array | None = None,
    window: Any = (),
    shape: Sequence[int] = (),
    nnz: int = 0,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """(coordinates, values, how many there are) of an ordinary convolution."""
    number, valid = _reached(places, *window, shape[1:])
    order, group, found, count = _grouped(number, valid, shape, nnz)
    products = jnp.einsum("nc,kcd->knd", values, weight.reshape(-1, *weight.shape[-2:]))
    products = jnp.where(valid[..., None], products, 0).reshape(-1, weight.shape[-1])[order]
    out = jnp.zeros((nnz, weight.shape[-1]), values.dtype).at[group].add(products, mode="drop")
    if bias is not None:
        out = out + bias
    # Rows that fill up stay zeros, without the bias.
    return found.astype(places.dtype), jnp.where((jnp.arange(nnz) < count)[:, None], out, 0), count


@op("places values count", register=False, method=False)
def spread_maxima(
    places: jax.Array,
    values: jax.Array,
    count: jax.Array,
    window: Any = (),
    shape: Sequence[int] = (),
    nnz: int = 0,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """(coordinates, values, how many there are) of a pooling of the first `count` elements; each that is the
    largest gets the gradient in full."""
    number, valid = _reached(places, *window, shape[1:])
    # Rows that fill up reach nothing, since their zeros could be maxima.
    valid = valid & (jnp.arange(places.shape[1]) < count)
    order, group, found, count = _grouped(number, valid, shape, nnz)
    each = jnp.broadcast_to(values, (*valid.shape, values.shape[-1])).reshape(-1, values.shape[-1])[order]
    inside = valid.reshape(-1)[order][:, None]
    # `each - fixed` is 0 and has the gradient of `each`: the largest elements get it.
    fixed = jax.lax.stop_gradient(each)
    best = (
        jnp.full((nnz, values.shape[-1]), -jnp.inf, values.dtype)
        .at[group]
        .max(jnp.where(inside, fixed, -jnp.inf), mode="drop")
    )
    largest = inside & (fixed == best.at[group].get(mode="clip"))
    # Infinity less itself is NaN.
    largest = largest & jnp.isfinite(fixed)
    out = best + jnp.zeros_like(best).at[group].add(jnp.where(largest, each - fixed, 0), mode="drop")
    return found.astype(places.dtype), jnp.where((jnp.arange(nnz) < count)[:, None], out, 0), count


def convolved_far(
    name: str,
    x: SparseCooTensor,
    weight: Tensor,
    bias: Tensor | None,
    window: Window,
    space: Sequence[int],
    nnz: int,
) -> SparseCooTensor:
    """An ordinary convolution with room for nnz elements."""
    shape = (x.shape[0], *space)
    places, values, count = spread_products(x.indices(), x.values(), weight, bias, tuple(window), shape, nnz)
    within(name, count, nnz)
    return SparseCooTensor(places, values, [*shape, weight.shape[-1]], filled=True)


def pooled_far(
    name: str, x: SparseCooTensor, window: Window, space: Sequence[int], nnz: int
) -> SparseCooTensor:
    """A pooling with room for nnz elements."""
    shape = (x.shape[0], *space)
    places, values, some = added_up(x.indices(), x.values(), tuple(x.shape[:-1]), x.nnz())
    places, values, count = spread_maxima(places, values, some, tuple(window), shape, nnz)
    within(name, count, nnz)
    return SparseCooTensor(places, values, [*shape, x.shape[-1]], filled=True)


def summed(x: SparseCooTensor, axes: Any, keepdim: bool, nnz: int) -> SparseCooTensor:
    """The sum over some axes, not all of those with coordinates unless they are kept, with room
    for nnz elements."""
    own = x.sparse_dim()
    behind = [a - own + 1 for a in axes if a >= own]
    if behind:
        values = x.values().sum(behind, keepdim=keepdim)
    else:
        values = x.values()
    # An axis that is kept has length 1, so its coordinate is 0.
    places = stack(
        [p * 0 if a in axes else p for a, p in enumerate(x.indices().unbind(0)) if keepdim or a not in axes]
    )
    shape = [1 if a in axes else n for a, n in enumerate(x.shape) if keepdim or a not in axes]
    return together("sparse_sum", [SparseCooTensor(places, values, shape)], nnz)
