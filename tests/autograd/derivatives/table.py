"""All rows, and the differentiable ops that have none with the reason."""

import dataclasses

from tests.autograd.derivatives import rows_loss, rows_math, rows_nn, rows_shape, rows_vision

# Compiling the derivatives of order 4 of these takes seconds: pytest checks order 1 to 3 (or 2),
# tools/derivative_table.py all four.
THREE = """linalg.lu linalg.ormqr linalg.eig linalg.eigvals linalg.svdvals linalg.pinv linalg.qr
linalg.corrcoef linalg.cond linalg.eigh linalg.householder_product linalg.lu_solve eigvalsh cholesky gammainc
flash_attention flash_attn_qkvpacked scaled_dot_product_attention adaptive_log_softmax_with_loss hsigmoid_loss
margin_cross_entropy gaussian_nll_loss signal.istft scatter_reduce batch_norm bilinear grid_sample renorm i0
i0e i1 i1e"""
TWO = (
    "linalg.matrix_exp linalg.svd linalg.svd_lowrank linalg.pca_lowrank linalg.lstsq ctc_loss "
    "rnnt_loss gammaincc"
)
_LIMITS = dict.fromkeys(THREE.split(), 3) | dict.fromkeys(TWO.split(), 2)

_ALL = [*rows_math.ROWS, *rows_shape.ROWS, *rows_nn.ROWS, *rows_loss.ROWS, *rows_vision.ROWS]
ROWS = [dataclasses.replace(row, orders=min(row.orders, row.most, _LIMITS.get(row.op, 4))) for row in _ALL]

REASONS = {
    "its result is made of integers or bools": "bitwise_and bitwise_or bitwise_xor bitwise_not "
    "bitwise_invert bitwise_left_shift bitwise_right_shift "
    "shard_index nonzero argwhere searchsorted bucketize one_hot "
    "class_center_sample sequence_mask randint randperm "
    "randint_like multinomial tril_indices triu_indices nms",
    "its result is no Tensor": "is_tensor is_complex is_integer is_floating_point broadcast_shape "
    "broadcast_shapes tolist rank",
    "it makes a Tensor of numbers, sizes or other data": "to_tensor as_tensor asarray from_numpy zeros ones "
    "empty full zeros_like ones_like empty_like "
    "full_like eye arange range linspace logspace "
    "fftfreq rfftfreq bartlett_window blackman_window "
    "hamming_window hann_window kaiser_window rand "
    "randn standard_normal uniform rand_like randn_like "
    "log_normal prior_box",
    "it draws random numbers; as in Paddle no gradient flows "
    "to the parameters": "bernoulli poisson binomial standard_gamma",
    "it counts; as in Paddle no gradient flows to the weights": "bincount histogramdd",
    "it says which boxes are kept; "
    "as in Paddle no gradient flows through it": "matrix_nms generate_proposals distribute_fpn_proposals",
    "as in Paddle no gradient flows through it": "box_coder",
    "its operands are float8": "fp8_fp8_half_gemm_fused",
}
