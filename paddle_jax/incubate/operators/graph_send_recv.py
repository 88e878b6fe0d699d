"""An older name of `paddle.geometric.send_u_recv`."""

from paddle_jax.geometric.message_passing.send_recv import send_u_recv


def graph_send_recv(x, src_index, dst_index, pool_type="sum", out_size=None, name=None):
    """The same as `paddle.geometric.send_u_recv`, which calls pool_type reduce_op.

    Example:
        >>> x = paddle.to_tensor([[1.0], [2.0], [4.0]])
        >>> paddle.incubate.graph_send_recv(x, paddle.to_tensor([0, 1, 2]),
        ...                                 paddle.to_tensor([1, 2, 1])).tolist()
        [[0.0], [5.0], [2.0]]
    """
    return send_u_recv(x, src_index, dst_index, pool_type, out_size)
