"""Metrics inside static programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base import unique_name
from paddle_jax._core.base.state import local
from paddle_jax._core.ops.op import op
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.parameters import declare_variable
from paddle_jax.metric.metrics import accuracy as _accuracy
from paddle_jax.tensor.joining import concat

if TYPE_CHECKING:
    from collections.abc import Sequence

    import jax


def accuracy(
    input: Tensor, label: Tensor, k: int = 1, correct: Tensor | None = None, total: Tensor | None = None
) -> Tensor:
    """The fraction of samples whose label is among the `k` classes of highest score. See
    `paddle.metric.accuracy`.

    Args:
        input: Variable [n, classes] of scores.
        label: integer Variable [n, 1].
        k: int.
        correct, total: int32 Variables that stand for the number of hits and of samples afterwards.
    Returns:
        float32 Variable of shape [].
    Example:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     paddle.static.accuracy(paddle.static.data("x", [None, 3]),
        ...                            paddle.static.data("y", [None, 1], "int64")).shape
        paddle.Size([])
        >>> paddle.disable_static()
    """
    return _accuracy(input, label, k, correct, total)


@op("score label weight", register=False, method=False, nondiff=True)
def auc_counts(
    score: jax.Array, label: jax.Array, weight: jax.Array | None = None, buckets: int = 4096
) -> jax.Array:
    """How many positive and negative samples have a score in each of the buckets: int64 [2, buckets]."""
    # Scores from 0 to 1; others go to the first or last bucket.
    at = jnp.clip((score[:, -1] * (buckets - 1)).astype(jnp.int32), 0, buckets - 1)
    positive = (label.reshape(-1) > 0).astype(jnp.int64)
    if weight is None:
        one = jnp.ones_like(positive)
    else:
        one = (weight.reshape(-1) > 0).astype(jnp.int64)
    empty = jnp.zeros(buckets, jnp.int64)
    return jnp.stack([empty.at[at].add(positive * one), empty.at[at].add((1 - positive) * one)])


@op("counts", register=False, method=False, nondiff=True)
def auc_area(counts: jax.Array, curve: str = "ROC") -> jax.Array:
    """The area under a curve of (positive, negative) counts per bucket, by trapezoids from the highest score
    down: float64 []."""
    # From the highest score down: each bucket adds hits and misses.
    down = counts[:, ::-1].astype(jnp.float64)
    # Both counts begin at 0, so that a curve begins at its corner.
    hits, misses = (jnp.concatenate([jnp.zeros(1), jnp.cumsum(row)]) for row in down)
    if curve == "PR":
        found = hits[-1]
        # No sample so far: the precision is 1 by convention.
        precision = jnp.where(hits + misses > 0, hits / jnp.maximum(hits + misses, 1), 1.0)
        area = ((hits[1:] - hits[:-1]) * (precision[1:] + precision[:-1]) / 2).sum()
        return jnp.where(found > 0, area / jnp.maximum(found, 1), 0.0)
    area = ((misses[1:] - misses[:-1]) * (hits[1:] + hits[:-1]) / 2).sum()
    # Without both kinds of samples there is no curve.
    return jnp.where((hits[-1] > 0) & (misses[-1] > 0), area / jnp.maximum(hits[-1] * misses[-1], 1), 0.0)


def auc(
    input: Tensor,
    label: Tensor,
    curve: str = "ROC",
    num_thresholds: int = 4095,
    topk: int = 1,
    slide_steps: int = 1,
    ins_tag_weight: Tensor | None = None,
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """The area under the curve of a two-class model: over all runs so far, and over the last
    `slide_steps` ones.

    Args:
        input: float Variable [n, 2] of probabilities; the last column counts.
        label: integer Variable [n, 1] of 0 and 1.
        curve: "ROC" or "PR".
        num_thresholds: int, how finely scores are told apart.
        topk: accepted.
        slide_steps: int, how many runs the second result is over; 0: all.
        ins_tag_weight: Variable [n, 1] of 0 and 1: samples with 0 do not count.
    Returns:
        (area over all runs, area over the last runs, counts), float64 [] Variables and a list: positive and
        negative samples of the last runs, and of all runs, in each bucket. The counts are int64
        [1, num_thresholds + 1]. They keep their values in the Scope, for `fleet.metrics.auc`.
    Raises:
        ValueError: curve is something else.
        TypeError: input or label is no Variable.
    Differs from Paddle: it works in programs that train; the counts of the last runs have the shape of those
        of all runs.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     all_runs, last, _ = paddle.static.auc(paddle.static.data("x", [None, 2]),
        ...                                           paddle.static.data("y", [None, 1], "int64"))
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> feed = {"x": np.array([[0.2, 0.8], [0.7, 0.3], [0.4, 0.6]], "float32"),
        ...         "y": np.array([[1], [0], [0]])}
        >>> exe.run(main, feed, [all_runs])[0].item()
        1.0
        >>> paddle.disable_static()
    """
    for name, value in (("input", input), ("label", label)):
        if not isinstance(value, Tensor):
            raise TypeError(f"auc: {name}: got {type(value).__name__}; it must be a Variable")
    if curve not in ("ROC", "PR"):
        raise ValueError(f"auc: curve: got {curve!r}; allowed are 'ROC' and 'PR'")
    recorder = local.ctx.frame
    if not recorder.recording:
        raise RuntimeError("auc: it belongs to a static program; in dynamic mode use paddle.metric.Auc")
    # one bucket more than there are bounds between buckets
    buckets = num_thresholds + 1
    counts = auc_counts(input, label, ins_tag_weight, buckets)

    def state(kind: str, shape: Sequence[int]) -> Tensor:
        return declare_variable(
            recorder.program,
            unique_name.generate(kind),
            shape,
            np.dtype(np.int64),
            lambda: np.zeros(shape, np.int64),
        )

    positive = state("stat_pos", (1, buckets))
    negative = state("stat_neg", (1, buckets))
    positive._adopt(positive + counts[:1])
    negative._adopt(negative + counts[1:])
    total = concat([positive, negative], 0)
    # 0: over all runs, as in Paddle.
    if slide_steps == 0:
        window = total
    elif slide_steps == 1:
        window = counts
    else:
        # A window of the last steps: the oldest counts leave.
        last = state("batch_stats", (slide_steps, 2, buckets))
        last._adopt(concat([last[1:], counts.unsqueeze(0)], 0))
        window = last.sum(0)
    last_positive = state("batch_stat_pos", (1, buckets))
    last_negative = state("batch_stat_neg", (1, buckets))
    last_positive._adopt(window[:1])
    last_negative._adopt(window[1:])
    states = [last_positive, last_negative, positive, negative]
    return auc_area(total, curve), auc_area(window, curve), states


__all__ = ["accuracy", "auc"]
