"""Random neighbours of nodes. The graph is given by columns: the neighbours of node n are
row[colptr[n]:colptr[n + 1]]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.random import default_generator
from paddle_jax.geometric.pooling import host, need_numbers, need_tensors
from paddle_jax.tensor.axes import number
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


__all__ = []


def chosen_edges(
    name: str, row: Tensor, colptr: Tensor, input_nodes: Tensor, sample_size: Any, weights: Any = None
) -> tuple[np.ndarray, ...]:
    """(the places in `row` of the edges that are drawn, in order, and how many each node gets),
    as NumPy arrays."""
    need_tensors(name, row=row, colptr=colptr, input_nodes=input_nodes)
    if numpy_dtype(row).kind != "i":
        raise RuntimeError(f"{name}: row: got dtype {numpy_dtype(row).name}; it must be int32 or int64")
    need_numbers(name, row=row, colptr=colptr, input_nodes=input_nodes)
    ends, nodes = host(name, colptr=colptr, input_nodes=input_nodes)
    if len(nodes) and not (nodes.min() >= 0 and nodes.max() < len(ends) - 1):
        raise IndexError(
            f"{name}: input_nodes: got numbers from {nodes.min()} to {nodes.max()}; "
            f"the graph has {len(ends) - 1} nodes"
        )
    sizes = ends[nodes + 1] - ends[nodes]
    owner = np.repeat(np.arange(len(nodes)), sizes)
    before = np.cumsum(sizes) - sizes
    edges = np.arange(len(owner)) - before[owner] + ends[nodes][owner]
    limit = number(name, sample_size, "sample_size")
    if limit < -1:
        raise ValueError(f"{name}: sample_size: got {limit}; use -1 for all neighbours, or a count")
    if limit == -1:
        return edges, sizes
    rank = np.empty(len(edges), np.int64)  # the place of each edge among those of its node, by random keys
    rank[np.lexsort((_keys(edges, weights), owner))] = np.arange(len(edges)) - before[owner]
    kept = rank < limit
    return edges[kept], np.minimum(sizes, limit)


def _keys(edges: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Random keys. Of exponential numbers of rates w, the smallest ones are a weighted sample without
    replacement (Efraimidis, Spirakis, 2006)."""
    words, offset = default_generator().draw_on_host()
    drawn = np.random.default_rng([*map(int, words), int(offset)]).exponential(size=len(edges))
    if weights is None:
        return drawn
    with np.errstate(divide="ignore"):
        return drawn / weights[edges]


def _results(
    row: Tensor, edges: np.ndarray, counts: np.ndarray, eids: Tensor | None, return_eids: bool
) -> tuple[Tensor, ...]:
    found = [to_tensor(row.numpy().reshape(-1)[edges]), to_tensor(counts.astype(np.int32))]
    if return_eids:
        return (*found, to_tensor(eids.numpy().reshape(-1)[edges]))
    return tuple(found)


def need_eids(name: str, eids: Tensor | None, return_eids: bool) -> None:
    """Raises ValueError where numbers of edges are wanted and not given."""
    if return_eids and eids is None:
        raise ValueError(f"{name}: eids: got None with return_eids=True; give the numbers of the edges")


def sample_neighbors(
    row: Tensor,
    colptr: Tensor,
    input_nodes: Tensor,
    sample_size: int = -1,
    eids: Tensor | None = None,
    return_eids: bool = False,
    perm_buffer: Any = None,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Draws up to sample_size different neighbours of each node.

    Args:
        row: int32 or int64 Tensor [edges]: the neighbours of node 0, of node 1, and so on.
        colptr: Tensor [nodes + 1] of the same dtype: where those of each node begin in row.
        input_nodes: Tensor of the same dtype: the nodes.
        sample_size: int; -1 takes all neighbours.
        eids: Tensor [edges]: numbers of the edges.
        return_eids: also return the numbers of the edges that were drawn.
        perm_buffer: accepted; there is no need for it.
    Returns:
        Tuple: the neighbours, int32 counts per node, and with return_eids the numbers of the edges.
    Raises:
        ValueError: return_eids without eids, or mixed dtypes.
        IndexError: a node is not in the graph.
    Example:
        >>> row, colptr = paddle.to_tensor([1, 2, 0]), paddle.to_tensor([0, 2, 3, 3])
        >>> found, count = paddle.geometric.sample_neighbors(row, colptr, paddle.to_tensor([1, 2, 0]),
        ...                                                  sample_size=2)
        >>> found.tolist(), count.tolist()
        ([0, 1, 2], [1, 0, 2])
    """
    need_eids("sample_neighbors", eids, return_eids)
    edges, counts = chosen_edges("sample_neighbors", row, colptr, input_nodes, sample_size)
    return _results(row, edges, counts, eids, return_eids)


def weighted_sample_neighbors(
    row: Tensor,
    colptr: Tensor,
    edge_weight: Tensor,
    input_nodes: Tensor,
    sample_size: Any = -1,
    eids: Tensor | None = None,
    return_eids: bool = False,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """As `sample_neighbors`, drawing edges one after another with probabilities proportional
    to their weights.

    Args:
        edge_weight: float32 Tensor [edges], >= 0.
        row, colptr, input_nodes, sample_size, eids, return_eids: as for `sample_neighbors`.
    Returns:
        (neighbours, counts), with return_eids also the numbers of edges, as `sample_neighbors`.
    Raises:
        ValueError: sample_size, eids or edge_weight does not fit. RuntimeError: row is neither int32 nor
            int64.
    Example:
        >>> row, colptr = paddle.to_tensor([1, 2, 0]), paddle.to_tensor([0, 2, 3, 3])
        >>> weight = paddle.to_tensor([0.0, 1.0, 1.0])
        >>> paddle.geometric.weighted_sample_neighbors(row, colptr, weight, paddle.to_tensor([0]),
        ...                                            sample_size=1)[0].tolist()
        [2]
    """
    need_eids("weighted_sample_neighbors", eids, return_eids)
    need_tensors("weighted_sample_neighbors", edge_weight=edge_weight, row=row)
    if numpy_dtype(edge_weight).name != "float32" or edge_weight.size < row.size:
        got = f"{edge_weight.size} numbers of dtype {numpy_dtype(edge_weight).name}"
        raise ArgumentError(
            f"weighted_sample_neighbors: edge_weight: got {got}; "
            f"give a float32 number for each of the {row.size} edges"
        )
    (weights,) = host("weighted_sample_neighbors", edge_weight=edge_weight)
    edges, counts = chosen_edges(
        "weighted_sample_neighbors", row, colptr, input_nodes, sample_size, weights.astype(np.float64)
    )
    return _results(row, edges, counts, eids, return_eids)
