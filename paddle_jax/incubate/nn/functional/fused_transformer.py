"""The blocks of a Transformer, each as one function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from paddle_jax.incubate.nn.functional.fused_multi_transformer import (
    fused_multi_transformer as fused_multi_transformer,
)
from paddle_jax.nn.functional.activation import gelu, relu, silu
from paddle_jax.nn.functional.common import linear
from paddle_jax.nn.functional.drop import dropout
from paddle_jax.nn.functional.norm import layer_norm
from paddle_jax.nn.functional.softmaxes import softmax
from paddle_jax.nn.layer.attention import _convert_attention_mask
from paddle_jax.tensor.joining import concat, stack
from paddle_jax.tensor.linalg import matmul
from paddle_jax.tensor.manipulation import reshape, transpose

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


_ACTIVATIONS = {"relu": relu, "gelu": gelu, "silu": silu}


def _alone(op_name: str, ring_id: int) -> None:
    """Refuses the number of a communication ring: parallel parts are put together outside."""
    if ring_id != -1:
        raise ValueError(
            f"{op_name}: ring_id: got {ring_id}; it must be -1, as sums over devices are not made here"
        )


def fused_bias_dropout_residual_layer_norm(
    x: Tensor,
    residual: Tensor,
    bias: Tensor | None = None,
    ln_scale: Tensor | None = None,
    ln_bias: Tensor | None = None,
    dropout_rate: Any = 0.5,
    ln_epsilon: Any = 1e-5,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Tensor:
    """layer_norm(residual + dropout(x + bias)).

    Args:
        x, residual: Tensors [..., n].
        bias: Tensor [n], or None.
        ln_scale, ln_bias: Tensors [n]: factor and offset of the normalisation, or None.
        dropout_rate: probability of zeroing.
        ln_epsilon: added to the variance, 0 to 0.001.
        training: False drops nothing.
        mode: "upscale_in_train" or "downscale_in_infer", as for `paddle.nn.functional.dropout`.
    Returns:
        Tensor of the shape of x.
    Raises:
        ValueError: sizes, dropout_rate or mode do not fit.
    Example:
        >>> x = paddle.to_tensor([[1.0, 3.0]])
        >>> y = paddle.incubate.nn.functional.fused_bias_dropout_residual_layer_norm(x, x, training=False)
        >>> [round(v, 3) for v in y[0].tolist()]
        [-1.0, 1.0]
    """
    total = residual + dropout(x if bias is None else x + bias, dropout_rate, training=training, mode=mode)
    return layer_norm(total, x.shape[-1], ln_scale, ln_bias, ln_epsilon)


def fused_feedforward(
    x: Tensor,
    linear1_weight: Tensor,
    linear2_weight: Tensor,
    linear1_bias: Tensor | None = None,
    linear2_bias: Tensor | None = None,
    ln1_scale: Tensor | None = None,
    ln1_bias: Tensor | None = None,
    ln2_scale: Tensor | None = None,
    ln2_bias: Tensor | None = None,
    dropout1_rate: Any = 0.5,
    dropout2_rate: Any = 0.5,
    activation: str = "relu",
    ln1_epsilon: Any = 1e-5,
    ln2_epsilon: Any = 1e-5,
    pre_layer_norm: bool = False,
    training: bool = True,
    mode: str = "upscale_in_train",
    ring_id: Any = -1,
    add_residual: bool = True,
    name: str | None = None,
) -> Tensor:
    """The feed-forward block: x + dropout2(linear2(dropout1(activation(linear1(x))))), normalised
    before or after.

    Differs from Paddle: works on the CPU.

    Args:
        x: Tensor [batch, length, n].
        linear1_weight, linear2_weight: Tensors [n, inner] and [inner, n].
        linear1_bias, linear2_bias: Tensors [inner] and [n], or None.
        ln1_scale, ln1_bias, ln1_epsilon: of the normalisation of x, with pre_layer_norm.
        ln2_scale, ln2_bias, ln2_epsilon: of the normalisation of the result, without pre_layer_norm.
        dropout1_rate, dropout2_rate: probabilities of zeroing.
        activation: "relu", "gelu" or "silu".
        pre_layer_norm: normalise x instead of the result.
        training: False drops nothing.
        mode: "upscale_in_train" or "downscale_in_infer", as for `paddle.nn.functional.dropout`.
        ring_id: -1.
        add_residual: False leaves x out of the sum.
    Returns:
        Tensor of the shape of x.
    Raises:
        ValueError: sizes or options do not fit.
    Example:
        >>> x, w = paddle.ones([1, 1, 2]), paddle.ones([2, 2])
        >>> paddle.incubate.nn.functional.fused_feedforward(x, w, w, pre_layer_norm=True,
        ...                                                 training=False).tolist()
        [[[1.0, 1.0]]]
    """
    _alone("fused_feedforward", ring_id)
    if activation not in _ACTIVATIONS:
        raise ValueError(
            f"fused_feedforward: activation: got {activation!r}; allowed are 'relu', 'gelu' and 'silu'"
        )
    if pre_layer_norm:
        y = layer_norm(x, x.shape[-1], ln1_scale, ln1_bias, ln1_epsilon)
    else:
        y = x
    y = dropout(
        _ACTIVATIONS[activation](linear(y, linear1_weight, linear1_bias)),
        dropout1_rate,
        training=training,
        mode=mode,
    )
    y = dropout(linear(y, linear2_weight, linear2_bias), dropout2_rate, training=training, mode=mode)
    if add_residual:
        y = x + y
    if pre_layer_norm:
        return y
    return layer_norm(y, x.shape[-1], ln2_scale, ln2_bias, ln2_epsilon)


def _projected(
    x: Tensor, weight: Tensor, bias: Tensor | None, num_heads: int, transpose_qkv_wb: bool
) -> tuple[Any, Any, Any]:
    """Queries, keys and values, each [batch, heads, length, width]."""
    if transpose_qkv_wb:
        if num_heads < 1 or x.shape[-1] % num_heads:
            raise ValueError(
                f"fused_multi_head_attention: num_heads: got {num_heads}; "
                f"it must divide the width {x.shape[-1]}"
            )
        shape = [3, num_heads, x.shape[-1] // num_heads]
    else:
        if weight.ndim != 4 or weight.shape[0] != 3 or weight.shape[3] != x.shape[-1]:
            raise ValueError(
                f"fused_multi_head_attention: qkv_weight: got shape {list(weight.shape)}; "
                f"it must be [3, heads, width, {x.shape[-1]}]"
            )
        shape = list(weight.shape[:3])
        weight = reshape(weight, [-1, x.shape[-1]]).t()
    y = linear(x, weight, None if bias is None else reshape(bias, [-1]))
    # [batch, length, 3, heads, width] with the three in front.
    y = transpose(reshape(y, [0, 0, *shape]), [2, 0, 3, 1, 4])
    return y[0], y[1], y[2]


def fused_multi_head_attention(
    x: Tensor,
    qkv_weight: Tensor,
    linear_weight: Tensor,
    pre_layer_norm: bool = False,
    pre_ln_scale: Tensor | None = None,
    pre_ln_bias: Tensor | None = None,
    ln_scale: Tensor | None = None,
    ln_bias: Tensor | None = None,
    pre_ln_epsilon: Any = 1e-5,
    qkv_bias: Tensor | None = None,
    linear_bias: Tensor | None = None,
    cache_kv: Tensor | None = None,
    attn_mask: Tensor | None = None,
    dropout_rate: Any = 0.5,
    attn_dropout_rate: Any = 0.5,
    ln_epsilon: Any = 1e-5,
    training: bool = True,
    mode: str = "upscale_in_train",
    ring_id: Any = -1,
    add_residual: bool = True,
    num_heads: int = -1,
    transpose_qkv_wb: bool = False,
    name: str | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """The attention block: x + dropout(linear(attention(x))), normalised before or after.

    Differs from Paddle: works on the CPU.

    Args:
        x: Tensor [batch, length, n].
        qkv_weight: Tensor [3, heads, width, n]; with transpose_qkv_wb [n, 3 * n].
        linear_weight: Tensor [heads * width, n].
        pre_layer_norm: normalise x instead of the result.
        pre_ln_scale, pre_ln_bias, pre_ln_epsilon: of the normalisation of x.
        ln_scale, ln_bias, ln_epsilon: of the normalisation of the result.
        qkv_bias: Tensor [3, heads, width], or [3 * n] with transpose_qkv_wb, or None.
        linear_bias: Tensor [n], or None.
        cache_kv: Tensor [2, batch, heads, past, width]: keys and values of what came before, or None.
        attn_mask: Tensor that broadcasts with [batch, heads, length, past + length]: added to the scores;
            bool or int: 0 where not to attend.
        dropout_rate, attn_dropout_rate: probabilities of zeroing results and weights.
        training: False drops nothing.
        mode: "upscale_in_train" or "downscale_in_infer", as for `paddle.nn.functional.dropout`.
        ring_id: -1.
        add_residual: False leaves x out of the sum.
        num_heads: int, needed with transpose_qkv_wb.
        transpose_qkv_wb: the other form of qkv_weight and qkv_bias.
    Returns:
        Tensor of the shape of x; with cache_kv a pair of that and the cache with the new keys and values.
    Raises:
        ValueError: sizes or options do not fit.
    Example:
        >>> x, qkv, out = paddle.ones([1, 2, 4]), paddle.ones([3, 2, 2, 4]), paddle.ones([4, 4])
        >>> paddle.incubate.nn.functional.fused_multi_head_attention(x, qkv, out, training=False).shape
        paddle.Size([1, 2, 4])

    See: Vaswani et al., Attention Is All You Need, 2017, section 3.2.2.
    """
    _alone("fused_multi_head_attention", ring_id)
    if pre_layer_norm:
        y = layer_norm(x, x.shape[-1], pre_ln_scale, pre_ln_bias, pre_ln_epsilon)
    else:
        y = x
    q, k, v = _projected(y, qkv_weight, qkv_bias, num_heads, transpose_qkv_wb)
    if cache_kv is not None:
        k = concat([cache_kv[0], k], 2)
        v = concat([cache_kv[1], v], 2)
    # The queries are scaled, as they are fewer numbers than the scores.
    scores = matmul(q * (1 / math.sqrt(q.shape[-1])), k, transpose_y=True)
    if attn_mask is not None:
        scores = scores + _convert_attention_mask(attn_mask, scores.dtype)
    weights = dropout(softmax(scores), attn_dropout_rate, training=training, mode=mode)
    y = reshape(transpose(matmul(weights, v), [0, 2, 1, 3]), [0, 0, q.shape[1] * q.shape[3]])
    y = dropout(linear(y, linear_weight, linear_bias), dropout_rate, training=training, mode=mode)
    if add_residual:
        y = x + y
    if not pre_layer_norm:
        y = layer_norm(y, x.shape[-1], ln_scale, ln_bias, ln_epsilon)
    if cache_kv is None:
        return y
    return (y, stack([k, v]))
