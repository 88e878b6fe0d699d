"""Factorisations and solvers: the LAPACK routines that jaxlib calls (it takes them from SciPy too),
matrix by matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paddle_jax._core.numpy_backend.rules import Avals, Params, Refusal, Run, rule


def lapack(name: str, dtype: np.dtype) -> Any:
    """A LAPACK routine for matrices of this dtype."""
    from scipy.linalg import get_lapack_funcs

    if dtype.char not in "fdFD":
        raise Refusal(f"{name} of {dtype} is compiled")
    return get_lapack_funcs((name,), dtype=dtype)[0]


def workspace(name: str, dtype: np.dtype, *sizes: Any, **options: Any) -> Any:
    """The size of working memory that a routine asks for; how it blocks its work, and so the last
    bits, depend on it."""
    answer = lapack(f"{name}_lwork", dtype)(*sizes, **options)
    return int(answer[0].real)


def by_matrix(each: Any, ins: Avals, outs: Avals, rank: int = 2) -> Any:
    """A function of stacks from `each`, which maps matrices to the list of results, or to None when LAPACK
    reports a failure: then they are NaN.

    rank: number of axes of the first operand that make one problem; the axes before it are the stack.
    """
    batch = ins[0].shape[: len(ins[0].shape) - rank]
    count = math.prod(batch)
    nothing = [complex(np.nan, np.nan) if a.dtype.kind == "c" else np.nan for a in outs]

    def run_one(*operands: Any) -> Any:
        results = each(*operands)
        if results is None:
            return [np.full(a.shape, number, a.dtype) for a, number in zip(outs, nothing, strict=True)]
        return [np.asarray(x, a.dtype).reshape(a.shape) for a, x in zip(outs, results, strict=True)]

    if not batch:
        return run_one

    def run(*operands: Any) -> Any:
        axes = len(batch)
        flat = [np.asarray(x).reshape(count, *x.shape[axes:]) for x in operands]
        stacks = [np.empty((count, *a.shape[axes:]), a.dtype) for a in outs]
        for k in range(count):
            results = each(*[x[k] for x in flat]) or nothing
            for stack, result in zip(stacks, results, strict=True):
                stack[k] = result
        return [stack.reshape(a.shape) for stack, a in zip(stacks, outs, strict=True)]

    return run


def _empty(outs: Avals) -> bool:
    return any(0 in a.shape for a in outs)


@rule("cholesky")
def _cholesky(params: Params, ins: Avals, outs: Avals) -> Run:
    potrf = lapack("potrf", outs[0].dtype)
    if _empty(outs):
        return lambda a: a

    def factor(a: np.ndarray) -> Any:
        c, info = potrf(a, lower=1, clean=0)
        if info == 0:
            return [c]
        return None

    run = by_matrix(factor, ins, outs)
    return lambda a: run(a)[0]


@rule("triangular_solve")
def _triangular_solve(params: Params, ins: Avals, outs: Avals) -> Run:
    dtype = outs[0].dtype
    lapack("potrf", dtype)  # refuses what LAPACK does not know
    if _empty(outs):
        return lambda a, b: b
    from scipy.linalg import get_blas_funcs

    trsm = get_blas_funcs(("trsm",), dtype=dtype)[0]
    side = int(not params["left_side"])
    lower = int(params["lower"])
    unit = int(params["unit_diagonal"])
    # BLAS has no conjugate without a transpose.
    conjugate = params["conjugate_a"] and not params["transpose_a"]
    if params["transpose_a"]:
        turned = 2 if params["conjugate_a"] else 1
    else:
        turned = 0

    def solve(a: np.ndarray, b: np.ndarray) -> Any:
        if conjugate:
            a = a.conj()
        return [trsm(dtype.type(1), a, b, side=side, lower=lower, trans_a=turned, diag=unit)]

    run = by_matrix(solve, ins, outs)
    return lambda a, b: run(a, b)[0]


def permutation(swaps: Any, size: Any) -> Any:
    """The order of rows after the row swaps of an LU factorisation, [..., k] to [..., size]."""
    orders = []
    for moves in swaps.reshape(-1, swaps.shape[-1]).tolist():
        order = list(range(size))
        for i, j in enumerate(moves):
            order[i], order[j] = order[j], order[i]
        orders.append(order)
    return np.array(orders, np.int32).reshape(*swaps.shape[:-1], size)


@rule("lu")
def _lu(params: Params, ins: Avals, outs: Avals) -> Run:
    getrf = lapack("getrf", outs[0].dtype)
    m = ins[0].shape[-2]

    def factor(a: np.ndarray) -> Any:
        lu, swaps, info = getrf(a)
        # A singular matrix has factors, too (info > 0); only a wrong argument leaves none.
        return [np.full_like(lu, np.nan) if info < 0 else lu, swaps]

    run = by_matrix(factor, ins, outs[:2])

    def decompose(a: np.ndarray) -> Any:
        if 0 in a.shape:
            lu = a
            swaps = np.zeros(outs[1].shape, np.int32)
        else:
            lu, swaps = run(a)
        if math.prod(outs[2].shape):
            order = permutation(swaps, m)
        else:
            order = np.zeros(outs[2].shape, np.int32)
        return lu, swaps, order

    return decompose


@rule("lu_pivots_to_permutation")
def _lu_permutation(params: Params, ins: Avals, outs: Avals) -> Run:
    if _empty(outs) or 0 in ins[0].shape:
        # Without swaps the rows stay in their order.
        order = np.broadcast_to(np.arange(params["permutation_size"], dtype=np.int32), outs[0].shape)
        return lambda swaps: order
    return lambda swaps: permutation(swaps, params["permutation_size"])


def _reflectors(dtype: np.dtype) -> Any:
    """(geqrf, orgqr) with their best working memory: a -> (factors, taus), (factors, taus) -> q."""
    geqrf = lapack("geqrf", dtype)
    name = "ungqr" if dtype.kind == "c" else "orgqr"
    orgqr = lapack(name, dtype)

    def factor(a: np.ndarray) -> Any:
        return geqrf(a, lwork=workspace("geqrf", dtype, *a.shape))[:2]

    def product(a: np.ndarray, taus: Any) -> Any:
        # The first call only asks for the size of the working memory.
        size = orgqr(a, taus, lwork=-1)[1]
        return orgqr(a, taus, lwork=int(size[0].real))[0]

    return factor, product


@rule("geqrf")
def _geqrf(params: Params, ins: Avals, outs: Avals) -> Run:
    factor, _ = _reflectors(outs[0].dtype)
    if 0 in ins[0].shape:
        return lambda a: (a, np.zeros(outs[1].shape, outs[1].dtype))
    return by_matrix(factor, ins, outs)


@rule("householder_product")
def _householder_product(params: Params, ins: Avals, outs: Avals) -> Run:
    _, product = _reflectors(outs[0].dtype)
    if 0 in ins[0].shape or 0 in ins[1].shape:
        raise Refusal("a product of no reflectors is compiled")
    run = by_matrix(lambda a, taus: [product(a, taus)], ins, outs)
    return lambda a, taus: run(a, taus)[0]


@rule("qr")
def _qr(params: Params, ins: Avals, outs: Avals) -> Run:
    dtype, (m, n) = outs[0].dtype, ins[0].shape[-2:]
    if params.get("pivoting") or 0 in ins[0].shape:
        raise Refusal("qr with pivoting, or of nothing, is compiled")
    factor, product = _reflectors(dtype)
    width = m if params["full_matrices"] or m < n else n

    def decompose(a: np.ndarray) -> Any:
        r, taus = factor(a)
        # LAPACK works on columns, and would copy rows.
        q = np.zeros((m, width), dtype, order="F")
        q[:, : min(n, width)] = r[:, :width]
        return product(q, taus), np.triu(r[:width])

    return by_matrix(decompose, ins, outs)


@rule("tridiagonal_solve")
def _tridiagonal_solve(params: Params, ins: Avals, outs: Avals) -> Run:
    gtsv = lapack("gtsv", outs[0].dtype)
    if params.get("perturb_singular") or _empty(outs) or ins[0].shape[-1] < 2:
        raise Refusal("this tridiagonal_solve is compiled")

    def solve(lower: Any, diagonal: Any, upper: Any, b: np.ndarray) -> Any:
        *_, x, info = gtsv(lower[1:], diagonal, upper[:-1], b)
        if info == 0:
            return [x]
        return None

    run = by_matrix(solve, ins, outs, rank=1)
    return lambda *operands: run(*operands)[0]
