"""Gradients of tables of which a few rows were looked up, as `embedding(sparse=True)` gives them: the numbers
of these rows with a gradient for each, in place of an array of the size of the table.

A backward pass carries them as `Rows`. Where one meets another gradient of the same table, both become one:
more rows, or an array. The `grad` of the table is then a `RowsGrad`. It looks like any Tensor, and computes
its array when somebody looks at it; optimizers that leave unused rows alone read the rows. A row counts as
used when its number was looked up, even where its gradient is zero.
"""

import functools as ft

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.kernel import ADD, Kernel, execute
from paddle_jax._core.tape.node import Node
from paddle_jax._core.tensors.pytree import register_like_tensor
from paddle_jax._core.tensors.tensor import Tensor, init_tensor, read_raw, wrap

_STEPS = 8  # numbers of rows are rounded up by an eighth at most, so that not each one is compiled
_GET, _SET = Tensor._raw.__get__, Tensor._raw.__set__


def _padded(count: int) -> int:
    step = max(_STEPS, 1 << max(count - 1, 0).bit_length() >> 3)
    return -(-count // step) * step


@ft.cache
def _looked_up(size: int, padding: int) -> Kernel:
    """(ids, gradient of the result) -> (row numbers [n], gradients [n, width]). A number that takes no part
    is `size`, one behind the last row; its gradient is zero."""

    def looked_up(ids, gradient):
        flat = ids.reshape(-1)
        numbers = jnp.where((flat == padding) | (flat < 0), size, flat).astype(np.int32)
        values = jnp.where(numbers[:, None] == size, 0, gradient.reshape(numbers.size, -1))
        more = _padded(numbers.size) - numbers.size
        return (jnp.pad(numbers, (0, more), constant_values=size), jnp.pad(values, ((0, more), (0, 0))))

    return Kernel("embedding_rows", looked_up, nondiff=True)


def _joined(ids, values, more_ids, more_values):
    return jnp.concatenate([ids, more_ids]), jnp.concatenate([values, more_values])


def _merged(ids, values):
    """Each row once, with the sum of its gradients. The places left over get a number that no row has."""
    order = jnp.argsort(ids, stable=True)
    ids = ids[order]
    first = jnp.concatenate([jnp.ones(1, bool), ids[1:] != ids[:-1]])
    place = jnp.cumsum(first) - 1
    sums = jax.ops.segment_sum(values[order], place, ids.size, indices_are_sorted=True)
    return jnp.full(ids.size, jnp.iinfo(ids.dtype).max, ids.dtype).at[place].set(ids), sums


@ft.cache
def _spread(size: int) -> Kernel:
    """The array of the size of the table."""

    def spread(ids, values):
        return jnp.zeros((size, values.shape[1]), values.dtype).at[ids].add(values, mode="drop")

    return Kernel("embedding_grad", spread, nondiff=True)


@ft.cache
def _marked(size: int) -> Kernel:
    def marked(ids):
        return jnp.zeros(size, bool).at[ids].set(True, mode="drop")

    return Kernel("used_rows", marked, nondiff=True)


def _chosen(used, array):
    """Row numbers of an array with a gradient for each row: those marked as used, and those that are not
    zero."""
    count = array.shape[0]
    numbers = jnp.arange(count, dtype=np.int32)
    return jnp.where(used | (array != 0).any(axis=1), numbers, np.int32(count)), array


def _every(array):
    return jnp.ones(array.shape[0], bool)


def _all(array):
    return jnp.arange(array.shape[0], dtype=np.int32), array


_JOINED = Kernel("join_rows", _joined, nondiff=True)
_MERGED = Kernel("merge_rows", _merged, nondiff=True)
_CHOSEN = Kernel("choose_rows", _chosen, nondiff=True)
_ALL = Kernel("all_rows", _all, nondiff=True)
_EVERY = Kernel("used_rows", _every, nondiff=True)
_OR = Kernel("logical_or", jnp.logical_or, nondiff=True)


class Rows:
    """A gradient of some rows of a table of `shape`, as raw values: either numbers and a gradient for each
    (`ids`, `values`; a number may come several times), or the whole `array` with a mark for each row whether
    it was used."""

    __slots__ = ("array", "dtype", "ids", "shape", "used", "values")

    def __init__(self, shape, dtype, ids=None, values=None, array=None, used=None):
        self.shape, self.dtype = shape, dtype
        self.ids, self.values, self.array, self.used = ids, values, array, used

    def dense(self):
        """The gradient as an array."""
        if self.array is not None:
            return self.array
        return execute(_spread(self.shape[0]), (self.ids, self.values))

    def marks(self):
        """For each row whether it was used."""
        return execute(_marked(self.shape[0]), (self.ids,)) if self.used is None else self.used

    def whole(self, array):
        """The same rows with another array as gradient."""
        return Rows(self.shape, array.dtype, array=array, used=self.marks())

    def astype(self, dtype):
        """With a gradient of another dtype."""
        cast = _cast(np.dtype(dtype))
        if self.array is not None:
            return self.whole(execute(cast, (self.array,)))
        return Rows(self.shape, np.dtype(dtype), self.ids, execute(cast, (self.values,)))

    def plus(self, other):
        """The sum with another Rows of the same table."""
        if self.array is None and other.array is None and self.dtype == other.dtype:
            ids, values = execute(_JOINED, (self.ids, self.values, other.ids, other.values))
            return Rows(self.shape, self.dtype, ids, values)
        array = execute(ADD, (self.dense(), other.dense()))
        used = execute(_OR, (self.marks(), other.marks()))
        return Rows(self.shape, array.dtype, array=array, used=used)

    def plus_array(self, array):
        """The sum with a gradient of all rows."""
        array = execute(ADD, (self.dense(), array))
        return Rows(self.shape, array.dtype, array=array, used=execute(_EVERY, (array,)))

    def operands(self):
        """(gradients [n, width], row numbers [n]) for an update: no row twice, and numbers from the length of
        the table on stand for none."""
        if self.array is None:
            ids, values = execute(_MERGED, (self.ids, self.values))
        else:
            ids, values = execute(_CHOSEN, (self.used, self.array))
        return values, ids


@ft.cache
def _cast(dtype: np.dtype) -> Kernel:
    return Kernel("cast", lambda x: x.astype(dtype), nondiff=True)


def added(a, b):
    """The sum of two raw gradients, at least one of which is a Rows."""
    if type(a) is Rows and type(b) is Rows:
        return a.plus(b)
    return execute(ADD, tuple([x.dense() if type(x) is Rows else x for x in (a, b)]))


def all_rows(array):
    """The operands of an update for a gradient of all rows."""
    ids, values = execute(_ALL, (array,))
    return values, ids


class RowsGrad(Tensor):
    """A gradient whose used rows are known. What replaces its array by another one leaves the rows marked as
    used that were so."""

    __slots__ = ("_made", "_rows")

    any_made = False

    def __init__(self, rows, stop_gradient=False):
        RowsGrad.any_made = True
        init_tensor(self, rows.array, stop_gradient)
        self._rows, self._made = rows, None

    @property
    def _raw(self):
        raw = _GET(self)
        if raw is None:
            raw = self._made = self._rows.dense()
            _SET(self, raw)
        return raw

    @_raw.setter
    def _raw(self, value):
        _SET(self, value)

    def rows(self) -> Rows:
        """The gradient as a Rows."""
        raw = _GET(self)
        if raw is not None and raw is not self._made and raw is not self._rows.array:
            self._rows = self._rows.whole(raw)
        return self._rows

    def set_rows(self, rows: Rows):
        """Replaces the gradient in place."""
        self._rows, self._made = rows, None
        _SET(self, rows.array)
        self._version += 1

    def __copy__(self):
        return wrap(read_raw(self), self.stop_gradient)

    def __deepcopy__(self, memo):
        memo[id(self)] = copy = wrap(read_raw(self), self.stop_gradient).__deepcopy__(memo)
        return copy

    def __reduce__(self):
        return wrap(read_raw(self), self.stop_gradient).__reduce__()


RowsGrad.__name__ = RowsGrad.__qualname__ = "Tensor"
RowsGrad.__module__ = "paddle"
register_like_tensor(RowsGrad)


class RowsNode(Node):
    """A lookup in a table that is a leaf; its `rows` is the padding number."""

    __slots__ = ()

    def pull(self, cts, create_graph=False, kept=None):
        """As `Node.pull`, with the gradient of the table as Rows."""
        table = self.edges[-1][0]
        if create_graph or self.values is None or not isinstance(table, Tensor):
            return super().pull(cts, create_graph, kept)
        local.ctx.frame.on_node_gradient(self)
        ids, weight = self.values
        numbers, values = execute(_looked_up(weight.shape[0], self.rows), (ids, cts[0]))
        return (Rows(weight.shape, values.dtype, numbers, values),)


class ProgramNode(Node):
    """A compiled function that looks up rows of leaves: `rows` has by the id of such a leaf the marks of its
    used rows."""

    __slots__ = ()

    def pull(self, cts, create_graph=False, kept=None):
        """As `Node.pull`, with the gradients of these tables as Rows."""
        rows, edges = self.rows, self.edges
        found = super().pull(cts, create_graph, kept)
        if create_graph:
            return found
        places = range(len(edges)) if kept is None else kept
        return tuple(
            [
                ct
                if id(edges[k][0]) not in rows
                else Rows(ct.shape, ct.dtype, array=ct, used=rows[id(edges[k][0])])
                for k, ct in zip(places, found, strict=True)
            ]
        )


def marks_of(ids, size: int, padding: int):
    """For each row of a table whether it is among raw ids."""
    return execute(_marks_of(size, padding), (ids,))


@ft.cache
def _marks_of(size: int, padding: int) -> Kernel:
    def marks(ids):
        flat = jnp.where((ids == padding) | (ids < 0), size, ids).reshape(-1)
        return jnp.zeros(size, bool).at[flat].set(True, mode="drop")

    return Kernel("used_rows", marks, nondiff=True)


def either(marks, others):
    """What is marked here or there; None marks all rows."""
    return None if marks is None or others is None else execute(_OR, (marks, others))


def note_lookup(found, ids, weight, padding: int):
    """Notes that the gradient of a table, as far as it comes from this result, is one of some rows."""
    frame = local.ctx.frame
    if frame.capture is not None and weight._node is None and not weight.stop_gradient:
        frame.on_row_lookup(weight, ids, padding)
    node = found._node
    if type(node) is Node and len(node.edges) == 1 and isinstance(node.edges[0][0], Tensor):
        node.__class__, node.rows, node.segment = RowsNode, padding, None


def note_program(results, weight, marks):
    """Notes that a compiled function with these results looks up rows of a table that is a leaf."""
    node = next((tensor._node for tensor in results if tensor._node is not None), None)
    if type(node) is Node:
        node.__class__, node.rows, node.segment = ProgramNode, {}, None
    if type(node) is ProgramNode:
        node.rows[id(weight)] = marks
