"""Which operations mixed precision runs in low precision (white), which in float32 (black), by Paddle's
names; all others follow their operands.

The names of our own operations there, and which are never or always cast, stand in their
records (`known_as`).
"""

from __future__ import annotations

WHITE_LIST = {
    "conv2d",
    "einsum",
    "flash_attn",
    "fused_gemm_epilogue",
    "fused_rotary_position_embedding",
    "linear_v2",
    "matmul",
    "matmul_v2",
    "max_pool2d_with_index",
    "mul",
}
ONLY_FP16_WHITE_LIST = {
    "fake_quantize_dequantize_abs_max",
    "fake_quantize_dequantize_moving_average_abs_max",
    "fused_attention",
    "fused_feedforward",
}
FP16_WHITE_LIST = WHITE_LIST | ONLY_FP16_WHITE_LIST
BF16_WHITE_LIST = set(WHITE_LIST)

# Sums, exponentials and losses: their results leave the range or lose the digits of a low precision.
FP16_BLACK_LIST = set(
    "acos asin atanh c_softmax_with_cross_entropy c_softmax_with_multi_label_cross_entropy cosh "
    "cross_entropy cross_entropy2 cumprod cumsum dist erfinv exp expm1 frobenius_norm group_norm "
    "hsigmoid_loss huber_loss layer_norm log log10 log2 log_loss log_softmax margin_cross_entropy mean "
    "nll_loss pnorm pow reciprocal reduce_mean reduce_prod reduce_sum renorm rsqrt "
    "sigmoid_cross_entropy_with_logits sinh softmax softmax_with_cross_entropy softmin softplus square tan "
    "tanh_shrink triplet_margin_loss".split()
)
BF16_BLACK_LIST = set(FP16_BLACK_LIST)

# Slower in low precision on a GPU, or better in float32.
EXTRA_BLACK_LIST = {
    "bicubic_interp_v2",
    "bilinear_interp_v2",
    "linear_interp_v2",
    "lookup_table",
    "lookup_table_v2",
    "nearest_interp_v2",
    "scatter",
    "trilinear_interp_v2",
}


def white_list() -> dict[str, dict[str, set[str]]]:
    """The operations that run in low precision.

    Returns:
        dict: dtype to dict of level to set of names.
    Example:
        >>> "matmul_v2" in paddle.amp.white_list()["bfloat16"]["O1"]
        True
    """
    return {
        "float16": {level: set(FP16_WHITE_LIST) for level in ("OD", "O1", "O2")},
        "bfloat16": {level: set(BF16_WHITE_LIST) for level in ("OD", "O1", "O2")},
    }


def black_list() -> dict[str, dict[str, set[str]]]:
    """The operations that run in float32.

    Returns:
        dict: dtype to dict of level to set of names.
    Example:
        >>> ("exp" in paddle.amp.black_list()["float16"]["O1"],
        ...  "exp" in paddle.amp.black_list()["float16"]["O2"])
        (True, False)
    """
    return {
        dtype: {"OD": set(), "O1": black | EXTRA_BLACK_LIST, "O2": set(EXTRA_BLACK_LIST)}
        for dtype, black in (("float16", FP16_BLACK_LIST), ("bfloat16", BF16_BLACK_LIST))
    }


__all__ = ["black_list", "white_list"]
