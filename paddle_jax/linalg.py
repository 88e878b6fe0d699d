"""paddle.linalg: linear algebra. The functions are declared in paddle_jax.tensor."""

from paddle_jax.tensor.decomposition import (
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    householder_product,
    lu,
    lu_unpack,
    ormqr,
    pca_lowrank,
    qr,
    svd,
    svd_lowrank,
    svdvals,
)
from paddle_jax.tensor.linalg import cross, matmul, matrix_transpose, multi_dot, vecdot
from paddle_jax.tensor.norms import matrix_norm, norm, vector_norm
from paddle_jax.tensor.slicing import diagonal
from paddle_jax.tensor.solve import (
    cholesky_inverse,
    cholesky_solve,
    cond,
    corrcoef,
    cov,
    det,
    fp8_fp8_half_gemm_fused,
    inv,
    lstsq,
    lu_solve,
    matrix_exp,
    matrix_power,
    matrix_rank,
    pinv,
    slogdet,
    solve,
    triangular_solve,
)

__all__ = [
    "cholesky", "cholesky_inverse", "cholesky_solve", "cond", "corrcoef", "cov", "cross", "det", "diagonal",
    "eig", "eigh", "eigvals", "eigvalsh", "fp8_fp8_half_gemm_fused", "householder_product", "inv", "lstsq",
    "lu", "lu_solve", "lu_unpack", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank",
    "matrix_transpose", "multi_dot", "norm", "ormqr", "pca_lowrank", "pinv", "qr", "slogdet", "solve", "svd",
    "svd_lowrank", "svdvals", "triangular_solve", "vecdot", "vector_norm",
]
