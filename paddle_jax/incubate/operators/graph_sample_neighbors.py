"""An older name of `paddle.geometric.sample_neighbors`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.geometric.sampling.neighbors import sample_neighbors

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def graph_sample_neighbors(
    row: Tensor,
    colptr: Tensor,
    input_nodes: Tensor,
    eids: Any = None,
    perm_buffer: Any = None,
    sample_size: Any = -1,
    return_eids: bool = False,
    flag_perm_buffer: bool = False,
    name: str | None = None,
) -> Any:
    """The same as `paddle.geometric.sample_neighbors`, with the arguments in another order.

    Args:
        flag_perm_buffer: accepted; True asks for perm_buffer, as in Paddle.
        row, colptr, input_nodes, eids, perm_buffer, sample_size, return_eids: as for
            `paddle.geometric.sample_neighbors`.
    Returns:
        As `paddle.geometric.sample_neighbors`: (neighbours, counts), with return_eids also the numbers of
            edges.
    Raises:
        ValueError: flag_perm_buffer without perm_buffer.
    Example:
        >>> row, colptr = paddle.to_tensor([1, 2, 0]), paddle.to_tensor([0, 2, 3, 3])
        >>> paddle.incubate.graph_sample_neighbors(row, colptr, paddle.to_tensor([1]),
        ...                                        sample_size=2)[0].tolist()
        [0]
    """
    if flag_perm_buffer and perm_buffer is None:
        raise ValueError(
            "graph_sample_neighbors: perm_buffer: got None with flag_perm_buffer=True; "
            "give it or leave the flag out"
        )
    return sample_neighbors(row, colptr, input_nodes, sample_size, eids, return_eids)
