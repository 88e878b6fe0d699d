"""Exchanges between the processes of a group that gradients flow through. Where all processes compute with
the same whole value, gradients are added up; where each adds its part to a sum, the gradient of the
sum goes to each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.lazy.device_put import put
from paddle_jax._core.process_group import collectives
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax.autograd import PyLayer
from paddle_jax.distributed.communication.group import default_group

# one of the places where Paddle has it
from paddle_jax.distributed.communication.reductions import _get_reduce_op  # noqa: F401
from paddle_jax.distributed.communication.tensors import at_hand

# another one
from paddle_jax.distributed.fleet.layers.mpu.static_split import split as split
from paddle_jax.nn import functional
from paddle_jax.optimizer.states import LOW
from paddle_jax.tensor.logic import logical_and
from paddle_jax.tensor.manipulation import squeeze, unsqueeze
from paddle_jax.tensor.search import where

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def _member(group: Any) -> Any:
    if group is None:
        group = default_group()
    if group.is_member():
        return group
    return None


def own_part(x: Any, group: Any, axis: Any) -> Any:
    """The part of this process of an axis of a Tensor, the first or the last."""
    length = x.shape[axis] // group.nranks
    mine = slice(group.rank * length, (group.rank + 1) * length)
    if axis == 0:
        return x[mine]
    return x[..., mine]


def gathered(x: Any, group: Any, axis: Any, what: Any) -> Any:
    """The Tensors of all processes of a group, one after the other along an axis. what:
    what for, in words."""
    rows = at_hand(group.process_group.all_gather(x._value, f"{what}: all_gather"))
    if isinstance(rows, np.ndarray):
        return wrap(put(np.concatenate(list(rows), axis)))
    return wrap(jnp.concatenate(list(rows), axis))


class _Identity(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any, group: Any) -> Any:
        ctx.group = group
        # A new Tensor, as one that is returned as it is would have no node of its own.
        return x * 1

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> Any:
        return _Sum.apply(cotangent, ctx.group)


class _Sum(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any, group: Any, op: Any = collectives.SUM) -> Any:
        ctx.group = group
        return wrap(group.process_group.all_reduce(x._value, op, "model parallel: all_reduce"))

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> Any:
        return _Identity.apply(cotangent, ctx.group)


class _SplitLastAxis(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any, group: Any) -> Any:
        ctx.group = group
        return own_part(x, group, -1)

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> Any:
        return _GatherLastAxis.apply(cotangent, ctx.group)


class _GatherLastAxis(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any, group: Any) -> Any:
        ctx.group = group
        return gathered(x, group, -1, "model parallel")

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> Any:
        return _SplitLastAxis.apply(cotangent, ctx.group)


def _c_identity(tensor: Tensor, group: Any = None, skip_c_identity_dynamic: bool = False) -> Any:
    """A value that all processes of a group have and use: the gradient is the sum of theirs.

    Args:
        tensor: Tensor [...].
        group: Group. Default None: all processes. On a group of one process the tensor comes back.
        skip_c_identity_dynamic: return the tensor.
    """
    found = _member(group)
    if found is None or skip_c_identity_dynamic:
        return tensor
    return _Identity.apply(tensor, found)


def _mp_allreduce(
    tensor: Tensor,
    op: Any = collectives.SUM,
    group: Any = None,
    use_calc_stream: bool = True,
    use_model_parallel: bool = True,
    skip_c_identity_dynamic: bool = False,
) -> Any:
    """The sum over the processes of a group; the gradient goes to each of them.

    Args:
        tensor: Tensor [...].
        op: ReduceOp.SUM.
        group: as in _c_identity.
        use_calc_stream, use_model_parallel, skip_c_identity_dynamic: accepted.
    """
    found = _member(group)
    if found is None:
        return tensor
    return _Sum.apply(tensor, found, op)


def _c_split(tensor: Any, group: Any = None) -> Any:
    """The part of this process of the last axis, whose length must be a multiple of the number of processes;
    gradients are put together again."""
    found = _member(group)
    if found is not None and tensor.shape[-1] % found.nranks:
        raise ValueError(
            f"_c_split: tensor: got shape {list(tensor.shape)}; "
            f"the last length must be a multiple of the {found.nranks} processes"
        )
    if found is None:
        return tensor
    return _SplitLastAxis.apply(tensor, found)


def _c_concat(tensor: Any, group: Any = None) -> Any:
    """The parts of all processes along the last axis; each gets the gradient of its part."""
    found = _member(group)
    if found is None:
        return tensor
    return _GatherLastAxis.apply(tensor, found)


def own_numbers(numbers: Any, start: int, length: int) -> tuple[Any, Any]:
    """Numbers counted from the first one of a part, zero outside of it; and which are in it."""
    here = logical_and(numbers >= start, numbers < start + length)
    # A product keeps the dtype of the numbers. The row of 0 is masked by the caller.
    return where(here, numbers - start, numbers * 0), here


def _c_lookup_table(
    table: Tensor, index: Tensor, start_index: int = 0, vocab_size: int = -1, name: str | None = None
) -> Any:
    """The rows of a table of which this process has a part; zeros for rows of other processes.

    Args:
        table: Tensor [rows of this process, width].
        index: Tensor of int [...], numbers of rows of the whole table.
        start_index: int, the number of the first row of this process.
        vocab_size, name: accepted.
    """
    local, here = own_numbers(index, start_index, table.shape[0])
    return functional.embedding(local, table) * unsqueeze(here, -1).astype(table.dtype)


def _c_softmax_with_cross_entropy(
    logits: Tensor,
    label: Tensor,
    group: Any = None,
    return_softmax: bool = False,
    ignore_index: int = -100,
) -> Any:
    """The cross entropy of classes of which each process of a group has a part.

    Args:
        logits: Tensor [..., classes of this process].
        label: Tensor of int [...] or [..., 1], numbers of classes of the whole.
        group: as in _c_identity.
        return_softmax: bool, whether the part of this process of the softmax is wanted, too.
        ignore_index: int, the label of what does not count.
    Returns:
        Losses [..., 1]; with return_softmax a tuple of them and of the softmax, which has no gradient.
    """
    if label.ndim == logits.ndim:
        label = squeeze(label, -1)
    found = _member(group)
    start = 0 if found is None else found.rank * logits.shape[-1]
    # Sums over many classes lose most of their digits in half precision.
    wide = logits.astype("float32") if numpy_dtype(logits).name in LOW else logits
    # Against overflow alone: the result does not depend on it, so no gradient flows.
    largest = _mp_allreduce(wide.detach().max(axis=-1, keepdim=True), collectives.MAX, group)
    shifted = wide - largest
    exponents = shifted.exp()
    total = _mp_allreduce(exponents.sum(axis=-1), group=group)
    local, here = own_numbers(label, start, logits.shape[-1])
    picked = (shifted * functional.one_hot(local, logits.shape[-1]).astype(shifted.dtype)).sum(axis=-1)
    # One process has the class of a label; the others give zero to the sum.
    loss = total.log() - _mp_allreduce(picked * here.astype(shifted.dtype), group=group)
    counted = (label != ignore_index).astype(shifted.dtype)
    # An ignored label gives zero, and no gradient.
    loss = unsqueeze(where(counted > 0, loss, loss.detach() * 0), -1).astype(logits.dtype)
    if not return_softmax:
        return loss
    return loss, (exponents / unsqueeze(total, -1)).detach().astype(logits.dtype)
