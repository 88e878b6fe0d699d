"""Eigenvalues and singular values, by the LAPACK routines that jaxlib calls."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_jax._core.numpy_backend.linalg import by_matrix, lapack, workspace
from paddle_jax._core.numpy_backend.rules import Avals, Params, Refusal, Run, rule


def _refuse_empty(name: str, ins: Avals) -> None:
    if 0 in ins[0].shape:
        raise Refusal(f"{name} of nothing is compiled")


@rule("eigh")
def _eigh(params: Params, ins: Avals, outs: Avals) -> Run:
    dtype = ins[0].dtype
    n = ins[0].shape[-1]
    _refuse_empty("eigh", ins)
    if params.get("subset_by_index") not in (None, (0, n)) or params.get("algorithm") is not None:
        raise Refusal("eigh with options is compiled")
    name = "heevd" if dtype.kind == "c" else "syevd"
    lower = int(params["lower"])
    solver = lapack(name, dtype)

    def decompose(a: np.ndarray) -> Any:
        w, v, info = solver(a, lower=lower)
        if info == 0:
            return [v, w]
        return None

    return by_matrix(decompose, ins, outs)


@rule("svd")
def _svd(params: Params, ins: Avals, outs: Avals) -> Run:
    dtype = ins[0].dtype
    m, n = ins[0].shape[-2:]
    _refuse_empty("svd", ins)
    algorithm = getattr(params.get("algorithm"), "name", "DEFAULT")
    has_subset = params.get("subset_by_index") not in (None, (0, min(m, n)))
    if has_subset or algorithm not in ("DEFAULT", "DIVIDE_AND_CONQUER"):
        raise Refusal("svd with options is compiled")
    gesdd = lapack("gesdd", dtype)
    options = {"compute_uv": int(params["compute_uv"]), "full_matrices": int(params["full_matrices"])}
    size = workspace("gesdd", dtype, m, n, **options)

    def decompose(a: np.ndarray) -> Any:
        u, s, v, info = gesdd(a, lwork=size, **options)
        if info == 0:
            return [s, u, v][: len(outs)]
        return None

    return by_matrix(decompose, ins, outs)


@rule("eig")
def _eig(params: Params, ins: Avals, outs: Avals) -> Run:
    dtype = ins[0].dtype
    n = ins[0].shape[-1]
    _refuse_empty("eig", ins)
    left = int(params["compute_left_eigenvectors"])
    right = int(params["compute_right_eigenvectors"])
    if getattr(params.get("implementation"), "name", "LAPACK") != "LAPACK":
        raise Refusal("eig with options is compiled")
    geev = lapack("geev", dtype)
    size = workspace("geev", dtype, n, compute_vl=left, compute_vr=right)

    def decompose(a: np.ndarray) -> Any:
        # LAPACK may crash on NaN and infinity, or never end.
        if not np.isfinite(a).all():
            return None
        *w, vl, vr, info = geev(a, lwork=size, compute_vl=left, compute_vr=right)
        if info != 0:
            return None
        vectors = [v for v, wanted in ((vl, left), (vr, right)) if wanted]
        if dtype.kind == "c":
            return [w[0], *vectors]
        real, imaginary = w  # of a real matrix LAPACK gives the parts of the values
        return [real + 1j * imaginary, *[_paired(imaginary, v, outs[0].dtype) for v in vectors]]

    return by_matrix(decompose, ins, outs)


def _paired(imaginary: Any, v: Any, dtype: np.dtype) -> Any:
    """Complex eigenvectors of a real matrix: LAPACK keeps real and imaginary part of a conjugate
    pair in two columns."""
    vectors = v.astype(dtype)
    k = 0
    while k < len(imaginary):
        if imaginary[k] != 0 and k + 1 < len(imaginary):
            vectors[:, k] = v[:, k] + 1j * v[:, k + 1]
            vectors[:, k + 1] = v[:, k] - 1j * v[:, k + 1]
            k += 1
        k += 1
    return vectors


@rule("schur")
def _schur(params: Params, ins: Avals, outs: Avals) -> Run:
    dtype = ins[0].dtype
    _refuse_empty("schur", ins)
    if params.get("sort_eig_vals"):
        raise Refusal("schur with sorting is compiled")
    gees = lapack("gees", dtype)
    wanted = int(params["compute_schur_vectors"])

    def nothing(*_: Any) -> Any:
        return None

    def decompose(a: np.ndarray) -> Any:
        # A call with lwork -1 only asks for the size of the working memory.
        size = int(gees(nothing, a, lwork=-1)[-2][0].real)
        t, *_, v, _, info = gees(nothing, a, compute_v=wanted, lwork=size)
        if info == 0:
            return [t, v][: len(outs)]
        return None

    return by_matrix(decompose, ins, outs)


@rule("hessenberg")
def _hessenberg(params: Params, ins: Avals, outs: Avals) -> Run:
    dtype = ins[0].dtype
    n = ins[0].shape[-1]
    if n < 2:
        raise Refusal("hessenberg of a single number is compiled")
    gehrd = lapack("gehrd", dtype)
    size = workspace("gehrd", dtype, n, lo=0, hi=n - 1)

    def reduce(a: np.ndarray) -> Any:
        h, taus, info = gehrd(a, lo=0, hi=n - 1, lwork=size)
        if info == 0:
            return [h, taus]
        return None

    return by_matrix(reduce, ins, outs)


@rule("tridiagonal")
def _tridiagonal(params: Params, ins: Avals, outs: Avals) -> Run:
    dtype = ins[0].dtype
    n = ins[0].shape[-1]
    name = "hetrd" if dtype.kind == "c" else "sytrd"
    lower = int(params["lower"])
    solver = lapack(name, dtype)
    size = workspace(name, dtype, n, lower=lower)

    def reduce(a: np.ndarray) -> Any:
        c, d, e, taus, info = solver(a, lower=lower, lwork=size)
        if info == 0:
            return [c, d, e, taus]
        return None

    return by_matrix(reduce, ins, outs)
