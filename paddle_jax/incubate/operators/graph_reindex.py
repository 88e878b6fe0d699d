"""An older name of `paddle.geometric.reindex_graph`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.geometric.reindex import reindex_graph

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def graph_reindex(
    x: Tensor,
    neighbors: Tensor,
    count: Tensor,
    value_buffer: Any = None,
    index_buffer: Any = None,
    flag_buffer_hashtable: bool = False,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """The same as `paddle.geometric.reindex_graph`.

    Args:
        flag_buffer_hashtable: accepted; True asks for both buffers, as in Paddle.
        x, neighbors, count, value_buffer, index_buffer: as for `paddle.geometric.reindex_graph`.
    Returns:
        (Tensor, Tensor, Tensor), as `paddle.geometric.reindex_graph`.
    Raises:
        ValueError: flag_buffer_hashtable without buffers.
    Example:
        >>> x, count = paddle.to_tensor([0, 1]), paddle.to_tensor([1, 1], dtype="int32")
        >>> paddle.incubate.graph_reindex(x, paddle.to_tensor([5, 0]), count)[0].tolist()
        [2, 0]
    """
    if flag_buffer_hashtable and (value_buffer is None or index_buffer is None):
        raise ValueError(
            "graph_reindex: value_buffer, index_buffer: "
            "got None with flag_buffer_hashtable=True; give both or leave the flag out"
        )
    return reindex_graph(x, neighbors, count)
