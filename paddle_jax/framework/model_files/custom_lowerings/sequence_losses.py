"""Losses of sequences and trees, and graphs."""

from __future__ import annotations

from typing import Any

from paddle_jax.framework.model_files.builder_helpers import average, binary, cast, squeeze
from paddle_jax.framework.model_files.records import Lowering


def _ctc(w: Any, a: Any, out: Any, x: Any, labels: Any, lengths: Any, label_lengths: Any) -> Any:
    batch = x.shape[1]
    found = w.op(
        "warpctc",
        [x, cast(w, labels, "int32"), cast(w, lengths, "int64"), cast(w, label_lengths, "int64")],
        [(x.dtype, [batch, 1]), x.type],
        blank=a.blank,
        norm_by_times=a.norm_by_times,
    )[0]
    loss = squeeze(w, found, [1])
    if a.reduction == "mean":
        count = cast(w, label_lengths, x.dtype)
        # Paddle divides by the length of the label, at least 1.
        count = binary(w, "maximum", count, w.full(1, x.dtype, ()))
        loss = binary(w, "divide", loss, count)
    return average(w, loss, a.reduction, out)


def _rnnt(w: Any, a: Any, out: Any, x: Any, label: Any, lengths: Any, label_lengths: Any) -> Any:
    inputs = [x, cast(w, label, "int32"), cast(w, lengths, "int32"), cast(w, label_lengths, "int32")]
    loss = w.op(
        "warprnnt", inputs, [(x.dtype, x.shape[:1]), x.type], blank=a.blank, fastemit_lambda=a.fastemit_lambda
    )[0]
    return average(w, loss, a.reduction, out)


def _tree(w: Any, a: Any, out: Any, x: Any, label: Any, weight: Any, bias: Any, table: Any, code: Any) -> Any:
    rest = x.dtype, []
    return w.op(
        "hsigmoid_loss",
        [x, label, weight, bias, table, code],
        [out[0], rest, rest],
        num_classes=a.num_classes,
        is_sparse=False,
    )[0]


def _mask(w: Any, a: Any, out: Any, x: Any) -> Any:
    return w.op("sequence_mask", [x, w.number(a.maxlen, "int32", (1,))], out[0], out_dtype=out[0][0])


mask: Lowering = Lowering(_mask)
ctc: Lowering = Lowering(_ctc)
rnnt: Lowering = Lowering(_rnnt)
tree: Lowering = Lowering(_tree)
