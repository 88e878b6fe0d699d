"""New numbers 0, 1, 2, ... for the nodes of a part of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax.geometric.pooling import host, need_numbers, need_tensors
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


__all__ = []


@known_as(code="data_dependent:reindex")
@composite(method=False, register=False)
def reindex_graph(
    x: Tensor,
    neighbors: Tensor,
    count: Tensor,
    value_buffer: Tensor | None = None,
    index_buffer: Tensor | None = None,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Renumbers nodes and their neighbours: first the nodes, then the neighbours in the order in
    which they come up.

    Args:
        x: int32 or int64 Tensor [nodes]: different nodes.
        neighbors: Tensor of the same dtype: the neighbours of the first node, of the second, and so on.
        count: int32 Tensor [nodes]: how many neighbours each node has. Of several kinds of edges the
            neighbours and counts follow one another.
        value_buffer, index_buffer: accepted; there is no need for them.
    Returns:
        Tuple of three Tensors: the new number of each neighbour, that of the node it belongs to, and the old
        number of each new one.
    Raises:
        ValueError: dtypes or lengths do not fit.
    Example:
        >>> x, neighbors = paddle.to_tensor([0, 1, 2]), paddle.to_tensor([8, 9, 0, 4, 7, 6, 7])
        >>> source, target, nodes = paddle.geometric.reindex_graph(x, neighbors,
        ...                                                        paddle.to_tensor([2, 3, 2], dtype="int32"))
        >>> source.tolist(), target.tolist(), nodes.tolist()
        ([3, 4, 0, 5, 6, 7, 6], [0, 0, 1, 1, 1, 2, 2], [0, 1, 2, 8, 9, 4, 7, 6])
    """
    return reindex_heter_graph(x, [neighbors], [count])


def reindex_heter_graph(
    x: Tensor,
    neighbors: Sequence[Tensor],
    count: Sequence[Tensor],
    value_buffer: Any = None,
    index_buffer: Any = None,
    name: str | None = None,
) -> tuple[Any, ...]:
    """As `reindex_graph`, for several kinds of edges: lists of neighbours and of counts, one per kind.

    Args:
        x: int Tensor [nodes].
        neighbors: list of int Tensors, one for each kind of edge.
        count: list of int32 Tensors [nodes], how many neighbours each node has.
        value_buffer, index_buffer: accepted.
    Returns:
        Tuple of three Tensors as for `reindex_graph`, the edges of the kinds one after another.
    Raises:
        ValueError: the counts do not fit. RuntimeError: x is neither int32 nor int64.
    Example:
        >>> x, one, two = paddle.to_tensor([0, 1]), paddle.to_tensor([1, 5]), paddle.to_tensor([5, 0])
        >>> count = paddle.to_tensor([1, 1], dtype="int32")
        >>> source, target, nodes = paddle.geometric.reindex_heter_graph(x, [one, two], [count, count])
        >>> source.tolist(), target.tolist(), nodes.tolist()
        ([1, 2, 2, 0], [0, 1, 0, 1], [0, 1, 5])
    """
    if not isinstance(neighbors, (list, tuple)) or not isinstance(count, (list, tuple)):
        raise ArgumentError(
            f"reindex_graph: neighbors: got {type(neighbors).__name__}; "
            "give a list of Tensors, and one of counts"
        )
    need_tensors("reindex_graph", x=x)
    if numpy_dtype(x).kind != "i":
        raise RuntimeError(f"reindex_graph: x: got dtype {numpy_dtype(x).name}; it must be int32 or int64")
    targets = []
    for around, counts in zip(neighbors, count, strict=True):
        need_numbers("reindex_graph", x=x, neighbors=around)
        (sizes,) = host("reindex_graph", count=counts)
        # Counts of several kinds of edges may stand behind each other.
        kinds, rest = divmod(len(sizes), max(x.size, 1))
        if sizes.dtype != np.int32 or rest or not kinds and x.size or sizes.sum() != around.size:
            raise ArgumentError(
                f"reindex_graph: count: got {len(sizes)} {sizes.dtype.name} numbers that add up to "
                f"{sizes.sum()}; give an int32 number for each of the {x.size} nodes (and kinds of edges), "
                f"in all {around.size}"
            )
        targets.append(np.repeat(np.tile(np.arange(x.size), kinds), sizes))
    nodes, *around = host("reindex_graph", x=x, **{f"neighbors{i}": n for i, n in enumerate(neighbors)})
    everything = np.concatenate([nodes, *around])
    # Sorted by NumPy; the places of first appearance give the order asked for.
    names, first, inverse = np.unique(everything, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty(len(names), np.int64)
    place[order] = np.arange(len(names))
    found = place[inverse][len(nodes) :], np.concatenate(targets), everything[np.sort(first)]
    return tuple(to_tensor(f.astype(nodes.dtype)) for f in found)
