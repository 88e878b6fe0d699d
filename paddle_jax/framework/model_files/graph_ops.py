"""Operations of graphs, segments, sequences and sampled classes in Paddle's model files and `_C_ops`:
`rule(attributes, *operands)` runs each by ours."""

from paddle_jax import geometric
from paddle_jax.framework.model_files.reading_helpers import P, with_operand_forms
from paddle_jax.geometric import reindex_graph, send_u_recv, send_ue_recv, send_uv
from paddle_jax.text import viterbi_decode


def _size(sizes):
    """The number of rows of a result; 0 or less stands for the default."""
    if sizes is None:
        return None
    if not isinstance(sizes, list):
        return sizes
    if sizes and sizes[0] > 0:
        return sizes[0]
    return None


def _send_u_recv(a, x, source, target, n_size):
    return send_u_recv(x, source, target, a.reduce_op.lower(), _size(n_size)), None


def _send_ue_recv(a, x, y, source, target, n_size):
    message = a.message_op.lower()
    reduction = a.reduce_op.lower()
    return send_ue_recv(x, y, source, target, message, reduction, _size(n_size)), None


def _send_uv(a, x, y, source, target):
    return send_uv(x, y, source, target, a.message_op.lower())


def _reindex_graph(a, x, neighbors, count, values, index):
    return reindex_graph(x, neighbors, count, values, index)


def _segment_pool(a, x, segments):
    return getattr(geometric, f"segment_{a.pooltype.lower()}")(x, segments), None


def _viterbi_decode(a, potentials, transitions, lengths):
    return viterbi_decode(potentials, transitions, lengths, a.include_bos_eos_tag)


def _fractional_pool(name):
    def rule(a, x):
        kernel = list(a.kernel_size) if any(a.kernel_size) else None
        return getattr(P, name)(x, list(a.output_size), kernel, a.random_u or None, return_mask=True)

    return rule


def _class_center_sample(a, label):
    return P.class_center_sample(label, a.num_classes, a.num_samples)


def _warprnnt(a, x, label, lengths, label_lengths):
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
