"""Collectives with a choice of stream, which XLA does not have: `use_calc_stream` is accepted."""

from paddle_jax.distributed.communication.stream.data_movement import (
    all_gather,
    alltoall,
    alltoall_single,
    broadcast,
    gather,
    scatter,
)
from paddle_jax.distributed.communication.stream.point_to_point import recv, send
from paddle_jax.distributed.communication.stream.reductions import all_reduce, reduce, reduce_scatter

__all__ = [
    "all_gather",
    "all_reduce",
    "alltoall",
    "alltoall_single",
    "broadcast",
    "gather",
    "recv",
    "reduce",
    "reduce_scatter",
    "scatter",
    "send",
]
