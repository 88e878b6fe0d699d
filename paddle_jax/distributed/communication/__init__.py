"""Collectives: what all processes of a group call together."""

from paddle_jax.distributed.communication import stream
from paddle_jax.distributed.communication.group import (
    barrier,
    destroy_process_group,
    get_backend,
    get_group,
    is_initialized,
    wait,
)
from paddle_jax.distributed.communication.data_movement import (
    all_gather,
    alltoall,
    alltoall_single,
    broadcast,
    gather,
    scatter,
)
from paddle_jax.distributed.communication.objects import (
    all_gather_object,
    broadcast_object_list,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from paddle_jax.distributed.communication.point_to_point import (
    P2POp,
    batch_isend_irecv,
    irecv,
    isend,
    recv,
    send,
)
from paddle_jax.distributed.communication.reductions import ReduceOp, all_reduce, reduce, reduce_scatter

__all__ = [
    "P2POp",
    "ReduceOp",
    "all_gather",
    "all_gather_object",
    "all_reduce",
    "alltoall",
    "alltoall_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "destroy_process_group",
    "gather",
    "get_backend",
    "get_group",
    "irecv",
    "is_initialized",
    "isend",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_scatter",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
    "stream",
    "wait",
]
