"""The gated attention of AlphaFold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.nn.functional.activation import sigmoid
from paddle_jax.nn.functional.softmaxes import softmax
from paddle_jax.tensor.einsum import einsum

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def fused_gate_attention(
    query: Tensor,
    key: Tensor | None = None,
    query_weight: Tensor | None = None,
    key_weight: Tensor | None = None,
    value_weight: Tensor | None = None,
    qkv_weight: Tensor | None = None,
    gate_linear_weight: Tensor | None = None,
    gate_linear_bias: Tensor | None = None,
    out_linear_weight: Tensor | None = None,
    out_linear_bias: Tensor | None = None,
    nonbatched_bias: Tensor | None = None,
    attn_mask: Tensor | None = None,
    has_gating: bool = True,
    merge_qkv: bool = True,
    use_flash_attn: bool = False,
) -> Tensor:
    """Attention within the rows of a table, each head's result multiplied by a gate.

    Differs from Paddle: works on the CPU.

    Args:
        query: Tensor [batch, rows, queries, n].
        key: Tensor [batch, rows, keys, m], without merge_qkv. Default: query.
        query_weight, key_weight, value_weight: Tensors [n or m, heads, width], without merge_qkv.
        qkv_weight: Tensor [3, heads, width, n], with merge_qkv.
        gate_linear_weight, gate_linear_bias: Tensors [n, heads, width] and [heads, width], with has_gating.
        out_linear_weight, out_linear_bias: Tensors [heads, width, out] and [out].
        nonbatched_bias: Tensor [batch, heads, queries, keys], added to the scores of every row, or None.
        attn_mask: Tensor that broadcasts with [batch, rows, heads, queries, keys], added to the
            scores, or None.
        has_gating: multiply by sigmoid(query @ gate_linear_weight + gate_linear_bias).
        merge_qkv: take the weights from qkv_weight.
        use_flash_attn: accepted; there is one implementation.
    Returns:
        Tensor [batch, rows, queries, out].
    Raises:
        ValueError: a weight is missing.
    Example:
        >>> x, qkv, out = paddle.ones([1, 1, 2, 4]), paddle.ones([3, 1, 4, 4]), paddle.ones([1, 4, 4])
        >>> attend = paddle.incubate.nn.functional.fused_gate_attention
        >>> attend(x, qkv_weight=qkv, out_linear_weight=out, out_linear_bias=paddle.zeros([4]),
        ...        has_gating=False).shape
        paddle.Size([1, 1, 2, 4])

    See: Jumper et al., Highly accurate protein structure prediction with AlphaFold, 2021,
        supplement, algorithm 7.
    """
    needed = {"out_linear_weight": out_linear_weight}
    needed |= (
        {"qkv_weight": qkv_weight}
        if merge_qkv
        else {"query_weight": query_weight, "key_weight": key_weight, "value_weight": value_weight}
    )
    needed |= (
        {"gate_linear_weight": gate_linear_weight, "gate_linear_bias": gate_linear_bias} if has_gating else {}
    )
    for name, value in needed.items():
        if value is None:
            raise ValueError(
                f"fused_gate_attention: {name}: got None; "
                f"it is needed with merge_qkv={merge_qkv} and has_gating={has_gating}"
            )
    if merge_qkv:
        q, k, v = (einsum("brqn,hwn->brqhw", query, qkv_weight[i]) for i in range(3))
    else:
        if key is None:
            key = query
        q = einsum("brqn,nhw->brqhw", query, query_weight)
        k, v = (einsum("brkm,mhw->brkhw", key, weight) for weight in (key_weight, value_weight))
    # The queries are scaled, as they are fewer numbers than the scores.
    scores = einsum("brqhw,brkhw->brhqk", q * q.shape[-1] ** -0.5, k)
    if attn_mask is not None:
        scores = scores + attn_mask
    if nonbatched_bias is not None:
        # One bias for all rows of the table.
        scores = scores + nonbatched_bias.unsqueeze(1)
    y = einsum("brhqk,brkhw->brqhw", softmax(scores), v)
    if has_gating:
        y = y * sigmoid(einsum("brqn,nhw->brqhw", query, gate_linear_weight) + gate_linear_bias)
    y = einsum("brqhw,hwo->brqo", y, out_linear_weight)
    if out_linear_bias is None:
        return y
    return y + out_linear_bias
