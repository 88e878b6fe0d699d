"""Random neighbours of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax.geometric.pooling import host
from paddle_jax.geometric.sampling.neighbors import chosen_edges
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def graph_khop_sampler(
    row: Tensor,
    colptr: Tensor,
    input_nodes: Tensor,
    sample_sizes: Sequence[int],
    sorted_eids: Tensor | None = None,
    return_eids: bool = False,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Draws neighbours of nodes, then of the nodes that are new, and so on, and renumbers all nodes in the
    order in which they come up.

    Args:
        row, colptr, input_nodes: the graph and the nodes, as for `paddle.geometric.sample_neighbors`.
        sample_sizes: list of ints: how many neighbours per node are drawn in each round; -1 takes all.
        sorted_eids: Tensor [edges]: numbers of the edges.
        return_eids: also return the numbers of the edges that were drawn.
    Returns:
        Tuple: the new numbers of the neighbours [drawn, 1] and of the nodes they were drawn for [drawn, 1],
        the old number of each new one, the new numbers of input_nodes, and with return_eids the
        numbers of the edges.
    Raises:
        ValueError: no sample_sizes, no neighbours at all, or return_eids without sorted_eids.
    Example:
        >>> row, colptr = paddle.to_tensor([1, 2, 0]), paddle.to_tensor([0, 2, 3, 3])
        >>> source, target, nodes, first = paddle.incubate.graph_khop_sampler(row, colptr,
        ...                                                                   paddle.to_tensor([1]), [2])
        >>> source.tolist(), target.tolist(), nodes.tolist(), first.tolist()
        ([[1]], [[0]], [1, 0], [0])
    """
    name = "graph_khop_sampler"
    rounds = [sample_sizes] if isinstance(sample_sizes, int) else list(sample_sizes)
    if not rounds:
        raise ArgumentError(f"{name}: sample_sizes: got none; give one number per round")
    if return_eids and sorted_eids is None:
        raise ValueError(
            f"{name}: sorted_eids: got None with return_eids=True; give the numbers of the edges"
        )
    (around,) = host(name, row=row)
    (first,) = host(name, input_nodes=input_nodes)
    # Each node once, in the order in which it comes: that is its new number.
    nodes = list(dict.fromkeys(first.tolist()))
    place = {node: i for i, node in enumerate(nodes)}
    frontier = nodes
    sources = []
    targets = []
    drawn = []
    for size in rounds:
        edges, counts = chosen_edges(name, row, colptr, to_tensor(np.array(frontier, around.dtype)), size)
        targets.append(np.repeat([place[node] for node in frontier], counts).astype(np.int64))
        known = len(nodes)
        for node in around[edges].tolist():
            if node not in place:
                place[node] = len(nodes)
                nodes.append(node)
        sources.append(np.array([place[node] for node in around[edges].tolist()], np.int64))
        drawn.append(edges)
        # The next round begins at the nodes that this one has found.
        frontier = nodes[known:]
    edges = np.concatenate(drawn)
    if not len(edges):
        raise ArgumentError(
            f"{name}: input_nodes: none of the {len(first)} nodes has a neighbour; "
            "at least one must have some"
        )
    columns = [np.concatenate(c).reshape(-1, 1) for c in (sources, targets)]
    found = [
        to_tensor(f.astype(around.dtype))
        for f in (*columns, np.array(nodes), np.array([place[n] for n in first.tolist()]))
    ]
    if return_eids:
        return (*found, to_tensor(host(name, eids=sorted_eids)[0][edges]))
    return tuple(found)
