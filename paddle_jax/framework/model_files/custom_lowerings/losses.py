"""Losses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.builder_helpers import average, binary, positive
from paddle_jax.framework.model_files.custom_lowerings.decomposed_losses import (
    hard,
    huber,
    weighted_bce,
    weighted_logits,
)
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.records import Lowering

if TYPE_CHECKING:
    from paddle_jax.framework.model_files.builder import Builder, Value


def _loss(difference: Callable[..., Any]) -> Callable[..., Any]:
    def write(w: Builder, a: Any, out: Any, x: Value, label: Value) -> Value:
        return average(w, difference(w, a, x, label), a.reduction, out)

    return write


def _square(w: Builder, a: Any, x: Value, label: Value) -> Any:
    return w.op("square", [binary(w, "subtract", x, label)], x.type)


def _distance(w: Builder, a: Any, x: Value, label: Value) -> Any:
    return w.op("abs", [binary(w, "subtract", x, label)], x.type)


def _square_error(w: Any, a: Any, out: Any, x: Any, label: Any) -> Any:
    return _square(w, a, x, label)


def _huber(w: Any, a: Any, x: Any, label: Any) -> Any:
    if not a.is_huber or (a.delta != 1.0):
        raise NotWritable("this smooth_l1_loss has no form in PIR")
    return w.op("huber_loss", [x, label], [x.type, x.type], delta=a.delta)[0]


def _hard(w: Any, a: Any, out: Any, x: Any, label: Any, weight: Any) -> Any:
    if weight is not None or x.ndim - 1 != positive(a.axis, x.ndim):
        raise NotWritable("cross entropy with weights, an ignored class or another axis has no form in PIR")
    if not a.use_softmax:
        raise NotWritable("cross entropy of probabilities has no form in PIR")
    one = x.dtype, [*x.shape[:-1], 1]
    loss = w.op(
        "cross_entropy_with_softmax", [x, label], [x.type, one], ignore_index=a.ignore_index, axis=a.axis
    )[1]
    return average(w, loss, a.reduction, out)


def _logits(w: Any, a: Any, out: Any, x: Any, label: Any, weight: Any, pos_weight: Any) -> Any:
    if weight is not None or pos_weight is not None:
        raise NotWritable("binary cross entropy with weights has no form in PIR")
    return average(w, w.op("sigmoid_cross_entropy_with_logits", [x, label, None], x.type), a.reduction, out)


def _bce(w: Builder, a: Any, out: Sequence[Any], x: Value, label: Value, weight: Any) -> Value:
    if weight is not None:
        raise NotWritable("binary cross entropy with weights has no form in PIR")
    return average(w, w.op("bce_loss", [x, label], x.type), a.reduction, out)


# reading ----------------------------------------------------------------------------------------------------


def _read_cross_entropy(a: Any, x: Any, label: Any) -> tuple[Any, Any]:
    if not a.use_softmax:
        loss = P.cross_entropy(x, label, None, a.ignore_index, "none", a.soft_label, a.axis, False)
        return x, loss if loss.ndim == x.ndim else loss.unsqueeze(a.axis)
    loss, softmax = P.softmax_with_cross_entropy(
        x, label, a.soft_label, a.ignore_index, return_softmax=True, axis=a.axis
    )
    return softmax, loss


def _read_logits(a: Any, x: Any, label: Any, pos_weight: Any = None) -> Any:
    if pos_weight is None:
        loss = P.binary_cross_entropy_with_logits(x, label, None, "none")
    else:
        # The operand is a factor of both kinds of labels: `1 + (pos_weight - 1) * label`.
        label = label.detach()
        loss = P.add(P.multiply(1 - label, x), P.multiply(pos_weight.detach(), P.softplus(P.neg(x))))
    # Labels that are ignored have no part in the sum or the mean.
    kept = P.cast(P.not_equal(label, P.full_like(label, a.ignore_index)), x.dtype)
    loss = P.multiply(loss, kept)
    if a.normalize:
        return P.divide(loss, P.clip(P.sum(kept), 1e-5))
    return loss


def _read_bce(a: Any, x: Any, label: Any) -> Any:
    return P.binary_cross_entropy(x, label, reduction="none")


def _read_huber(a: Any, x: Any, label: Any) -> tuple[Any, Any]:
    return P.smooth_l1_loss(x, label, "none", a.delta), P.subtract(label, x)


mse_loss: Lowering = Lowering(_loss(_square))
l1_loss: Lowering = Lowering(_loss(_distance))
square_error_cost: Lowering = Lowering(_square_error)
smooth_l1_loss: Lowering = Lowering(_loss(_huber), _read_huber, decompose=huber)
cross_entropy: Lowering = Lowering(_hard, _read_cross_entropy, decompose=hard)
binary_cross_entropy: Lowering = Lowering(_bce, _read_bce, decompose=weighted_bce)
binary_cross_entropy_with_logits: Lowering = Lowering(_logits, _read_logits, decompose=weighted_logits)
