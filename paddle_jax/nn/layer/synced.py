"""The mean and variance of a batch that is spread over the processes of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.process_group import collectives
from paddle_jax._core.process_group.registry import Groups
from paddle_jax._core.tensors.held_values import assign_from, numpy_dtype
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax.autograd import PyLayer
from paddle_jax.nn.functional.norm import batch_norm_infer
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.joining import concat

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


class _Sum(PyLayer):
    """The sum over all processes; so is its gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return wrap(
            Groups.known[0].process_group.all_reduce(x._value, collectives.SUM, "SyncBatchNorm: all_reduce")
        )

    @staticmethod
    def backward(ctx: Any, cotangent: Tensor) -> Tensor:
        return wrap(
            Groups.known[0].process_group.all_reduce(
                cotangent._value, collectives.SUM, "SyncBatchNorm, backward: all_reduce"
            )
        )


def has_process_group() -> bool:
    """Whether there are processes to share statistics with."""
    return 0 in Groups.known and Groups.known[0].is_member()


def normalised(
    x: Tensor,
    axis: int,
    running: tuple[Tensor, Tensor],
    weight: Tensor | None,
    bias: Tensor | None,
    momentum: float,
    epsilon: float,
    data_format: str,
) -> Tensor:
    """The result of a batch normalisation in training; updates the running statistics. Two sums travel, so
    that the variance is that of differences from the mean, as precise as on one process.

    Args:
        x: Tensor with channels along `axis`.
        running: (mean, variance), Tensors [C].
        weight, bias, momentum, epsilon, data_format: as in batch_norm.
    """
    # Sums over a batch lose digits in half precision.
    wide = x if numpy_dtype(x).name == "float64" else x.astype("float32")
    others = [a for a in range(x.ndim) if a != axis]
    shape = [1] * x.ndim
    shape[axis] = channels = x.shape[axis]
    # Each process may have another number of elements.
    count = to_tensor([float(x.size // channels)], dtype=wide.dtype)
    sums = _Sum.apply(concat([wide.sum(axis=others), count]))
    total = sums[channels:].detach()
    mean = sums[:channels] / total
    variance = _Sum.apply(((wide - mean.reshape(shape)) ** 2).sum(axis=others)) / total
    for old, new in zip(running, (mean, variance), strict=True):
        assign_from(old, old.detach() * momentum + new.detach().astype(old.dtype) * (1 - momentum))
    return batch_norm_infer(x, mean, variance, weight, bias, epsilon, data_format)
