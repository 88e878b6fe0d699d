"""Convolutions of sparse Tensors: pairs of rows are found on the host, products and sums are one
compiled operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.ops.op import op
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.sparse.bounded import convolved_near
from paddle_jax.sparse.coo import SparseCooTensor
from paddle_jax.sparse.nn.functional.rulebook import Window, rulebook, submanifold_rulebook
from paddle_jax.tensor.axes import unknown
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import Padding, Size
    from paddle_jax.sparse.base import SparseTensor
    from paddle_jax.sparse.nn.functional.rulebook import Rulebook

# lengths of tables are multiples of this share of the next power of two, so that few shapes are compiled
_STEP = 8


@op("values weight rows targets", register=False, method=False)
def paired_products(
    values: jax.Array, weight: jax.Array, rows: jax.Array, targets: jax.Array, count: int, whole: int | None
) -> jax.Array:
    """Row t of the result is the sum of values[r] @ weight[k] over the pairs (r, t) of each k.

    rows and targets [kernel, pairs] are filled up with numbers beyond the last row. With `whole` the offset
    of that number pairs every row with itself, and is not in the tables.
    """
    if values.shape[0] == 0 or rows.size == 0:
        if whole is None:
            return jnp.zeros((count, weight.shape[-1]), values.dtype)
        return values @ weight[whole]
    # Numbers that fill tables up lie behind the last row, and read zeros.
    picked = jnp.take(values, rows, axis=0, mode="fill", fill_value=0)
    if whole is None:
        out = jnp.zeros((count, weight.shape[-1]), values.dtype)
    else:
        out = values @ weight[whole]
    if whole is None:
        others = weight
    else:
        others = jnp.concatenate([weight[:whole], weight[whole + 1 :]])
    products = jnp.einsum("kpc,kcd->kpd", picked, others)
    return out.at[targets.reshape(-1)].add(products.reshape(-1, out.shape[1]), mode="drop")


def convolved(
    name: str,
    x: SparseCooTensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Size,
    padding: Padding,
    dilation: Size,
    groups: int,
    data_format: str,
    axes: int,
    submanifold: bool,
) -> SparseCooTensor:
    """The convolution of a sparse Tensor by coordinates."""
    window = _window(name, x, weight, stride, padding, dilation, groups, data_format, axes)
    if submanifold:
        # Without known coordinates pairs are found within the program.
        if unknown(x.indices()):
            return convolved_near(x, weight, bias, window.dilation)
        # So the centre of the kernel is at the element of the result.
        window = window._replace(
            stride=(1,) * axes,
            padding=tuple(d * (k // 2) for k, d in zip(window.kernel, window.dilation, strict=True)),
        )
        space = x.shape[1:-1]
        book = submanifold_rulebook(x, window)
    else:
        space = _space(name, x, window)
        book = rulebook(x, window, space)
    values = _products(x, weight, book)
    if bias is not None:
        values = values + bias
    places = to_tensor(book.places).astype(x.indices().dtype)
    return SparseCooTensor(places, values, [x.shape[0], *space, weight.shape[-1]])


def _products(x: SparseCooTensor, weight: Tensor, book: Rulebook) -> Tensor:
    """The values of the result."""
    count = book.places.shape[1]
    kinds = len(book.counts)
    flat = weight.reshape([kinds, *weight.shape[-2:]])
    whole = kinds // 2
    ends = np.cumsum(book.counts)
    centre = slice(ends[whole] - book.counts[whole], ends[whole])
    every = np.arange(count)
    # The centre of a kernel meets each row itself: then it is one product, without tables.
    if not (
        x.nnz() == count
        and np.array_equal(book.rows[centre], every)
        and np.array_equal(book.targets[centre], every)
    ):
        whole = None
    if whole is None:
        rest = book.counts
    else:
        rest = np.delete(book.counts, whole)
    if whole is None:
        kept = np.s_[:]
    else:
        kept = np.r_[: centre.start, centre.stop : len(book.rows)]
    tables = _tables(rest, (book.rows[kept], x.nnz()), (book.targets[kept], count))
    return paired_products(x.values(), flat, *tables, count, whole)


def _tables(counts: np.ndarray, *columns: tuple[np.ndarray, int]) -> list[Tensor]:
    """Each column as [offsets, pairs], filled up with its count of rows, which is no row."""
    most = int(counts.max(initial=1))
    # Lengths in steps of an eighth of a power of two: few shapes, little to fill up.
    step = max(1 << max(most.bit_length() - 1, 0), _STEP) // _STEP
    length = -(-most // step) * step
    group = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
    tables = []
    for column, fill in columns:
        # Numbers behind the last row read zeros and write nothing.
        table = np.full((len(counts), length), fill, np.int32)
        table[group, place] = column
        tables.append(to_tensor(table))
    return tables


def _space(name: str, x: SparseTensor, window: Window) -> list[int]:
    """The lengths of the result of an ordinary convolution."""
    space = window.lengths(x.shape[1:-1])
    if min(space) < 1:
        raise ValueError(
            f"{name}: x: got shape {list(x.shape)}, smaller than the kernel "
            f"{list(window.kernel)}; the result would have {space}"
        )
    return space


def window_of(
    name: str, x: SparseTensor, weight: Tensor, stride: Size, padding: Padding, dilation: Size, axes: int
) -> tuple[Window, list[int]]:
    """(the window, the lengths of the result) of an ordinary convolution."""
    window = _window(name, x, weight, stride, padding, dilation, 1, "NDHWC" if axes == 3 else "NHWC", axes)
    return window, _space(name, x, window)


def _window(
    name: str,
    x: SparseTensor,
    weight: Tensor,
    stride: Size,
    padding: Padding,
    dilation: Size,
    groups: int,
    data_format: str,
    axes: int,
) -> Window:
    form = "NDHWC" if axes == 3 else "NHWC"
    if groups != 1:
        raise AssertionError(f"{name}: groups: got {groups}; only 1 is allowed")
    if data_format != form:
        raise ValueError(f"{name}: data_format: got {data_format!r}; only {form!r} is allowed")
    if not isinstance(x, Tensor) or x.ndim != axes + 2:
        if isinstance(x, Tensor):
            got = f"shape {list(x.shape)}"
        else:
            got = type(x).__name__
        raise ValueError(f"{name}: x: got {got}; give a SparseCooTensor [{', '.join(form)}]")
    if not isinstance(x, SparseCooTensor):
        raise NotImplementedError(f"{name}: x: got {type(x).__name__}; give a SparseCooTensor")
    if weight.ndim != axes + 2 or weight.shape[-2] != x.shape[-1] or x.dense_dim() != 1:
        raise ValueError(
            f"{name}: weight: got shape {list(weight.shape)} for x of {list(x.shape)} with "
            f"{x.dense_dim()} axes without coordinates; needed are [*kernel, in_channels, "
            "out_channels], and one such axis in x"
        )
    if weight.dtype != x.dtype:
        raise ValueError(f"{name}: weight: got dtype {weight.dtype} for x of {x.dtype}; give both one dtype")
    moves = (
        numbers(name, "stride", stride, axes),
        sides(name, padding, axes),
        numbers(name, "dilation", dilation, axes),
    )
    return Window(tuple(weight.shape[:axes]), *moves)


def numbers(name: str, argument: str, value: Size, axes: int) -> tuple[int, ...]:
    """One positive number per axis of space."""
    if isinstance(value, int):
        found = (value,) * axes
    else:
        found = tuple(value)
    if len(found) != axes or not all(isinstance(v, int | np.integer) and v > 0 for v in found):
        raise ValueError(f"{name}: {argument}: got {value!r}; it must be a positive int or {axes} of them")
    return tuple(map(int, found))


def sides(name: str, padding: Padding, axes: int) -> tuple[int, ...]:
    """The zeros beside each axis of space. As in Paddle "SAME" and "VALID" are 0, and of six (four) numbers
    the first three (two) count unless each axis has twice the same."""
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise ValueError(f"{name}: padding: got {padding!r}; allowed are 'SAME', 'VALID' and ints")
        return (0,) * axes
    if isinstance(padding, int):
        found = [padding] * axes
    else:
        found = list(padding)
    if len(found) == axes + 2 and all(isinstance(p, list | tuple) and len(p) == 2 for p in found):
        # One pair for each axis: those of batch and channels have no say.
        found = [side for pair in found[1:-1] for side in pair]
    if len(found) not in (axes, 2 * axes) or not all(
        isinstance(p, int | np.integer) and p >= 0 for p in found
    ):
        raise ValueError(
            f"{name}: padding: got {padding}; it must be an int, {axes} or {2 * axes} ints, "
            f"or {axes + 2} pairs, none of them negative"
        )
    if len(found) == 2 * axes:
        if found[::2] == found[1::2]:
            found = found[::2]
        else:
            found = found[:axes]
    return tuple(map(int, found))
