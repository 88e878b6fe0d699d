"""Rows of elementwise functions, reductions, cumulative functions, products and special functions."""

import numpy as np

from tests.autograd.derivatives.engine import Row as R
from tests.autograd.derivatives.inputs import a, at, c, cm, hpd, k, m, n, spd, u

UNARY = """abs sin cos sinh cosh tanh asinh atan exp expm1 square neg negative positive sigmoid erf frac sinc
i0 i0e i1 i1e angle deg2rad rad2deg sgn sign reciprocal"""
COMPLEX = "exp sin tanh log sqrt abs reciprocal square angle sgn asinh acos"
REDUCTIONS = "sum mean max min amax amin logsumexp nansum nanmean median nanmedian"
POSITIVE = "log log2 log10 log1p sqrt rsqrt lgamma gammaln digamma acosh"

ROWS = [
    *[R(name, f"p.{name}(x)", (n(3),)) for name in UNARY.split()], *[R(name, f"p.{name}(x)", (u(1.3, 2.6, 3),)) for name in POSITIVE.split()],
    *[R(name, f"p.{name}(x)", (u(-0.8, 0.8, 3),)) for name in ("asin", "acos", "atanh", "erfinv", "tan")],
    *[R(name, f"p.{name}(x)", (c(2),), note="complex") for name in COMPLEX.split()],
    *[R(name, f"p.{name}(x)", (u(0.2, 0.8, 3),)) for name in ("ceil", "floor", "trunc")], R("round", "p.round(x)", (at([0.2, 0.8, -1.3]),)),
    R("logit", "p.logit(x)", (u(0.2, 0.8, 3),)), R("stanh", "p.stanh(x)", (n(3),)), R("scale", "p.scale(x, 2.0, 1.0)", (n(3),)),
    R("nan_to_num", "p.nan_to_num(x)", (n(3),)), R("clip", "p.clip(x, -0.7, 0.7)", (a(6),)), R("increment", "p.increment(x * 1.0, 2.0)", (n(1),)),
    R("frexp", "p.frexp(x)[0]", (u(1.1, 1.9, 3),)), R("cast", "p.cast(x, 'float64')", (n(3),)),
    R("lgamma", "p.lgamma(x)", (u(-2.7, -2.3, 3),), note="below 0"), R("digamma", "p.digamma(x)", (u(-2.7, -2.3, 3),), note="below 0"),
    R("multigammaln", "p.multigammaln(x, 2)", (u(2.0, 3.0, 3),)), R("polygamma", "p.polygamma(x, 1)", (u(1.5, 2.5, 3),)),
    R("gammainc", "p.gammainc(x, y)", (u(0.8, 3.0, 3), u(0.5, 3.0, 3))), R("gammaincc", "p.gammaincc(x, y)", (u(0.8, 3.0, 3), u(0.5, 3.0, 3))),
    # binary
    *[R(name, f"p.{name}(x, y)", (n(2, 3), n(3))) for name in ("add", "subtract", "multiply", "atan2", "logaddexp", "hypot")],
    *[R(name, f"p.{name}(x, y)", (n(2, 3), u(0.8, 2, 3))) for name in ("divide", "true_divide")],
    *[R(name, f"p.{name}(x, y)", (at([0.3, -1.0, 2.0]), at([0.9, -2.0, 1.1]))) for name in ("maximum", "minimum", "fmax", "fmin", "copysign")],
    R("pow", "p.pow(x, y)", (u(0.6, 2.0, 3), n(3))), R("pow", "p.pow(x, 3)", (n(3),)), R("pow", "p.pow(x, 2.5)", (u(0.6, 2.0, 3),)),
    R("pow", "p.pow(x, y)", (c(2), c(2)), note="complex"), R("multiply", "p.multiply(x, y)", (c(2), c(2)), note="complex"),
    R("divide", "p.divide(x, y)", (c(2), c(2)), note="complex"), R("remainder", "p.remainder(x, y)", (u(0.7, 0.9, 3), u(0.4, 0.6, 3))),
    R("heaviside", "p.heaviside(x, y)", (n(3), n(3))), R("ldexp", "p.ldexp(x, y)", (n(3), k([1, 2, -1]))),
    R("lerp", "p.lerp(x, y, z)", (n(3), n(3), n(3))), R("add_n", "p.add_n([x, y])", (n(3), n(3))), R("complex", "p.complex(x, y)", (n(3), n(3))),
    R("polar", "p.polar(x, y)", (u(0.5, 2, 3), n(3))), R("conj", "p.conj(x)", (c(3),)), R("real", "p.real(x)", (c(3),)),
    R("imag", "p.imag(x)", (c(3),)), R("as_real", "p.as_real(x)", (c(3),)), R("as_complex", "p.as_complex(x)", (n(3, 2),)),
    R("view_as_real", "p.view_as_real(x)", (c(3),)), R("view_as_complex", "p.view_as_complex(x)", (n(3, 2),)),
    # reductions
    *[R(name, f"p.{name}(x, axis=1)", (a(2, 3),)) for name in REDUCTIONS.split()], R("prod", "p.prod(x, axis=1)", (n(2, 3),)),
    R("prod", "p.prod(x)", (at([0.0, 2.0, 3.0]),), note="with a zero"), R("std", "p.std(x, axis=1)", (a(2, 3),)),
    R("var", "p.var(x, axis=1)", (a(2, 3),)), R("mode", "p.mode(x)[0]", (a(2, 3),)), R("kthvalue", "p.kthvalue(x, 2)[0]", (a(2, 3),)),
    R("topk", "p.topk(x, 2)[0]", (a(2, 3),)), R("sort", "p.sort(x)", (a(2, 3),)), R("msort", "p.msort(x)", (a(3, 2),)),
    R("quantile", "p.quantile(x, 0.3, axis=1)", (a(2, 4),)), R("nanquantile", "p.nanquantile(x, 0.3, axis=1)", (a(2, 4),)),
    R("reduce_as", "p.reduce_as(x, y)", (n(2, 3), k([0.0, 0.0, 0.0]))), R("trapezoid", "p.trapezoid(x, y)", (n(4), a(4))),
    R("cumulative_trapezoid", "p.cumulative_trapezoid(x, y)", (n(4), a(4))),
    # cumulative
    R("cumsum", "p.cumsum(x, 1)", (n(2, 3),)), R("cumprod", "p.cumprod(x, 1)", (n(2, 3),)),
    R("cumprod", "p.cumprod(x, 0)", (at([2.0, 0.0, 3.0]),), note="with a zero"), R("cummax", "p.cummax(x)[0]", (a(4),)),
    R("cummin", "p.cummin(x)[0]", (a(4),)), R("logcumsumexp", "p.logcumsumexp(x, 1)", (n(2, 3),)), R("diff", "p.diff(x, 2)", (n(5),)),
    # norms and distances
    R("norm", "p.norm(x)", (n(2, 3),)), R("norm", "p.norm(x, 3, axis=1)", (n(2, 3),)), R("norm", "p.norm(x, 1)", (n(2, 3),)),
    R("norm", "p.norm(x, float('inf'), axis=0)", (a(3),)), R("linalg.vector_norm", "L.vector_norm(x, 2.5)", (n(3),)),
    R("linalg.matrix_norm", "L.matrix_norm(x)", (m(2, 3),)),
    R("linalg.matrix_norm", "L.matrix_norm(x, 'nuc')", (at(np.eye(2)),), orders=3, note="equal singular values"),
    R("linalg.matrix_norm", "L.matrix_norm(x, 'nuc')", (cm(3, 2),), orders=2, note="complex"),
    R("linalg.matrix_norm", "L.matrix_norm(x, 'nuc')", (m(2, 3),), orders=3), R("linalg.matrix_norm", "L.matrix_norm(x, 2)", (m(2, 2),)),
    R("renorm", "p.renorm(x, 2.0, 0, 0.5)", (n(2, 3),)), R("dist", "p.dist(x, y)", (n(3), n(3))), R("dist", "p.dist(x, y, 3)", (n(3), n(3))),
    R("cdist", "p.cdist(x, y)", (n(2, 3), a(2, 3))), R("pdist", "p.pdist(x)", (a(3, 2),)),
    # products
    R("matmul", "p.matmul(x, y)", (n(2, 3), n(3, 2))), R("matmul", "p.matmul(x, y, True)", (c(2, 2), c(2, 2)), note="complex"),
    R("mm", "p.mm(x, y)", (n(2, 3), n(3, 2))), R("bmm", "p.bmm(x, y)", (n(2, 1, 2), n(2, 2, 1))), R("mv", "p.mv(x, y)", (n(2, 3), n(3))),
    R("dot", "p.dot(x, y)", (n(3), n(3))), R("inner", "p.inner(x, y)", (n(2, 2), n(2, 2))), R("outer", "p.outer(x, y)", (n(2), n(3))),
    R("kron", "p.kron(x, y)", (n(2), n(2))), R("cross", "p.cross(x, y)", (n(2, 3), n(2, 3))), R("vecdot", "p.vecdot(x, y)", (n(2, 3), n(2, 3))),
    R("vecdot", "p.vecdot(x, y)", (c(3), c(3)), note="complex"), R("addmm", "p.addmm(x, y, z)", (n(2, 2), n(2, 2), n(2, 2))),
    R("baddbmm", "p.baddbmm(x, y, z)", (n(1, 2, 2), n(1, 2, 2), n(1, 2, 2))),
    R("linalg.multi_dot", "L.multi_dot([x, y, z])", (n(2, 2), n(2, 2), n(2, 2))), R("tensordot", "p.tensordot(x, y, 1)", (n(2, 2), n(2, 2))),
    R("einsum", "p.einsum('ij,jk,ik->i', x, y, z)", (n(2, 2), n(2, 2), n(2, 2))), R("trace", "p.trace(x)", (n(3, 3),)),
    R("vander", "p.vander(x, 4)", (n(3),)), R("linalg.cov", "L.cov(x)", (n(2, 4),)), R("linalg.corrcoef", "L.corrcoef(x)", (n(2, 4),)),
    # decompositions and systems
    R("cholesky", "p.cholesky(x)", (spd(3),)), R("linalg.cholesky_inverse", "L.cholesky_inverse(x)", (at([[1.2, 0.0], [0.4, 1.5]]),)),
    R("linalg.cholesky_solve", "L.cholesky_solve(x, y)", (n(2, 1), at([[1.2, 0.0], [0.4, 1.5]]))), R("linalg.inv", "L.inv(x)", (m(2, 2),)),
    R("linalg.det", "L.det(x)", (m(3, 3),)), R("linalg.det", "L.det(x)", (at([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]]),), note="singular"),
    R("linalg.slogdet", "L.slogdet(x)", (m(3, 3),)), R("linalg.matrix_power", "L.matrix_power(x, 3)", (m(2, 2),)),
    R("linalg.matrix_power", "L.matrix_power(x, -2)", (m(2, 2),)), R("linalg.matrix_exp", "L.matrix_exp(x)", (n(2, 2),)),
    R("linalg.solve", "L.solve(x, y)", (m(2, 2), n(2))), R("linalg.triangular_solve", "L.triangular_solve(x, y)", (m(2, 2), n(2, 1))),
    R("linalg.lstsq", "L.lstsq(x, y)[0]", (m(3, 2), n(3, 1))), R("linalg.lu", "L.lu(x)[0]", (m(3, 3),)),
    R("linalg.lu_unpack", "L.lu_unpack(x, y)", (m(3, 3), k([2, 2, 3], "int32"))),
    R("linalg.lu_solve", "L.lu_solve(x, y, z)", (n(2, 1), m(2, 2), k([2, 2], "int32"))), R("linalg.qr", "L.qr(x)", (m(3, 2),)),
    R("linalg.qr", "L.qr(x)", (m(2, 3),), note="wide"), R("linalg.qr", "L.qr(x, 'complete')", (m(3, 2),)), R("linalg.svd", "L.svd(x)", (m(3, 2),)),
    R("linalg.svd", "L.svd(x, full_matrices=True)", (m(3, 2),)), R("linalg.svdvals", "L.svdvals(x)", (m(3, 2),)),
    R("linalg.eigh", "L.eigh(x)", (spd(3),)), R("eigvalsh", "p.linalg.eigvalsh(x)", (spd(3),)), R("linalg.eig", "L.eig(x)", (m(3, 3),)),
    R("linalg.eigvals", "L.eigvals(x)", (m(3, 3),)), R("linalg.pinv", "L.pinv(x)", (m(3, 2),)),
    R("linalg.pinv", "L.pinv(x, hermitian=True)", (spd(2),)), R("linalg.cond", "L.cond(x)", (m(2, 2),)),
    R("linalg.cond", "L.cond(x, 'fro')", (m(2, 2),)), R("linalg.householder_product", "L.householder_product(x, y)", (n(3, 2), n(2))),
    R("linalg.ormqr", "L.ormqr(x, y, z)", (n(2, 2), n(2), n(2, 1))), R("linalg.svd_lowrank", "L.svd_lowrank(x, 2, 0)[1]", (m(3, 2),)),
    R("linalg.pca_lowrank", "L.pca_lowrank(x, 2, niter=0)[1]", (m(4, 2),)),
    # complex matrices (of vectors only the moduli, since their phases are free) and other shapes
    *[R(f"linalg.{name}", f"L.{name}(x)", (cm(2, 2),), most=3, note="complex") for name in ("inv", "det", "slogdet", "svdvals")],
    *[R(f"linalg.{name}", f"L.{name}(x)", (cm(3, 2),), most=2, note="complex") for name in ("qr", "pinv")],
    R("cholesky", "p.cholesky(x)", (hpd(2),), most=3, note="complex"), R("eigvalsh", "p.linalg.eigvalsh(x)", (hpd(3),), most=2, note="complex"),
    R("linalg.eigvals", "L.eigvals(x)", (cm(2, 2),), most=2, note="complex"),
    R("linalg.eigh", "p.abs(L.eigh(x)[1])", (hpd(2),), most=2, note="complex"),
    R("linalg.eig", "p.abs(L.eig(x)[1])", (cm(2, 2),), most=2, note="complex"),
    R("linalg.svd", "[p.abs(L.svd(x)[0]), p.abs(L.svd(x)[2])]", (cm(3, 2),), most=2, note="complex"),
    R("linalg.svd", "[p.abs(t) for t in L.svd(x, full_matrices=True)]", (cm(3, 2),), most=2, note="complex"),
    R("linalg.solve", "L.solve(x, y)", (cm(2, 2), c(2)), most=3, note="complex"),
    R("linalg.matrix_power", "L.matrix_power(x, 2)", (cm(2, 2),), most=3, note="complex"),
    R("linalg.householder_product", "L.householder_product(x, y)", (c(2, 2), c(2)), most=2, note="complex"),
    R("linalg.svd", "L.svd(x, full_matrices=True)", (m(2, 3),), most=2, note="wide"),
    R("linalg.lstsq", "L.lstsq(x, y)[0]", (m(2, 3), n(2, 1)), most=2, note="wide"), R("linalg.pinv", "L.pinv(x)", (m(2, 3),), most=3, note="wide"),
    R("linalg.lu", "L.lu(x)[0]", (m(2, 3),), most=2, note="wide"), R("linalg.lu", "L.lu(x)[0]", (m(3, 2),), most=2, note="high"),
    R("linalg.inv", "L.inv(x)", (m(2, 2, 2),), most=2, note="a batch"), R("linalg.eigh", "L.eigh(x)", (spd(2, 2),), most=2, note="a batch"),
    R("linalg.cond", "L.cond(x, p=1)", (m(2, 2),), most=3),
    R("linalg.matrix_exp", "L.matrix_exp(x)", (at([[[20.0, 3.0], [-9.0, -7.0]], [[0.1, 0.2], [-0.3, 0.1]]]),), most=2, note="a batch"),
]
