"""Operations of graphs, segments, sequences and sampled classes in Paddle's model files and `_C_ops`:
`rule(attributes, *operands)` runs each by ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paddle_jax import geometric
from paddle_jax.framework.model_files.reading_helpers import P, with_operand_forms
from paddle_jax.geometric import reindex_graph, send_u_recv, send_ue_recv, send_uv
from paddle_jax.text import viterbi_decode

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def _size(sizes: Any) -> Any:
    """The number of rows of a result; 0 or less stands for the default."""
    if sizes is None:
        return None
    if not isinstance(sizes, list):
        return sizes
    # Paddle writes 0 for the default.
    if sizes and sizes[0] > 0:
        return sizes[0]
    return None


def _send_u_recv(a: Any, x: Any, source: Any, target: Any, n_size: Any) -> tuple[Tensor, None]:
    return send_u_recv(x, source, target, a.reduce_op.lower(), _size(n_size)), None


def _send_ue_recv(a: Any, x: Any, y: Any, source: Any, target: Any, n_size: Any) -> tuple[Any, None]:
    message = a.message_op.lower()
    reduction = a.reduce_op.lower()
    return send_ue_recv(x, y, source, target, message, reduction, _size(n_size)), None


def _send_uv(a: Any, x: Any, y: Any, source: Any, target: Any) -> Tensor:
    return send_uv(x, y, source, target, a.message_op.lower())


def _reindex_graph(a: Any, x: Any, neighbors: Any, count: Any, values: Any, index: Any) -> Any:
    return reindex_graph(x, neighbors, count, values, index)


def _segment_pool(a: Any, x: Any, segments: Any) -> tuple[Any, None]:
    return getattr(geometric, f"segment_{a.pooltype.lower()}")(x, segments), None


def _viterbi_decode(a: Any, potentials: Any, transitions: Any, lengths: Any) -> Any:
    return viterbi_decode(potentials, transitions, lengths, a.include_bos_eos_tag)


def _fractional_pool(name: str) -> Callable[..., Any]:
    def rule(a: Any, x: Any) -> Any:
        # Zeros: no kernel size was given.
        kernel = list(a.kernel_size) if any(a.kernel_size) else None
        return getattr(P, name)(x, list(a.output_size), kernel, a.random_u or None, return_mask=True)

    return rule


def _class_center_sample(a: Any, label: Any) -> Any:
    return P.class_center_sample(label, a.num_classes, a.num_samples)


def _warprnnt(a: Any, x: Any, label: Any, lengths: Any, label_lengths: Any) -> tuple[Any, None]:
    loss = P.rnnt_loss(x, label, lengths, label_lengths, a.blank, a.fastemit_lambda, reduction="none")
    return loss, None


_RULES = {
    "send_u_recv": _send_u_recv,
    "send_ue_recv": _send_ue_recv,
    "send_uv": _send_uv,
    "reindex_graph": _reindex_graph,
    "segment_pool": _segment_pool,
    "viterbi_decode": _viterbi_decode,
    "fractional_max_pool2d": _fractional_pool("fractional_max_pool2d"),
    "fractional_max_pool3d": _fractional_pool("fractional_max_pool3d"),
    "class_center_sample": _class_center_sample,
    "warprnnt": _warprnnt,
}
RULES = {name: with_operand_forms(rule) for name, rule in _RULES.items()}

__all__ = ["RULES"]
