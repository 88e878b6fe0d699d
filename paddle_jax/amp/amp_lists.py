"""Which operations mixed precision runs in low precision (white), which in float32 (black), by Paddle's names; all others follow their operands."""

WHITE_LIST = {"conv2d", "einsum", "flash_attn", "fused_gemm_epilogue", "fused_rotary_position_embedding", "linear_v2", "matmul", "matmul_v2",
              "max_pool2d_with_index", "mul"}
ONLY_FP16_WHITE_LIST = {"fake_quantize_dequantize_abs_max", "fake_quantize_dequantize_moving_average_abs_max", "fused_attention",
                        "fused_feedforward"}
FP16_WHITE_LIST = WHITE_LIST | ONLY_FP16_WHITE_LIST
BF16_WHITE_LIST = set(WHITE_LIST)

# Sums, exponentials and losses: their results leave the range or lose the digits of a low precision.
FP16_BLACK_LIST = set(
    "acos asin atanh c_softmax_with_cross_entropy c_softmax_with_multi_label_cross_entropy cosh cross_entropy cross_entropy2 cumprod cumsum dist "
    "erfinv exp expm1 frobenius_norm group_norm hsigmoid_loss huber_loss layer_norm log log10 log2 log_loss log_softmax margin_cross_entropy mean "
    "nll_loss pnorm pow reciprocal reduce_mean reduce_prod reduce_sum renorm rsqrt sigmoid_cross_entropy_with_logits sinh softmax "
    "softmax_with_cross_entropy softmin softplus square tan tanh_shrink triplet_margin_loss".split())
BF16_BLACK_LIST = set(FP16_BLACK_LIST)

# Slower in low precision on a GPU, or better in float32.
EXTRA_BLACK_LIST = {"bicubic_interp_v2", "bilinear_interp_v2", "linear_interp_v2", "lookup_table", "lookup_table_v2", "nearest_interp_v2", "scatter",
                    "trilinear_interp_v2"}

# Paddle's names of operations that have another one here. A pair: (with a Python number as the last operand, with a tensor); of convolutions: (each
# channel on its own, others).
NAMES = {
    "add": ("scale", "elementwise_add"), "subtract": ("scale", "elementwise_sub"), "multiply": ("scale", "elementwise_mul"),
    "divide": ("scale", "elementwise_div"), "true_divide": ("scale", "elementwise_div"),
    "pow": ("pow", "elementwise_pow"), "hypot": "pow", "logaddexp": "exp",
    "matmul": "matmul_v2", "mm": "matmul_v2", "inner": "matmul_v2", "contract": "matmul_v2", "linear": "linear_v2", "attend": "flash_attn",
    "attend_dropout": "flash_attn", "conv2d": ("depthwise_conv2d", "conv2d"), "conv1d": ("depthwise_conv2d", "conv2d"),
    "sum": "reduce_sum", "mean": "reduce_mean", "prod": "reduce_prod", "max": "reduce_max", "min": "reduce_min",
    "vector_norm": "pnorm", "norm": "pnorm", "pairwise_distance": "pnorm", "matrix_norm": "frobenius_norm", "cosine_similarity": "reduce_sum",
    "_lookup": "lookup_table_v2", "_resize": "bilinear_interp_v2", "put_rows": "scatter", "tanhshrink": "tanh_shrink",
    "batch_norm_train": "batch_norm", "batch_norm_infer": "batch_norm",
    "cross_entropy_hard": "softmax_with_cross_entropy", "cross_entropy_soft": "softmax_with_cross_entropy", "negative_log_likelihood": "nll_loss",
    "_sphere_margin": "margin_cross_entropy", "binary_cross_entropy_with_logits": "sigmoid_cross_entropy_with_logits",
    "sigmoid_focal_loss": "sigmoid_cross_entropy_with_logits", "smooth_l1_loss": "huber_loss", "square_error_cost": "square", "mse_loss": "square",
    "_tree_loss": "hsigmoid_loss", "_clustered": "log_softmax", "_triplet": "triplet_margin_loss",
    **dict.fromkeys("_gaussian binary_cross_entropy cosine_embedding_loss dice_loss hinge_embedding_loss kl_div l1_loss margin_ranking_loss "
                    "multi_label_margin_loss multi_label_soft_margin_loss multi_margin_loss npair_loss poisson_nll_loss soft_margin_loss".split(),
                    "reduce_mean"),
}
# Never cast.
PLAIN = frozenset("cast assign clone positive full_like zeros_like ones_like empty_like rand_like randn_like randint_like".split())

# Without kernels of low precision: float32 at every level.
WIDE = frozenset(
    "as_complex cholesky cholesky_inverse cholesky_solve complex cond det eig eigh eigvals eigvalsh householder_product inv lstsq lu lu_solve "
    "lu_unpack matrix_exp matrix_norm matrix_power matrix_rank norm ormqr pca_lowrank pinv polar qr slogdet solve svd svd_lowrank svdvals "
    "triangular_solve view_as_complex".split())


def white_list():
    """The operations that run in low precision.

    Returns:
        dict: dtype to dict of level to set of names.
    Example:
        >>> "matmul_v2" in paddle.amp.white_list()["bfloat16"]["O1"]
        True
    """
    return {"float16": {level: set(FP16_WHITE_LIST) for level in ("OD", "O1", "O2")},
            "bfloat16": {level: set(BF16_WHITE_LIST) for level in ("OD", "O1", "O2")}}


def black_list():
    """The operations that run in float32.

    Returns:
        dict: dtype to dict of level to set of names.
    Example:
        >>> "exp" in paddle.amp.black_list()["float16"]["O1"], "exp" in paddle.amp.black_list()["float16"]["O2"]
        (True, False)
    """
    return {dtype: {"OD": set(), "O1": black | EXTRA_BLACK_LIST, "O2": set(EXTRA_BLACK_LIST)}
            for dtype, black in (("float16", FP16_BLACK_LIST), ("bfloat16", BF16_BLACK_LIST))}


__all__ = ["black_list", "white_list"]
