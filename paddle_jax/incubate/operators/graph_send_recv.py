"""An older name of `paddle.geometric.send_u_recv`."""

from __future__ import annotations

from typing import Any

from paddle_jax.geometric.message_passing.send_recv import send_u_recv


def graph_send_recv(
    x: Any,
    src_index: Any,
    dst_index: Any,
    pool_type: str = "sum",
    out_size: Any = None,
    name: str | None = None,
) -> Any:
    """The same as `paddle.geometric.send_u_recv`, which calls pool_type reduce_op.

    Args:
        x, src_index, dst_index, out_size: as for `paddle.geometric.send_u_recv`.
        pool_type: its reduce_op.
    Returns:
        Tensor [nodes, ...].
    Example:
        >>> x = paddle.to_tensor([[1.0], [2.0], [4.0]])
        >>> paddle.incubate.graph_send_recv(x, paddle.to_tensor([0, 1, 2]),
        ...                                 paddle.to_tensor([1, 2, 1])).tolist()
        [[0.0], [5.0], [2.0]]
    """
    return send_u_recv(x, src_index, dst_index, pool_type, out_size)
