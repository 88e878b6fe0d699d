"""Rows exchanged between the processes that share the experts of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.lazy.device_put import put
from paddle_jax._core.lazy.transfer import to_numpy
from paddle_jax._core.process_group import collectives
from paddle_jax._core.tensors.tensor import host_value, wrap
from paddle_jax.autograd import PyLayer
from paddle_jax.distributed.communication.group import default_group

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


__all__ = []


class Counts:
    """How many rows go where, known on the host.

    Attributes:
        sent: [processes, experts], rows of this process for each expert of each process.
        received: [processes, experts], rows of each process for each expert of this one.
    """

    def __init__(self, sent: Any, received: Any, processes: Any) -> None:
        self.sent: np.ndarray = np.asarray(sent).reshape(processes, -1)
        self.received: np.ndarray = np.asarray(received).reshape(processes, -1)

    def by_expert(self) -> Any:
        """The received rows, which come by process and expert, in the order of expert and process."""
        starts = np.cumsum(self.received.reshape(-1)) - self.received.reshape(-1)
        starts = starts.reshape(self.received.shape)
        pieces = [
            np.arange(starts[p, e], starts[p, e] + self.received[p, e])
            for e in range(self.received.shape[1])
            for p in range(self.received.shape[0])
        ]
        if pieces:
            return np.concatenate(pieces)
        return np.zeros(0, np.int64)


def _exchanged(rows: Any, sent: Any, received: Any, group: Any) -> np.ndarray:
    """Rows for each process in order, against those of each process for this one.

    Rows are padded to a common length, a power of 2, so that few programs are compiled.
    """
    wire = group.process_group
    longest = np.asarray([max(int(sent.max(initial=0)), 1)])
    # Parts have other lengths, and arrays of a collective have one.
    longest = int(np.asarray(wire.all_reduce(longest, collectives.MAX, "experts: longest part"))[0])
    # A power of 2, so that few shapes are compiled.
    width = 1 << (longest - 1).bit_length()
    block = np.zeros((group.nranks, width, *rows.shape[1:]), rows.dtype)
    start = 0
    for process, count in enumerate(sent):
        block[process, :count] = rows[start : start + count]
        start += count
    got = np.asarray(wire.all_to_all(block))
    return np.concatenate([got[process, :count] for process, count in enumerate(received)])


def scattered(rows: Any, counts: Any, group: Any) -> np.ndarray:
    """Rows sorted by process and expert, sent to these processes; what comes is by expert and process."""
    got = _exchanged(rows, counts.sent.sum(1), counts.received.sum(1), group)
    return got[counts.by_expert()]


def gathered(rows: Any, counts: Any, group: Any) -> np.ndarray:
    """The way back of `scattered`."""
    by_process = np.empty_like(rows)
    by_process[counts.by_expert()] = rows
    return _exchanged(by_process, counts.received.sum(1), counts.sent.sum(1), group)


class _Exchange(PyLayer):
    """`scattered` or `gathered`; each is the gradient of the other."""

    @staticmethod
    def forward(ctx: Any, x: Any, counts: Any, group: Any, forth: Any) -> Any:
        ctx.counts = counts
        ctx.group = group
        ctx.forth = forth
        move = scattered if forth else gathered
        return wrap(put(move(to_numpy(x._value), counts, group)))

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        move = gathered if ctx.forth else scattered
        return wrap(put(move(to_numpy(grad._value), ctx.counts, ctx.group)))


def _moved(call: Any, x: Any, local_count: Any, global_count: Any, group: Any, forth: Any) -> Any:
    if group is None:
        group = default_group()
    if not group.is_member():
        return None
    sent = host_value(local_count, f"{call}: local_count")
    received = host_value(global_count, f"{call}: global_count")
    for name, count in (("local_count", sent), ("global_count", received)):
        if count.ndim != 1 or count.size % group.nranks:
            raise ValueError(
                f"{call}: {name}: got shape {list(count.shape)}; it must be [processes * experts of each], "
                f"with {group.nranks} processes"
            )
    counts = Counts(sent, received, group.nranks)
    expected = int((counts.sent if forth else counts.received).sum())
    if x.shape[0] != expected:
        raise ValueError(f"{call}: x: got {x.shape[0]} rows; the counts say {expected}")
    return _Exchange.apply(x, counts, group, forth)


def global_scatter(
    x: Tensor, local_count: Tensor, global_count: Tensor, group: Any = None, use_calc_stream: bool = True
) -> Any:
    """Sends rows to the processes of their experts.

    Args:
        x: Tensor [n, d], rows sorted by process and expert.
        local_count: int64 Tensor [processes * experts]: rows of x for each expert, those of the first process
            first.
        global_count: int64 Tensor [processes * experts]: rows that each process sends for each expert of
            this one.
        group: Group. Default None: all processes.
        use_calc_stream: accepted.
    Returns:
        Tensor [m, d], rows by expert, then by process; None outside of the group.
    Raises:
        ValueError: the counts do not fit x or the group.
    """
    return _moved("global_scatter", x, local_count, global_count, group, True)


def global_gather(
    x: Tensor, local_count: Any, global_count: Any, group: Any = None, use_calc_stream: bool = True
) -> Any:
    """Brings rows back from the processes of their experts; the inverse of `global_scatter`.

    Args:
        x: Tensor [m, d], rows by expert, then by process, as `global_scatter` gives them.
        local_count, global_count, group, use_calc_stream: as for `global_scatter`.
    Returns:
        Tensor [n, d], rows by process and expert; None outside of the group.
    Raises:
        ValueError: the counts do not fit x or the group.
    """
    return _moved("global_gather", x, local_count, global_count, group, False)
