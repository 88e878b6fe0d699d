"""Gradients of some rows of a table, as `embedding(sparse=True)` gives them.

They hold the numbers of the rows that were looked up with a gradient for each, in place of an array of the
size of the table. A backward pass carries them as `Rows`. The sum with another gradient of the same table has
more rows, or is an array. The `grad` of the table is then a `RowsGrad`. It behaves like any Tensor, and
computes its array when code reads it; optimizers that do not change unused rows read the rows. A row counts
as used when its number was looked up, even where its gradient is zero.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.kernel import ADD, Kernel, execute
from paddle_jax._core.tape.node import Node
from paddle_jax._core.tensors.pytree import register_like_tensor
from paddle_jax._core.tensors.tensor import Tensor, init_tensor, read_raw, wrap

_STEPS = 8  # numbers of rows are rounded up by an eighth at most, so that not each one is compiled
# The slot itself, which RowsGrad hides behind a property.
_GET = Tensor._raw.__get__
_SET = Tensor._raw.__set__


def _padded(count: int) -> int:
    step = max(_STEPS, 1 << max(count - 1, 0).bit_length() >> 3)
    return -(-count // step) * step


@ft.cache
def _looked_up(size: int, padding: int) -> Kernel:
    """(ids, gradient of the result) -> (row numbers [n], gradients [n, width]).

    The number of a row that takes no part is `size`, one more than the last row; its gradient is zero.
    """

    def looked_up(ids: Any, gradient: Any) -> Any:
        flat = ids.reshape(-1)
        # A lookup of the padding row, or of a negative number, gives no gradient.
        numbers = jnp.where((flat == padding) | (flat < 0), size, flat).astype(np.int32)
        values = jnp.where(numbers[:, None] == size, 0, gradient.reshape(numbers.size, -1))
        # Batches of nearly the same size share one program.
        padding_rows = _padded(numbers.size) - numbers.size
        return (
            jnp.pad(numbers, (0, padding_rows), constant_values=size),
            jnp.pad(values, ((0, padding_rows), (0, 0))),
        )

    return Kernel("embedding_rows", looked_up, nondiff=True)


def _joined(ids: Any, values: Any, more_ids: Any, more_values: Any) -> tuple[Any, Any]:
    return jnp.concatenate([ids, more_ids]), jnp.concatenate([values, more_values])


def _merged(ids: Any, values: Any) -> tuple[Any, Any]:
    """Each row once, with the sum of its gradients. The entries left over get a number that no row has."""
    order = jnp.argsort(ids, stable=True)
    ids = ids[order]
    # True where a sorted number differs from the one before; the running count is the index of its sum.
    first = jnp.concatenate([jnp.ones(1, bool), ids[1:] != ids[:-1]])
    index = jnp.cumsum(first) - 1
    sums = jax.ops.segment_sum(values[order], index, ids.size, indices_are_sorted=True)
    return jnp.full(ids.size, jnp.iinfo(ids.dtype).max, ids.dtype).at[index].set(ids), sums


@ft.cache
def _dense_kernel(size: int) -> Kernel:
    """(row numbers, gradients) -> the array of the size of the table."""

    def to_dense(ids: Any, values: Any) -> Any:
        # `drop` leaves out the number `size`, which stands for no row.
        return jnp.zeros((size, values.shape[1]), values.dtype).at[ids].add(values, mode="drop")

    return Kernel("embedding_grad", to_dense, nondiff=True)


@ft.cache
def _used_kernel(size: int) -> Kernel:
    """Row numbers -> for each row whether it is among them."""

    def used_rows(ids: Any) -> Any:
        return jnp.zeros(size, bool).at[ids].set(True, mode="drop")

    return Kernel("used_rows", used_rows, nondiff=True)


def _chosen(used: Any, array: Any) -> tuple[Any, Any]:
    """Row numbers of an array with a gradient for each row: those marked as used, and those that are not
    zero."""
    count = array.shape[0]
    numbers = jnp.arange(count, dtype=np.int32)
    # Rows without a gradient get the number behind the last one.
    return jnp.where(used | (array != 0).any(axis=1), numbers, np.int32(count)), array


def _every(array: Any) -> Any:
    return jnp.ones(array.shape[0], bool)


def _all(array: Any) -> tuple[Any, Any]:
    return jnp.arange(array.shape[0], dtype=np.int32), array


_JOINED = Kernel("join_rows", _joined, nondiff=True)
_MERGED = Kernel("merge_rows", _merged, nondiff=True)
_CHOSEN = Kernel("choose_rows", _chosen, nondiff=True)
_ALL = Kernel("all_rows", _all, nondiff=True)
_EVERY = Kernel("used_rows", _every, nondiff=True)
_OR = Kernel("logical_or", jnp.logical_or, nondiff=True)


class Rows:
    """A gradient of some rows of a table, as raw values.

    It has either `ids` and `values`, or `array` and `used`.

    Attributes:
        shape: tuple of int, that of the table.
        dtype: NumPy dtype.
        ids: row numbers [n]; a number may come several times.
        values: a gradient for each of them.
        array: the whole gradient.
        used: for each row whether it was used.
    """

    __slots__ = ("array", "dtype", "ids", "shape", "used", "values")

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: Any,
        ids: Any = None,
        values: Any = None,
        array: Any = None,
        used: Any = None,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.ids = ids
        self.values = values
        self.array = array
        self.used = used

    def dense(self) -> Any:
        """The gradient as an array."""
        if self.array is not None:
            return self.array
        return execute(_dense_kernel(self.shape[0]), (self.ids, self.values))

    def marks(self) -> Any:
        """For each row whether it was used."""
        if self.used is None:
            return execute(_used_kernel(self.shape[0]), (self.ids,))
        return self.used

    def whole(self, array: Any) -> Rows:
        """The same rows with another array as gradient."""
        return Rows(self.shape, array.dtype, array=array, used=self.marks())

    def astype(self, dtype: Any) -> Rows:
        """With a gradient of another dtype."""
        cast = _cast(np.dtype(dtype))
        if self.array is not None:
            return self.whole(execute(cast, (self.array,)))
        return Rows(self.shape, np.dtype(dtype), self.ids, execute(cast, (self.values,)))

    def plus(self, other: Rows) -> Rows:
        """The sum with another Rows of the same table."""
        if self.array is None and other.array is None and self.dtype == other.dtype:
            ids, values = execute(_JOINED, (self.ids, self.values, other.ids, other.values))
            return Rows(self.shape, self.dtype, ids, values)
        array = execute(ADD, (self.dense(), other.dense()))
        used = execute(_OR, (self.marks(), other.marks()))
        return Rows(self.shape, array.dtype, array=array, used=used)

    def plus_array(self, array: Any) -> Rows:
        """The sum with a gradient of all rows."""
        array = execute(ADD, (self.dense(), array))
        return Rows(self.shape, array.dtype, array=array, used=execute(_EVERY, (array,)))

    def operands(self) -> tuple[Any, Any]:
        """(gradients [n, width], row numbers [n]) for an update.

        No row comes twice, and numbers from the length of the table on stand for none.
        """
        if self.array is None:
            ids, values = execute(_MERGED, (self.ids, self.values))
        else:
            ids, values = execute(_CHOSEN, (self.used, self.array))
        return values, ids


@ft.cache
def _cast(dtype: np.dtype) -> Kernel:
    return Kernel("cast", lambda x: x.astype(dtype), nondiff=True)


def add_row_gradients(a: Any, b: Any) -> Any:
    """The sum of two raw gradients, at least one of which is a Rows."""
    if type(a) is Rows and type(b) is Rows:
        return a.plus(b)
    return execute(ADD, tuple([x.dense() if type(x) is Rows else x for x in (a, b)]))


def all_rows(array: Any) -> tuple[Any, Any]:
    """The operands of an update for a gradient of all rows."""
    ids, values = execute(_ALL, (array,))
    return values, ids


class RowsGrad(Tensor):
    """A gradient whose used rows are known.

    Code that replaces its array by another one leaves the used rows as they were.

    Attributes:
        any_exist: bool, whether the program has made one.
        _rows: the Rows.
        _dense: the array that was computed from the Rows, or None.
    """

    __slots__ = ("_dense", "_rows")

    any_exist = False

    def __init__(self, rows: Rows, stop_gradient: bool = False) -> None:
        RowsGrad.any_exist = True
        init_tensor(self, rows.array, stop_gradient)
        self._rows = rows
        self._dense = None

    @property
    def _raw(self) -> Any:
        raw = _GET(self)
        if raw is None:
            raw = self._dense = self._rows.dense()
            _SET(self, raw)
        return raw

    @_raw.setter
    def _raw(self, value: Any) -> None:
        _SET(self, value)

    def rows(self) -> Rows:
        """The gradient as a Rows."""
        raw = _GET(self)
        # Code has assigned another array, as gradient clipping does: it is the gradient now.
        if raw is not None and raw is not self._dense and raw is not self._rows.array:
            self._rows = self._rows.whole(raw)
        return self._rows

    def set_rows(self, rows: Rows) -> None:
        """Replaces the gradient in place."""
        self._rows = rows
        self._dense = None
        _SET(self, rows.array)
        self._version += 1

    def __copy__(self) -> Tensor:
        return wrap(read_raw(self), self.stop_gradient)

    def __deepcopy__(self, memo: dict[Any, Any]) -> Tensor:
        memo[id(self)] = copy = wrap(read_raw(self), self.stop_gradient).__deepcopy__(memo)
        return copy

    def __reduce__(self) -> tuple[Any, ...]:
        return wrap(read_raw(self), self.stop_gradient).__reduce__()


RowsGrad.__name__ = RowsGrad.__qualname__ = "Tensor"
RowsGrad.__module__ = "paddle"
register_like_tensor(RowsGrad)


class RowsNode(Node):
    """A lookup in a table that is a leaf; its `rows` is the padding number."""

    __slots__ = ()

    def pull(
        self, cts: Sequence[Any], create_graph: bool = False, edge_indices: Sequence[int] | None = None
    ) -> Any:
        """As `Node.pull`, with the gradient of the table as Rows."""
        table = self.edges[-1][0]
        # A recorded gradient must be an array, and so must one that goes on to the node of the table.
        if create_graph or self.values is None or not isinstance(table, Tensor):
            return super().pull(cts, create_graph, edge_indices)
        local.ctx.frame.on_node_gradient(self)
        ids, weight = self.values
        numbers, values = execute(_looked_up(weight.shape[0], self.rows), (ids, cts[0]))
        return (Rows(weight.shape, values.dtype, numbers, values),)


class ProgramNode(Node):
    """A compiled function that looks up rows of leaves.

    Its `rows` is a dict {id of such a leaf: for each row whether it was used}.
    """

    __slots__ = ()

    def pull(
        self, cts: Sequence[Any], create_graph: bool = False, edge_indices: Sequence[int] | None = None
    ) -> Any:
        """As `Node.pull`, with the gradients of these tables as Rows."""
        grads = super().pull(cts, create_graph, edge_indices)
        if create_graph:
            return grads
        if edge_indices is None:
            indices = range(len(self.edges))
        else:
            indices = edge_indices
        result = []
        for k, ct in zip(indices, grads, strict=True):
            used = self.rows.get(id(self.edges[k][0]))
            result.append(ct if used is None else Rows(ct.shape, ct.dtype, array=ct, used=used))
        return tuple(result)


def marks_of(ids: Any, size: int, padding: int) -> Any:
    """For each row of a table whether it is among raw ids."""
    return execute(_used_rows_kernel(size, padding), (ids,))


@ft.cache
def _used_rows_kernel(size: int, padding: int) -> Kernel:
    def used_rows(ids: Any) -> Any:
        # Padding counts as the row behind the last one, which is dropped.
        flat = jnp.where((ids == padding) | (ids < 0), size, ids).reshape(-1)
        return jnp.zeros(size, bool).at[flat].set(True, mode="drop")

    return Kernel("used_rows", used_rows, nondiff=True)


def either(used: Any, others: Any) -> Any:
    """The rows that are used in one of two masks; None stands for all rows."""
    if used is None or others is None:
        return None
    return execute(_OR, (used, others))


def record_lookup(result: Tensor, ids: Tensor, weight: Tensor, padding: int) -> None:
    """Makes the gradient of a table that comes from this result a gradient of some rows."""
    if weight._node is None and not weight.stop_gradient:
        local.ctx.frame.on_row_lookup(weight, ids, padding)
    node = result._node
    if type(node) is Node and len(node.edges) == 1 and isinstance(node.edges[0][0], Tensor):
        node.__class__ = RowsNode
        node.rows = padding
        node.segment = None


def record_program_lookup(results: Sequence[Tensor], weight: Tensor, used: Any) -> None:
    """Makes the gradient of a table a gradient of some rows, for a compiled function with these results."""
    node = next((tensor._node for tensor in results if tensor._node is not None), None)
    if type(node) is Node:
        node.__class__ = ProgramNode
        node.rows = {}
        node.segment = None
    if type(node) is ProgramNode:
        node.rows[id(weight)] = used
