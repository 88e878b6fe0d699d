"""Inverses, systems of equations, determinants, ranks, functions of matrices."""

from __future__ import annotations

import functools as ft
import math
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax.tensor.axes import guarded
from paddle_jax.tensor.decomposition import adjoint, check_pivots, checked, matrices, of_triangle
from paddle_jax.tensor.inner import named
from paddle_jax.tensor.linear_systems import solution, triangular
from paddle_jax.tensor.norms import MATRIX_ORDERS, matrix_order_norm
from paddle_jax.tensor.ops import as_float

if TYPE_CHECKING:
    from paddle_jax._core.kernels.lifted_attributes import Number


@known_as(cast="float32", pir="inverse")
@op(register=False, method=False)
@named("inv")
def _inverse(x: jax.Array) -> jax.Array:
    matrices("inv", x, True)
    if not x.size:
        return x
    return solution(x, jnp.broadcast_to(jnp.eye(x.shape[-1], dtype=x.dtype), x.shape))


@composite(
    method="inverse",
    cases=["f(3,3)", "d(2,3,3)", "f(2,3)", "f(3)", "const([[1.0, 1.0], [1.0, 1.0]], 'float32')", "c(2,2)"],
)
def inv(x: Tensor, name: str | None = None) -> Tensor:
    """The inverses of square matrices.

    Args:
        x: Tensor [..., n, n].
    Returns:
        Tensor [..., n, n].
    Raises:
        ValueError: the matrices are not square, or one is singular.
    Example:
        >>> paddle.linalg.inv(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
        [[0.5, 0.0], [0.0, 0.25]]
    """
    return checked("inv", _inverse(x), x, "a matrix is singular and has no inverse")


# Paddle returns the conjugate for complex matrices
@known_as(cast="float32", code="algebra:pinv")
@op(
    cases=[
        "f(3,2)",
        "f(3,2), 0.5",
        "spd(3), hermitian=True",
        "f(2,2), hermitian=True",
        "f(3)",
        "d(2,2,3)",
        "~c(3,2)",
    ]
)
def pinv(
    x: jax.Array, rcond: Number | float = 1e-15, hermitian: bool = False, name: str | None = None
) -> Any:
    """The Moore-Penrose pseudo-inverses of matrices.

    Args:
        x: Tensor [..., m, n].
        rcond: singular values up to rcond times the largest count as 0; so do those that are rounding errors
            in the dtype of x.
        hermitian: x is symmetric (Hermitian); only its lower triangle is read.
    Returns:
        Tensor [..., n, m].
    Raises:
        ValueError: x has fewer than two axes.
    Example:
        >>> paddle.linalg.pinv(paddle.to_tensor([[2.0], [0.0]])).tolist()
        [[0.5, 0.0]]
    """
    x = matrices("pinv", x, hermitian)
    # Singular values below this share of the largest count as zero, as in NumPy.
    floor = max(rcond, float(jnp.finfo(x.dtype).eps) * max(x.shape[-2:]))
    if hermitian:
        function = ft.partial(jnp.linalg.pinv, rtol=floor, hermitian=True)
        return of_triangle(function, x, True, lambda t: (t + adjoint(t)) / 2)
    # A small rcond drops nothing but rounding, and needs no second decomposition.
    if rcond > 1e-10:
        x = _truncated(x, rcond)
    return jnp.linalg.pinv(x, rtol=floor)


def _truncated(x: jax.Array, rcond: Number | float) -> jax.Array:
    """x without singular values up to rcond times the largest, differentiable also where some are dropped."""
    sizes = jnp.linalg.svd(lax.stop_gradient(x), compute_uv=False)
    cut = jnp.any(sizes <= rcond * sizes[..., :1], -1)[..., None, None]
    # distinct singular values, so that no derivative is infinite
    apart = jnp.eye(*x.shape[-2:], dtype=x.dtype) * (1 + jnp.arange(x.shape[-1]))
    u, s, vh = jnp.linalg.svd(jnp.where(cut, x, apart), full_matrices=False)
    kept = jnp.where(s > rcond * s[..., :1], s, 0).astype(x.dtype)
    return jnp.where(cut, (u * kept[..., None, :]) @ vh, x)


@known_as(cast="float32", pir="solve", code="algebra:solve")
@op("x y", same_dtype=True, register=False, method=False)
@named("solve")
def _solve(x: jax.Array, y: jax.Array, left: bool = True) -> jax.Array:
    matrices("solve", x, True)
    vector = y.ndim == 1 or (y.ndim == x.ndim - 1 and y.shape == x.shape[:-1])
    if vector and not left:
        raise ValueError(f"solve: y: got shape {list(y.shape)}; with left=False it must be a matrix")
    b = y[..., None] if vector else y
    # x out = y and out x = y differ by a transposition.
    a, b = (x, b) if left else (jnp.swapaxes(x, -1, -2), jnp.swapaxes(b, -1, -2))
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(
            f"solve: got shapes {list(x.shape)} and {list(y.shape)}; "
            f"{a.shape[-1]} equations need {a.shape[-1]} right-hand sides"
        )
    lead = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    # XLA's solver wants equal batches.
    a, b = (jnp.broadcast_to(t, (*lead, *t.shape[-2:])) for t in (a, b))
    out = solution(a, b)
    if vector:
        return out[..., 0]
    if left:
        return out
    return jnp.swapaxes(out, -1, -2)


@known_as(pir="solve")
@composite(
    alias={"A": "x", "B": "y"},
    out=True,
    cases=[
        "f(3,3), f(3)",
        "f(3,3), f(3,2)",
        "f(2,3,3), f(2,3)",
        "f(3,3), f(2,3), left=False",
        "f(2,2), f(2), left=False",
        "f(2,3), f(2)",
        "const([[1.0, 1.0], [1.0, 1.0]], 'float32'), f(2)",
        "d(4,2,2), d(2,1)",
    ],
)
def solve(x: Tensor, y: Tensor, left: bool = True, name: str | None = None) -> Tensor:
    """Solves x @ out = y, or out @ x = y.

    Args:
        x: Tensor [..., n, n]. `A` is accepted as a name.
        y: Tensor [..., n, k], or [..., n] for vectors. `B` is accepted as a name.
        left: False solves out @ x = y.
    Returns:
        Tensor of y's shape.
    Raises:
        ValueError: the shapes do not fit, or a matrix is singular.
    Example:
        >>> paddle.linalg.solve(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]]),
        ...                     paddle.to_tensor([2.0, 8.0])).tolist()
        [1.0, 2.0]
    """
    return checked(
        "solve", _solve(x, y, left), x, "a matrix is singular; the equations have no unique solution"
    )


def _system(name: str, x: jax.Array, y: jax.Array) -> None:
    matrices(name, x, True)
    if y.ndim < 2 or y.shape[-2] != x.shape[-1]:
        raise ValueError(
            f"{name}: got shapes {list(x.shape)} and {list(y.shape)}; they must be [..., n, "
            "n] and [..., n, k]"
        )


# Paddle gives the diagonal a gradient although unitriangular says that it is not read
@known_as(cast="float32", pir="triangular_solve upper:bool transpose:bool unitriangular:bool")
@op(
    "x y",
    same_dtype=True,
    cases=[
        "f(3,3), f(3,2)",
        "f(3,3), f(3,1), False",
        "f(3,3), f(3,1), transpose=True",
        "~f(3,3), f(3,1), False, True, True",
        "d(2,3,3), d(3,1)",
        "f(2,3), f(2,1)",
        "f(2,2), f(2)",
    ],
)
def triangular_solve(
    x: jax.Array,
    y: jax.Array,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Solves x @ out = y for a triangular x.

    Args:
        x: Tensor [..., n, n]; only one triangle is read.
        y: Tensor [..., n, k].
        upper: which triangle.
        transpose: solve with the transpose of x.
        unitriangular: take the diagonal as ones.
    Returns:
        Tensor [..., n, k].
    Raises:
        ValueError: the shapes do not fit.
    Example:
        >>> paddle.linalg.triangular_solve(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]]),
        ...                                paddle.to_tensor([[2.0], [8.0]])).tolist()
        [[1.0], [2.0]]
    """
    _system("triangular_solve", x, y)
    return triangular(x, y, not upper, int(transpose), unitriangular)


def _by_factor(factor: jax.Array, b: jax.Array, upper: bool) -> jax.Array:
    """Solves L L^H out = b, or U^H U out = b."""
    # Two triangular systems: the inner call solves with the left factor.
    if upper:
        return triangular(factor, triangular(factor, b, False, 2), False)
    return triangular(factor, triangular(factor, b, True), True, 2)


# Paddle's gradient of the factor disagrees with finite differences
@known_as(cast="float32", pir="cholesky_solve upper:bool")
@op(
    "x y",
    cases=["~f(3,2), spd(3)", "~f(3,2), spd(3), True", "~d(2,3,1), d(3,3)", "f(3), f(3,3)", "f(2,1), f(3,3)"],
)
def cholesky_solve(x: jax.Array, y: jax.Array, upper: bool = False, name: str | None = None) -> jax.Array:
    """Solves A @ out = x for A = y y^T (or y^T y), given its Cholesky factor.

    Args:
        x: Tensor [..., n, k], the right-hand sides.
        y: Tensor [..., n, n], the factor.
        upper: the factor is upper triangular.
    Returns:
        Tensor [..., n, k].
    Raises:
        ValueError: the shapes do not fit.
    Example:
        >>> paddle.linalg.cholesky_solve(paddle.to_tensor([[4.0]]), paddle.to_tensor([[2.0]])).tolist()
        [[1.0]]
    """
    _system("cholesky_solve", y, x)
    return _by_factor(y, x, upper)


@known_as(cast="float32", code="algebra:cholesky_inverse")
@op(cases=["paddle.tril(spd(3))", "paddle.triu(spd(3)), True", "f(2,2,2)", "f(2,3)"])
def cholesky_inverse(x: jax.Array, upper: bool = False, name: str | None = None) -> jax.Array:
    """The inverse of A = x x^T (or x^T x), given its Cholesky factor.

    Args:
        x: Tensor [n, n], the factor.
        upper: the factor is upper triangular.
    Returns:
        Tensor of the shape of x.
    Raises:
        ValueError: x is not a square matrix.
    Example:
        >>> paddle.linalg.cholesky_inverse(paddle.to_tensor([[2.0]])).tolist()
        [[0.25]]
    """
    if x.ndim != 2:
        raise ValueError(f"cholesky_inverse: x: got {x.ndim} axes; it must have 2")
    matrices("cholesky_inverse", x, True)
    inverse = jnp.linalg.inv(x)  # of all of x, as Paddle, though a factor has one triangle only
    return inverse @ adjoint(inverse) if upper else adjoint(inverse) @ inverse


# Paddle's gradient of the factors disagrees with finite differences when trans is "T"
@guarded(check_pivots)
@known_as(cast="float32", pir="lu_solve trans:str")
@op(
    "b lu pivots",
    cases=[
        "f(3,2), f(3,3), const([3, 3, 3], 'int32')",
        "~f(3,1), f(3,3), const([2, 2, 3], 'int32'), 'T'",
        "d(2,2,1), d(2,2,2), const([[2, 2], [1, 2]], 'int32')",
    ],
    method=False,
)
def lu_solve(
    b: jax.Array, lu: jax.Array, pivots: jax.Array, trans: str = "N", name: str | None = None
) -> jax.Array:
    """Solves A @ out = b, given what `linalg.lu` returned for A.

    Args:
        b: Tensor [..., n, k], the right-hand sides.
        lu: Tensor [..., n, n], the packed factors.
        pivots: int32 Tensor [..., n].
        trans: "N" as is, "T" with the transpose of A, "C" with its adjoint.
    Returns:
        Tensor [..., n, k].
    Raises:
        ValueError: trans is not known, the shapes do not fit, or a pivot is not in 1..n.
    Example:
        >>> paddle.linalg.lu_solve(paddle.to_tensor([[4.0]]),
        ...                        *paddle.linalg.lu(paddle.to_tensor([[2.0]]))).tolist()
        [[2.0]]
    """
    if trans not in ("N", "T", "C"):
        raise ValueError(f"lu_solve: trans: got {trans!r}; allowed are 'N', 'T', 'C'")
    _system("lu_solve", lu, b)
    # LAPACK counts the exchanged rows from 1.
    order = lax.linalg.lu_pivots_to_permutation(pivots - 1, lu.shape[-1])
    # P L U out = b: rows in order, then L, then U.
    if trans == "N":
        return triangular(lu, triangular(lu, _reorder(b, order), True, unit=True), False)
    # The transposed system has the factors in the other order.
    kind = 1 if trans == "T" else 2
    return _reorder(
        triangular(lu, triangular(lu, b, False, kind), True, kind, unit=True), jnp.argsort(order, -1)
    )


def _reorder(rows: jax.Array, order: jax.Array) -> jax.Array:
    """Rows in the given order, with broadcast batches."""
    lead = jnp.broadcast_shapes(rows.shape[:-2], order.shape[:-1])
    rows = jnp.broadcast_to(rows, (*lead, *rows.shape[-2:]))
    return jnp.take_along_axis(rows, jnp.broadcast_to(order, (*lead, order.shape[-1]))[..., None], -2)


@known_as(cast="float32", pir="det", onnx="Det")
@op(method=False, cases=["f(3,3)", "f(2,3,3)", "f(2,3)", "c(2,2)", "d(1,1)", "d(2,2)"])
def det(x: jax.Array, name: str | None = None) -> jax.Array:
    """The determinants of square matrices.

    Args:
        x: Tensor [..., n, n].
    Returns:
        Tensor [...].
    Raises:
        ValueError: the matrices are not square.
    Differs from Paddle: the gradient of a singular matrix is its cofactors, not 0.
    Example:
        >>> paddle.linalg.det(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])).item()
        8.0
    """
    x = as_float(matrices("det", x, True))
    # The determinant of a matrix without elements is 1.
    return jnp.linalg.det(x) if x.size else jnp.ones(x.shape[:-2], x.dtype)


@known_as(cast="float32", pir="slogdet")
@op(cases=["f(3,3)", "f(2,3,3)", "f(2,3)", "~c(2,2)", "~const([[1.0, 1.0], [1.0, 1.0]], 'float32')"])
def slogdet(x: jax.Array, name: str | None = None) -> jax.Array:
    """Signs and logarithms of the absolute values of determinants.

    Args:
        x: Tensor [..., n, n].
    Returns:
        Tensor [2, ...]: signs, then logarithms.
    Raises:
        ValueError: the matrices are not square.
    Example:
        >>> [round(v, 4) for v in paddle.linalg.slogdet(paddle.to_tensor([[2.0, 0.0], [0.0, -4.0]])).tolist()]
        [-1.0, 2.0794]
    """
    sign, logarithm = jnp.linalg.slogdet(as_float(matrices("slogdet", x, True)))
    return jnp.stack([sign, logarithm.astype(sign.dtype)])


@known_as(cast="float32", pir="matrix_power n:i32")
@op(register=False, method=False)
@named("matrix_power")
def _power(x: jax.Array, n: int) -> jax.Array:
    return jnp.linalg.matrix_power(matrices("matrix_power", x, True), n)


@composite(
    cases=[
        "f(2,2), 3",
        "f(2,2), -1",
        "f(2,2), 0",
        "f(2,3), 2",
        "f(2,2), 1.5",
        "d(2,3,3), -2",
        "const([[1.0, 2.0], [2.0, 4.0]]), -1",
        "f(2,2), np.int64(-1)",
        "f(2,2), const(2)",
    ]
)
def matrix_power(x: Tensor, n: int, name: str | None = None) -> Tensor:
    """Square matrices raised to an integer power.

    Args:
        x: Tensor [..., k, k].
        n: int; negative powers are powers of the inverse.
    Returns:
        Tensor of the same shape.
    Raises:
        ValueError: the matrices are not square, or n is negative and one is singular.
        TypeError: n is not an int.
    Example:
        >>> paddle.linalg.matrix_power(paddle.to_tensor([[1.0, 1.0], [0.0, 1.0]]), 3).tolist()
        [[1.0, 3.0], [0.0, 1.0]]
    """
    n = n.item() if isinstance(n, Tensor | np.generic) else n
    if not isinstance(n, int):
        raise TypeError(f"matrix_power: n: got {n!r}; it must be an int")
    power = _power(x, n)
    # A negative power inverts, which fails for singular matrices.
    return power if n >= 0 else checked("matrix_power", power, x, "a matrix is singular and has no inverse")


@known_as(cast="float32", code="algebra:rank")
@op(
    "x tol atol rtol",
    scalars=True,
    nondiff=True,
    cases=[
        "f(3,3)",
        "const([[1.0, 1.0], [1.0, 1.0]], 'float32')",
        "f(3,2,2)",
        "f(2,2), 0.5",
        "f(3,2,2), const([0.5, 10.0, 1.0], 'float32')",
        "spd(3), hermitian=True",
        "const([[1., 2.], [0., 0.]]), hermitian=True",
        "const([[0., 0.], [2., 0.]]), hermitian=True",
        "d(2,3,3), hermitian=True",
        "f(2,2), atol=0.5, rtol=0.1",
        "f(2,2), 0.5, rtol=0.1",
        "f(2)",
        "d(3,2), rtol=0.9",
        "d(3,2), atol=1.0",
        "f(0,3)",
    ],
)
def matrix_rank(
    x: jax.Array,
    tol: Any = None,
    hermitian: bool = False,
    atol: jax.Array | None = None,
    rtol: jax.Array | None = None,
    name: str | None = None,
) -> jax.Array:
    """The ranks of matrices: how many singular values exceed a tolerance.

    Args:
        x: Tensor [..., m, n].
        tol: number or Tensor [...], the tolerance. Default: the largest singular value times max(m, n) times
            the precision of the dtype.
        hermitian: x is symmetric (Hermitian), which is faster; only its lower triangle is read.
        atol, rtol: instead of tol: the greater of atol and rtol times the largest singular value.
    Returns:
        int64 Tensor [...].
    Raises:
        ValueError: tol is given together with atol or rtol, or x has fewer than two axes.
    Example:
        >>> paddle.linalg.matrix_rank(paddle.to_tensor([[1.0, 1.0], [1.0, 1.0]])).item()
        1
    """
    matrices("matrix_rank", x, hermitian)
    # Two ways to give the same limit would contradict each other.
    if tol is not None and (atol is not None or rtol is not None):
        raise ValueError(
            "matrix_rank: tol comes together with atol or rtol; give either tol alone or the other two"
        )
    if 0 in x.shape[-2:]:
        return jnp.zeros(x.shape[:-2], jnp.int64)
    if hermitian:
        # The singular values of a Hermitian matrix are the sizes of its eigenvalues.
        sizes = jnp.abs(jnp.linalg.eigvalsh(x, symmetrize_input=False))
    else:
        sizes = jnp.linalg.svd(x, compute_uv=False)
    top = jnp.max(sizes, -1)
    if tol is None:
        # NumPy's tolerance: the error of the decomposition grows with the size.
        if rtol is not None:
            relative = top * rtol
        elif atol is None:
            relative = top * (max(x.shape[-2:]) * float(jnp.finfo(x.dtype).eps))
        else:
            relative = top * 0
        # A value has to exceed both limits.
        tol = relative if atol is None else jnp.maximum(atol, relative)
    return jnp.sum(sizes > jnp.asarray(tol)[..., None], -1, dtype=jnp.int64)


@known_as(cast="float32", code="algebra:cond")
@op(
    cases=[
        "f(3,3)",
        "f(3,3), 'fro'",
        "f(3,3), 'nuc'",
        "f(3,3), 1",
        "f(3,3), -1",
        "f(3,3), -2",
        "f(3,3), float('inf')",
        "f(3,3), 3",
        "f(3,2)",
        "f(3,2), 1",
        "f(3)",
        "d(2,3,3), 2",
    ]
)
def cond(x: jax.Array, p: Any = None, name: str | None = None) -> jax.Array:
    """The condition numbers of matrices: the norm times the norm of the inverse.

    Args:
        x: Tensor [..., n, n]; for p None, 2 and -2 also [..., m, n].
        p: order of the norm as for `linalg.matrix_norm`. None means 2.
    Returns:
        Tensor [...].
    Raises:
        ValueError: p is not known or the matrices do not fit.
    Example:
        >>> paddle.linalg.cond(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])).item()
        2.0
    """
    p = 2 if p is None else p
    if p not in MATRIX_ORDERS:
        raise ValueError(f"cond: p: got {p!r}; allowed are None and {', '.join(map(str, MATRIX_ORDERS))}")
    # Singular values need no square matrix.
    matrices("cond", x, p not in (2, -2))
    if p in (2, -2):
        values = jnp.linalg.svd(x, compute_uv=False)
        # The largest singular value over the smallest; -2 asks for the inverse of that.
        return values[..., 0] / values[..., -1] if p == 2 else values[..., -1] / values[..., 0]
    axes = (x.ndim - 2, x.ndim - 1)
    return matrix_order_norm(x, p, axes, False) * matrix_order_norm(jnp.linalg.inv(x), p, axes, False)


def _expm(x: jax.Array) -> jax.Array:
    """Scaling and squaring with the Taylor polynomial of degree 16 for norms up to 3/4, in Paterson and
    Stockmeyer's order of products (Higham, Functions of Matrices, 10.3). A polynomial keeps the programs of
    high derivatives small: the usual Pade approximant needs a solve and cases."""
    size = lax.stop_gradient(jnp.max(jnp.sum(jnp.abs(x), -2), -1))[..., None, None]
    # Halved until the norm is at most 3/4, where the polynomial is exact to rounding.
    times = jnp.clip(jnp.ceil(jnp.log2(jnp.maximum(size, 0.75) / 0.75)), 0, 48)
    a = x * jnp.exp2(-times)
    powers = [jnp.eye(x.shape[-1], dtype=x.dtype), a, a @ a]
    powers += [powers[2] @ a, powers[2] @ powers[2]]
    out = powers[4] / math.factorial(16)
    # Horner's scheme in the fourth power: four terms for each product.
    for first in (12, 8, 4, 0):
        # The first round starts with a multiple of the fourth power itself.
        if first < 12:
            out = powers[4] @ out
        out = sum(powers[i] / math.factorial(first + i) for i in range(4)) + out
    most = jnp.max(times, initial=0)
    return lax.fori_loop(
        # A fixed count of rounds lets the gradient through; finished ones cost no product.
        0,
        48,
        lambda i, p: lax.cond(i < most, lambda p: jnp.where(i < times, p @ p, p), lambda p: p, p),
        out,
    )


@known_as(cast="float32", code="algebra:matrix_exp")
@op(
    method=False,
    cases=[
        "f(2,2)",
        "d(3,3)",
        "f(2,3)",
        "i(2,2)",
        "f(2,2,2)",
        "d(1,1)",
        "d(2,2,2) * const([[[20.0]], [[0.1]]])",
    ],
)
def matrix_exp(x: jax.Array, name: str | None = None) -> jax.Array:
    """The exponentials of square matrices, sum_k x^k / k!.

    Args:
        x: Tensor [..., n, n], float32 or float64.
    Returns:
        Tensor of the same shape.
    Raises:
        ValueError: the matrices are not square or of another dtype.
    Example:
        >>> paddle.linalg.matrix_exp(paddle.zeros([2, 2])).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    if not jnp.issubdtype(x.dtype, jnp.floating):
        raise ValueError(f"matrix_exp: x: got {x.dtype}; allowed are float32 and float64")
    return _expm(matrices("matrix_exp", x, True)) if x.size else x


@known_as(cast="float32", code="algebra:least_squares")
@op("x y", register=False, method=False)
@named("lstsq")
def _least_squares(x: jax.Array, y: jax.Array, rcond: Number | float) -> tuple[Any, ...]:
    u, s, vh = jnp.linalg.svd(x, full_matrices=False)
    kept = s > rcond * s[..., :1]
    # Singular values that count as zero get the weight zero, not infinity.
    weights = jnp.where(kept, 1 / jnp.where(kept, s, 1), 0).astype(x.dtype)
    solution = adjoint(vh) @ (weights[..., None] * (adjoint(u) @ y))
    gap = x @ solution - y
    return solution, jnp.sum(jnp.real(gap * jnp.conj(gap)), -2), jnp.sum(kept, -1, dtype=jnp.int32), s


DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@composite(
    cases=[
        "f(3,2), f(3,1)",
        "f(3,2), f(3,1), driver='gelsd'",
        "f(3,2), f(3,1), driver='gels'",
        "f(2,3), f(2,1)",
        "d(4,3,2), d(4,3,2), driver='gelss'",
        "f(3,2), f(3)",
        "f(3,2), f(3,1), driver='x'",
        "f(3,2), f(2,1)",
        "f(2,2), f(2,1), driver='gelsd'",
        "f(0,3), f(0,2)",
    ]
)
def lstsq(
    x: Tensor, y: Tensor, rcond: Any = None, driver: str | None = None, name: str | None = None
) -> tuple[Tensor, ...]:
    """Solves x @ out = y in the sense of least squares; of several solutions the shortest.

    Args:
        x: Tensor [..., m, n].
        y: Tensor [..., m, k].
        rcond: singular values up to rcond times the largest count as 0. Default: the precision of the dtype
            times max(m, n).
        driver: "gels", "gelsy" (default), "gelsd" or "gelss"; it only decides which of the
            results are filled.
    Returns:
        (solution [..., n, k], squared residuals [..., k] or empty, rank int32 [...] or empty, singular values
        [..., min(m, n)] or empty).
    Raises:
        ValueError: the shapes do not fit or the driver is not known.
    Example:
        >>> paddle.linalg.lstsq(paddle.to_tensor([[1.0], [1.0]]),
        ...                     paddle.to_tensor([[1.0], [3.0]]))[0].tolist()
        [[2.0]]
    """
    driver = driver or "gelsy"
    if driver not in DRIVERS:
        raise ValueError(f"lstsq: driver: got {driver!r}; allowed are {', '.join(DRIVERS)}")
    if x.ndim < 2 or y.ndim < 2 or x.shape[-2] != y.shape[-2]:
        raise ValueError(
            f"lstsq: got shapes {list(x.shape)} and {list(y.shape)}; they must be [..., m, n] and [..., m, k]"
        )
    m, n = x.shape[-2:]
    if not x.size:
        empty = wrap(jnp.zeros((0,), numpy_dtype(x)))
        return (
            wrap(jnp.zeros((*x.shape[:-2], n, y.shape[-1]), numpy_dtype(x))),
            empty,
            wrap(jnp.zeros((0,), jnp.int64)),
            empty,
        )
    rcond = float(jnp.finfo(numpy_dtype(x)).eps) * max(m, n) if rcond is None else rcond
    solution, residuals, rank, values = _least_squares(x, y, rcond)
    real = numpy_dtype(values)
    empty = wrap(jnp.zeros((0,), real))
    # Only more equations than unknowns leave residuals.
    if m <= n:
        residuals = empty
    # Paddle leaves out what a driver of LAPACK does not compute.
    if driver == "gels":
        return solution, residuals, wrap(jnp.zeros((0,), jnp.int64)), empty
    if driver == "gelsy":
        return solution, empty, rank, empty
    return solution, residuals, rank, values


@op("x y bias", method=False, cases=["~f(2,2), f(2,2)"])
def fp8_fp8_half_gemm_fused(
    x: jax.Array,
    y: jax.Array,
    transpose_x: bool = False,
    transpose_y: bool = False,
    bias: jax.Array | None = None,
    scale: float = 1.0,
    output_dtype: str = "float16",
    act: str = "identity",
    name: str | None = None,
) -> jax.Array:
    """act(scale * (x @ y) + bias) of float8 matrices, in half precision.

    Args:
        x: Tensor [..., n, k], float8_e4m3fn or float8_e5m2.
        y: Tensor [..., k, m].
        transpose_x, transpose_y: exchange the last two axes first.
        bias: Tensor [m].
        scale: number.
        output_dtype: "float16" or "bfloat16".
        act: "identity", "relu" or "gelu".
    Returns:
        Tensor [..., n, m] of output_dtype.
    Raises:
        ValueError: output_dtype or act is not known.
    Example:
        >>> x = paddle.ones([2, 2]).astype("float8_e4m3fn")
        >>> paddle.linalg.fp8_fp8_half_gemm_fused(x, x).astype("float32").tolist()
        [[2.0, 2.0], [2.0, 2.0]]
    """
    acts = {"identity": lambda v: v, "relu": jax.nn.relu, "gelu": lambda v: jax.nn.gelu(v, approximate=False)}
    if act not in acts or output_dtype not in ("float16", "bfloat16"):
        allowed = f"float16, bfloat16 and {', '.join(acts)}"
        raise ValueError(
            f"fp8_fp8_half_gemm_fused: got output_dtype={output_dtype!r}, act={act!r}; allowed are {allowed}"
        )
    if transpose_x:
        x = jnp.swapaxes(x, -1, -2)
    if transpose_y:
        y = jnp.swapaxes(y, -1, -2)
    # The product of float8 is summed in float32, as matrix units do it.
    out = jnp.matmul(x.astype(jnp.float32), y.astype(jnp.float32)) * scale
    out = out if bias is None else out + bias.astype(jnp.float32)
    return acts[act](out).astype(output_dtype)
