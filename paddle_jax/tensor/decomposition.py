"""Factorisations of matrices and what follows from them."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.kernels.value_checks import after_checks
from paddle_jax._core.lazy.transfer import materialize, to_numpy
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor, read_raw, wrap
from paddle_jax.tensor.axes import check_index
from paddle_jax.tensor.inner import named
from paddle_jax.tensor.ops import as_float


def matrices(name: str, x: jax.Array, square: bool = False, error: Any = ValueError) -> jax.Array:
    """Refuses what is not a (square) matrix or a batch of them."""
    if x.ndim < 2 or (square and x.size and x.shape[-1] != x.shape[-2]):
        needed = "matrices [..., m, n]"
        if square:
            needed = "square matrices [..., n, n]"
        raise error(f"{name}: got shape {list(x.shape)}; {needed} are needed")
    return x


def adjoint(x: jax.Array) -> jax.Array:
    """The conjugate transpose."""
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def of_triangle(
    function: Callable[..., Any], x: jax.Array, lower: bool, tangent: Callable[..., Any]
) -> jax.Array | tuple[jax.Array, ...]:
    """A function of the Hermitian matrix that one triangle of x stands for. As in Paddle the gradient goes
    to both triangles.

    `tangent` says which change of the Hermitian matrix a change of x stands for.
    """

    def hermitian(x: jax.Array) -> jax.Array:
        # One triangle is read; the other follows from it, as the matrix is Hermitian.
        half = jnp.tril(x, -1) if lower else jnp.triu(x, 1)
        return half + adjoint(half) + jnp.real(x) * jnp.eye(x.shape[-1], dtype=x.dtype)

    @jax.custom_jvp
    def apply(x: jax.Array) -> jax.Array | tuple[jax.Array, ...]:
        return function(hermitian(x))

    @apply.defjvp
    def rule(primals: Any, tangents: Any) -> tuple[Any, ...]:
        # The gradient goes to the triangle that was read, in the form that `tangent` gives it.
        return jax.jvp(function, (hermitian(primals[0]),), (tangent(tangents[0]),))

    return apply(x)


def checked(name: str, result: Tensor, operand: Tensor, why: str) -> Tensor:
    """Refuses a result that is not finite although the operand is. Under a trace nothing can be checked."""
    # Not finite without being so before: the factorization has failed.
    if _finite(result) is False and _finite(operand) is True:
        raise ValueError(f"{name}: {why}")
    return result


def _finite(tensor: Tensor) -> bool | None:
    """Whether all numbers are finite; None under a trace. It is asked of NumPy on the host, where there is
    nothing to compile for each new shape."""
    array = after_checks(materialize(read_raw(tensor)))
    if isinstance(array, jax.Array) and not isinstance(array, jax.core.Tracer):
        # NumPy looks at an array of the host without a call of XLA.
        if any(device.platform != "cpu" for device in array.devices()):
            return bool(jnp.isfinite(array).all())
        array = to_numpy(array)
    if isinstance(array, np.ndarray):
        return bool(np.isfinite(array).all())
    return None


@known_as(cast="float32", pir="cholesky upper:bool")
@op(register=False, method=False)
@named("cholesky")
def _cholesky(x: jax.Array, upper: bool) -> Any:
    matrices("cholesky", x, True, AssertionError)
    # Only one triangle is read, as in Paddle; the other may hold anything.
    lower = of_triangle(
        ft.partial(lax.linalg.cholesky, symmetrize_input=False), x, not upper, lambda t: (t + adjoint(t)) / 2
    )
    if upper:
        return adjoint(lower)
    return lower


@composite(
    cases=[
        "spd(3)",
        "spd(3), True",
        "const([[2.0, 5.0], [1.0, 2.0]], 'float32')",
        "const([[-2.0, 1.0], [1.0, 2.0]], 'float32')",
        "f(2,3)",
        "f(3)",
        "const([[[4.0, 1.0], [1.0, 3.0]], [[2.0, 0.5], [0.5, 1.0]]])",
    ]
)
def cholesky(x: Tensor, upper: bool = False, name: str | None = None) -> Tensor:
    """The Cholesky factor of symmetric positive definite matrices: x = L L^T, or U^T U.

    Args:
        x: Tensor [..., n, n]; only the triangle that `upper` names is read.
        upper: return U instead of L.
    Returns:
        Tensor [..., n, n], a triangular matrix with zeros elsewhere.
    Raises:
        ValueError: a matrix is not positive definite.
        AssertionError: the matrices are not square.
    Example:
        >>> paddle.linalg.cholesky(paddle.to_tensor([[4.0, 0.0], [0.0, 9.0]])).tolist()
        [[2.0, 0.0], [0.0, 3.0]]
    """
    return checked("cholesky", _cholesky(x, upper), x, "a matrix is not positive definite")


@known_as(cast="float32", pir="qr mode:str", code="algebra:qr")
@op(cases=["f(3,2)", "~f(3,2), 'complete'", "f(3,2), 'r'", "f(3,2), 'x'", "f(3)", "d(2,3,3)", "f(2,3), 'r'"])
def qr(x: jax.Array, mode: str = "reduced", name: str | None = None) -> Any:
    """The QR factorisation x = Q R with orthonormal columns in Q and upper triangular R.

    Args:
        x: Tensor [..., m, n].
        mode: "reduced" (Q [m, k], R [k, n] with k = min(m, n)), "complete" (Q [m, m], R [m, n])
            or "r" (R alone).
    Returns:
        (Q, R), or R.
    Raises:
        ValueError: the mode is not known or x has fewer than two axes.
    Example:
        >>> q, r = paddle.linalg.qr(paddle.to_tensor([[1.0, 2.0], [0.0, 1.0]])); q.shape
        paddle.Size([2, 2])
    """
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"qr: mode: got {mode!r}; allowed are 'reduced', 'complete', 'r'")
    out = jnp.linalg.qr(matrices("qr", x), mode=mode)
    if mode == "r":
        # R alone, without a tuple around it.
        return out
    return tuple(out)


@jax.custom_jvp
def _full_svd(x: jax.Array) -> tuple[jax.Array, ...]:
    return tuple(jnp.linalg.svd(x, full_matrices=True))


@_full_svd.defjvp
def _full_svd_tangent(
    primals: Sequence[jax.Array], tangents: Sequence[jax.Array]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """With P = U^H dA V: the differential of U is U W for an antihermitian W, that of V likewise; among
    surplus columns W is free and taken as 0."""
    u, s, vh = _full_svd(*primals)
    k = s.shape[-1]
    p = adjoint(u) @ tangents[0] @ adjoint(vh)
    square = p[..., :k, :k]
    row = s[..., None, :]
    column = s[..., :, None]
    # 1 / (s_j^2 - s_i^2) off the diagonal; the inner choice keeps 1 / 0 out.
    apart = jnp.where(jnp.eye(k, dtype=bool), 0, 1 / jnp.where(jnp.eye(k, dtype=bool), 1, row**2 - column**2))
    # of the phases of complex vectors
    turn = jnp.eye(k, dtype=p.dtype) * (square - adjoint(square)) / (2 * row)
    left = apart * (square * row + column * adjoint(square)) + turn
    right = apart * (column * square + adjoint(square) * row)

    def skew_block(inner: jax.Array, below: jax.Array) -> jax.Array:
        w = jnp.concatenate([inner, below], -2)
        return jnp.concatenate(
            [
                w,
                jnp.concatenate(
                    [-adjoint(below), jnp.zeros(below.shape[:-1] + below.shape[-2:-1], p.dtype)], -2
                ),
            ],
            -1,
        )

    # Columns of U beyond the first k turn against these.
    du = u @ skew_block(left, p[..., k:, :k] / row)
    dvh = adjoint(skew_block(right, adjoint(p[..., :k, k:]) / row)) @ vh
    return (u, s, vh), (du, jnp.real(jnp.diagonal(square, axis1=-2, axis2=-1)), dvh)


# the signs of singular vectors are free
@known_as(cast="float32", pir="svd full_matrices:bool")
@op(out=True, method=False, cases=["~f(3,2)", "~f(3,2), True", "f(3)", "~d(2,2,3)", "~c(3,2)"])
def svd(x: jax.Array, full_matrices: bool = False, name: str | None = None) -> Any:
    """The singular value decomposition x = U diag(S) VH.

    Args:
        x: Tensor [..., m, n].
        full_matrices: make U [m, m] and VH [n, n] instead of [m, k] and [k, n], k = min(m, n).
        out: tuple of three Tensors that receive the results.
    Returns:
        (U, S, VH), S falling. Gradients through U and VH need distinct singular values.
    Raises:
        ValueError: x has fewer than two axes.
    Example:
        >>> paddle.linalg.svd(paddle.to_tensor([[3.0, 0.0], [0.0, 2.0]]))[1].tolist()
        [3.0, 2.0]
    """
    x = matrices("svd", x)
    # JAX has no derivative of the full form.
    if full_matrices and x.size:
        return _full_svd(x)
    return tuple(jnp.linalg.svd(x, full_matrices=full_matrices))


@known_as(cast="float32", pir="svdvals")
@op(method=False, cases=["f(3,2)", "f(3)", "d(2,3,4)", "f(2,2)"])
def svdvals(x: jax.Array, name: str | None = None) -> jax.Array:
    """The singular values of matrices, falling.

    Args:
        x: Tensor [..., m, n].
    Returns:
        Tensor [..., min(m, n)].
    Raises:
        ValueError: x has fewer than two axes.
    Example:
        >>> paddle.linalg.svdvals(paddle.to_tensor([[3.0, 0.0], [0.0, 2.0]])).tolist()
        [3.0, 2.0]
    """
    return jnp.linalg.svd(matrices("svdvals", x), compute_uv=False)


def _hermitian(name: str, x: jax.Array, side: str) -> tuple[Any, ...]:
    if side not in ("L", "U"):
        raise ValueError(f"{name}: UPLO: got {side!r}; allowed are 'L' and 'U'")
    # Only the triangle that UPLO names is read.
    function = ft.partial(jnp.linalg.eigh, symmetrize_input=False)
    return tuple(
        of_triangle(
            lambda a: tuple(function(a)), matrices(name, x, True), side == "L", lambda t: (t + adjoint(t)) / 2
        )
    )


# the signs of eigenvectors are free
@known_as(cast="float32", pir="eigh UPLO:str")
@op(method=False, cases=["~spd(3)", "~spd(3), 'U'", "spd(3), 'X'", "f(2,3)", "f(3)", "~d(2,3,3)"])
def eigh(x: jax.Array, UPLO: str = "L", name: str | None = None) -> tuple[jax.Array, jax.Array]:
    """Eigenvalues and eigenvectors of symmetric (Hermitian) matrices.

    Args:
        x: Tensor [..., n, n]; only the triangle that UPLO names is read.
        UPLO: "L" (lower) or "U" (upper).
    Returns:
        (eigenvalues [..., n], rising; eigenvectors [..., n, n], one per column). Gradients need distinct
        eigenvalues: equal ones give NaN, since their vectors have no derivative. `eigvalsh` has a first
        derivative there too.
    Raises:
        ValueError: the matrices are not square or UPLO is not known.
    Example:
        >>> paddle.linalg.eigh(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]]))[0].tolist()
        [1.0, 2.0]
    """
    return _hermitian("eigh", x, UPLO)


# Paddle mixes up the incoming gradients of the matrices of a batch
@known_as(cast="float32", pir="eigvalsh->out,_ UPLO>uplo:str is_test:bool=True")
@op(cases=["spd(3)", "f(3,3), 'U'", "f(2,3)", "f(3)", "~d(2,3,3)"])
def eigvalsh(x: jax.Array, UPLO: str = "L", name: str | None = None) -> jax.Array:
    """The eigenvalues of symmetric (Hermitian) matrices, rising.

    Args:
        x: Tensor [..., n, n]; only the triangle that UPLO names is read.
        UPLO: "L" (lower) or "U" (upper).
    Returns:
        Tensor [..., n], the eigenvalues, rising.
    Example:
        >>> paddle.linalg.eigvalsh(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]])).tolist()
        [1.0, 2.0]
    """
    return _hermitian("eigvalsh", x, UPLO)[0]


@jax.custom_jvp
def _eig(a: jax.Array) -> tuple[jax.Array, ...]:
    """Of real matrices by the routine for real ones, as NumPy and Paddle do, so that the vectors come
    with the same signs."""
    return tuple(jnp.linalg.eig(a))


@_eig.defjvp
def _eig_jvp(
    primals: Sequence[jax.Array], tangents: Sequence[jax.Array]
) -> tuple[tuple[jax.Array, ...], tuple[jax.Array, ...]]:
    """With P = V^-1 dA V: dlambda = diag(P), dV = V (P / gap) kept at unit length, gap_ij =
    lambda_j - lambda_i."""
    values, vectors = _eig(*primals)
    turned = jnp.linalg.solve(vectors, tangents[0].astype(vectors.dtype) @ vectors)
    # Equal eigenvalues have no derivative; the diagonal is left out.
    gap = values[..., None, :] - values[..., :, None]
    same = jnp.eye(values.shape[-1], dtype=bool)
    moved = vectors @ jnp.where(same, 0, turned / jnp.where(same, 1, gap))
    # Eigenvectors have length 1, so their change along themselves is taken out.
    along = jnp.sum(jnp.real(jnp.conj(vectors) * moved), -2, keepdims=True)
    return (
        (values, vectors),
        (jnp.einsum("...ii->...i", turned), moved - vectors * along.astype(vectors.dtype)),
    )


# the order of eigenvalues and the phases of eigenvectors are free
@known_as(cast="float32", pir="eig")
@op(cases=["~f(3,3)", "~d(2,2,2)", "~c(3,3)", "f(2,3)", "f(3)"])
def eig(x: jax.Array, name: str | None = None) -> Any:
    """Eigenvalues and eigenvectors of square matrices.

    Args:
        x: Tensor [..., n, n], real or complex.
    Returns:
        (eigenvalues [..., n], eigenvectors [..., n, n], one of unit length per column), complex.
    Raises:
        ValueError: the matrices are not square.
    Example:
        >>> paddle.linalg.eig(paddle.to_tensor([[2.0, 0.0], [0.0, 2.0]]))[0].tolist()
        [(2+0j), (2+0j)]
    """
    return _eig(matrices("eig", x, True))


@known_as(cast="float32", pir="eigvals")
@op(cases=["~f(3,3)", "~d(2,2,2)", "~c(3,3)", "f(2,3)", "f(3)"])
def eigvals(x: jax.Array, name: str | None = None) -> jax.Array:
    """The eigenvalues of square matrices. Argument as for `eig`.

    Args:
        x: Tensor [..., n, n], floating or complex.
    Returns:
        Complex Tensor [..., n].
    Example:
        >>> paddle.linalg.eigvals(paddle.to_tensor([[2.0, 0.0], [0.0, 2.0]])).tolist()
        [(2+0j), (2+0j)]
    """
    return _eig(matrices("eigvals", x, True))[0]


@known_as(cast="float32", code="algebra:lu")
@op(register=False, method=False)
@named("lu")
def _lu(x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    packed, pivots, _ = lax.linalg.lu(matrices("lu", x))
    # LAPACK's `info`: the first zero on the diagonal of U, counted from 1.
    zero = jnp.diagonal(packed, axis1=-2, axis2=-1) == 0
    if zero.shape[-1]:
        infos = jnp.where(zero.any(-1), jnp.argmax(zero, -1) + 1, 0)
    else:
        infos = jnp.zeros(x.shape[:-2])
    # Paddle counts the exchanged rows from 1, JAX from 0.
    return packed, pivots.astype(jnp.int32) + 1, infos.astype(jnp.int32)


@composite(
    cases=[
        "f(3,3)",
        "f(3,3), get_infos=True",
        "f(3,2)",
        "f(2,3)",
        "f(2,2), pivot=False",
        "f(3)",
        "d(2,3,3)",
        "const([[1.0, 2.0], [2.0, 4.0]]), get_infos=True",
    ]
)
def lu(x: Tensor, pivot: bool = True, get_infos: bool = False, name: str | None = None) -> tuple[Tensor, ...]:
    """The LU factorisation with row exchanges, in packed form.

    Args:
        x: Tensor [..., m, n].
        pivot: only True is possible.
        get_infos: also return an int32 Tensor [...]: 0, or the number of the first zero on the diagonal of
            U, counted from 1.
    Returns:
        (LU, pivots): L below the diagonal of LU (its own diagonal is 1), U on and above it; row i was
        exchanged with row pivots[i] - 1. See `lu_unpack`.
    Raises:
        ValueError: pivot is False or x has fewer than two axes.
    Example:
        >>> [t.tolist() for t in paddle.linalg.lu(paddle.to_tensor([[1.0, 2.0], [2.0, 2.0]]))]
        [[[2.0, 2.0], [0.5, 1.0]], [2, 2]]
    """
    if not pivot:
        raise ValueError("lu: pivot: got False; only True is possible")
    packed, pivots, infos = _lu(x)
    if get_infos:
        return (packed, pivots, infos)
    return (packed, pivots)


@known_as(cast="float32", code="algebra:unpacked")
@op("x y", register=False, method=False)
@named("lu_unpack")
def _unpack(x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    m, n = x.shape[-2:]
    k = min(m, n)
    # A list of exchanges becomes the permutation that they make together.
    order = lax.linalg.lu_pivots_to_permutation(y - 1, m)
    p = jnp.swapaxes(jnp.eye(m, dtype=x.dtype)[order], -1, -2)
    # The diagonal of L is 1, and not stored.
    return p, jnp.tril(x[..., :, :k], -1) + jnp.eye(m, k, dtype=x.dtype), jnp.triu(x[..., :k, :])


@composite(
    cases=[
        "f(3,3), const([3, 3, 3], 'int32')",
        "f(3,2), const([2, 3], 'int32')",
        "d(2,2,2), const([[2, 2], [1, 2]], 'int32')",
        "f(2,3), const([2, 2], 'int32')",
    ]
)
def lu_unpack(
    x: Tensor, y: Tensor, unpack_ludata: bool = True, unpack_pivots: bool = True, name: str | None = None
) -> tuple[Tensor, ...]:
    """Unpacks what `lu` returns into P, L, U with x = P L U.

    Args:
        x: Tensor [..., m, n], the packed factors.
        y: int32 Tensor [..., min(m, n)], the pivots.
        unpack_ludata, unpack_pivots: False leaves an empty Tensor in place of L and U, or of P.
    Returns:
        (P [..., m, m], L [..., m, k], U [..., k, n]), k = min(m, n).
    Raises:
        ValueError: a pivot is not in 1..m.
    Example:
        >>> p, l, u = paddle.linalg.lu_unpack(*paddle.linalg.lu(paddle.to_tensor([[1.0, 2.0], [2.0, 2.0]])))
        >>> p.tolist()
        [[0.0, 1.0], [1.0, 0.0]]
    """
    if unpack_pivots:
        # Pivots count from 1.
        check_index("lu_unpack", y, x.shape[-2] + 1, ValueError, low=1, name="y")
    p, lower, upper = _unpack(x, y)
    empty = wrap(jnp.zeros((0,), numpy_dtype(x)))
    # Parts that nobody asked for are empty tensors, as in Paddle.
    if not unpack_pivots:
        p = empty
    if not unpack_ludata:
        lower = empty
        upper = empty
    return p, lower, upper


def reflectors(x: jax.Array, tau: jax.Array) -> jax.Array:
    """The product of the Householder reflections I - tau v v^H whose vectors are the columns of x below the
    diagonal, first columns only."""
    m, n = x.shape[-2:]
    # The first element of each reflector is 1, and not stored.
    vectors = jnp.tril(x, -1) + jnp.eye(m, n, dtype=x.dtype)
    out = jnp.broadcast_to(jnp.eye(m, n, dtype=x.dtype), x.shape)
    # H1 H2 ... Hk times the columns of the identity, from the last reflector on.
    for i in reversed(range(tau.shape[-1])):
        v = vectors[..., :, i : i + 1]
        out = out - tau[..., i : i + 1, None] * (v @ (adjoint(v) @ out))
    return out


@known_as(cast="float32", code="algebra:householder")
@op(
    "x tau",
    same_dtype=True,
    cases=["f(3,2), f(2)", "f(3,2), f(1)", "f(2,3), f(2)", "f(3,2), f(3)", "d(2,3,3), d(2,3)"],
)
def householder_product(x: jax.Array, tau: jax.Array, name: str | None = None) -> jax.Array:
    """The first n columns of a product of Householder reflections.

    Args:
        x: Tensor [..., m, n], m >= n; column i holds the i-th vector below the diagonal.
        tau: Tensor [..., k], k <= n, the factors.
    Returns:
        Tensor [..., m, n].
    Raises:
        AssertionError: the shapes do not fit.
    Example:
        >>> paddle.linalg.householder_product(paddle.to_tensor([[1.0], [0.0]]),
        ...                                   paddle.to_tensor([2.0])).tolist()
        [[-1.0], [0.0]]
    """
    if x.ndim < 2 or x.shape[-2] < x.shape[-1] or tau.shape[-1] > x.shape[-1]:
        shapes = f"got shapes {list(x.shape)} and {list(tau.shape)}"
        raise AssertionError(
            f"householder_product: {shapes}; they must be [..., m, n] with m >= n and [..., k] with k <= n"
        )
    return reflectors(x, tau)


@known_as(cast="float32", code="algebra:ormqr")
@op(
    "x tau y",
    same_dtype=True,
    cases=[
        "f(3,2), f(2), f(2,2)",
        "f(3,2), f(2), f(3,2), transpose=True",
        "f(3,3), f(3), f(2,3), left=False",
        "d(2,3,3), d(2,3), d(2,3,2)",
        "f(3,2), f(2), f(3,2)",
        "f(3,3), f(3), f(2,3), left=False, transpose=True",
    ],
)
def ormqr(
    x: jax.Array,
    tau: jax.Array,
    y: jax.Array,
    left: bool = True,
    transpose: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Multiplies y with the matrix Q of Householder reflections that `householder_product` makes.

    Args:
        x, tau: as for `householder_product`.
        y: Tensor that fits.
        left: Q y; False: y Q.
        transpose: use the conjugate transpose of Q.
    Returns:
        Tensor of the shape of y.
    Raises:
        AssertionError: the shapes do not fit.
    Example:
        >>> x, tau = paddle.to_tensor([[1.0], [0.0]]), paddle.to_tensor([2.0])
        >>> paddle.linalg.ormqr(x, tau, paddle.to_tensor([[3.0]])).tolist()
        [[-3.0], [0.0]]
    """
    if transpose:
        q = adjoint(reflectors(x, tau))
    else:
        q = reflectors(x, tau)
    one, other = (q, y) if left else (y, q)
    if one.shape[-1] != other.shape[-2]:
        raise AssertionError(
            f"ormqr: got x {list(x.shape)} and y {list(y.shape)}; the lengths to sum over must be equal"
        )
    if left:
        return q @ y
    return y @ q


def _sketch(a: jax.Array, q: int, steps: int, key: jax.Array) -> jax.Array:
    """Orthonormal columns that nearly span the range of a: random projection and power iterations (Halko,
    Martinsson, Tropp 2011, algorithm 4.4)."""
    basis = jnp.linalg.qr(
        a
        @ jax.random.normal(key, (*a.shape[:-2], a.shape[-1], q), as_float(jnp.real(a)).dtype).astype(a.dtype)
    )[0]
    # Powers of A A^H let the largest singular values stand out (Halko and others, 2011); QR keeps the
    # columns apart.
    for _ in range(steps):
        basis = jnp.linalg.qr(adjoint(a) @ basis)[0]
        basis = jnp.linalg.qr(a @ basis)[0]
    return basis


@known_as(cast="float32")
@op("x M", register=False, method=False, random=True)
@named("svd_lowrank")
def _low_rank(
    x: jax.Array, q: Any, niter: int, M: jax.Array | None = None, center: bool = False, *, key: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    if center:
        # Centred columns: principal components.
        a = x - jnp.mean(x, -2, keepdims=True)
    elif M is None:
        a = x
    else:
        a = x - M
    # The sketch works on columns, so a wide matrix is turned.
    wide = a.shape[-2] < a.shape[-1]
    if wide:
        a = adjoint(a)
    basis = _sketch(a, q, niter, key)
    # A small matrix: it has only as many rows as the sketch has columns.
    u, s, vh = jnp.linalg.svd(adjoint(basis) @ a, full_matrices=False)
    u = basis @ u
    v = adjoint(vh)
    if wide:
        return (v, s, u)
    return (u, s, v)


def _check_low_rank(name: str, x: Tensor, q: Any, niter: int) -> int | None:
    limit = min(x.shape[-2:]) if x.ndim >= 2 else 0
    if q is None:
        # Paddle's default.
        q = min(6, limit)
    if x.ndim < 2 or not 0 <= q <= limit or niter < 0:
        raise ValueError(
            f"{name}: got shape {list(x.shape)}, q={q}, niter={niter}; needed are matrices, "
            f"0 <= q <= {limit} and niter >= 0"
        )
    return q


@composite(cases=["~f(5,3), 2", "~f(5,3)", "f(5,3), 8", "~f(3,5), 2", "f(5,3), niter=-1", "f(3)"])
def svd_lowrank(
    x: Tensor, q: Any = None, niter: float = 2, M: Tensor | None = None, name: str | None = None
) -> tuple[Tensor, ...]:
    """The q largest singular values and vectors by random projection.

    Args:
        x: Tensor [..., m, n].
        q: how many. Default: min(6, m, n).
        niter: number of power iterations; more are more exact.
        M: Tensor that is subtracted from x first.
    Returns:
        (U [..., m, q], S [..., q], V [..., n, q]) with x nearly U diag(S) V^H.
    Raises:
        ValueError: q or niter is out of range.
    Example:
        >>> [t.shape for t in paddle.linalg.svd_lowrank(paddle.ones([4, 3]), 2)]
        [paddle.Size([4, 2]), paddle.Size([2]), paddle.Size([3, 2])]
    """
    return _low_rank(x, _check_low_rank("svd_lowrank", x, q, niter), niter, M)


@composite(cases=["~f(5,3), 2", "~f(5,3), 2, False", "f(5,3), 7", "f(5,3), niter=-1", "~f(3,5)"])
def pca_lowrank(
    x: Tensor, q: Any = None, center: bool = True, niter: float = 2, name: str | None = None
) -> tuple[Tensor, ...]:
    """The first q principal components by random projection.

    Args:
        x: Tensor [..., m, n], one sample per row.
        q: how many. Default: min(6, m, n).
        center: subtract the mean of each column first.
        niter: number of power iterations.
    Returns:
        (U [..., m, q], S [..., q], V [..., n, q]); the columns of V are the principal directions.
    Raises:
        ValueError: q or niter is out of range.
    Example:
        >>> paddle.linalg.pca_lowrank(paddle.ones([4, 3]), 2)[2].shape
        paddle.Size([3, 2])
    """
    return _low_rank(x, _check_low_rank("pca_lowrank", x, q, niter), niter, None, center)


def check_pivots(
    b: Tensor | None = None, lu: Tensor | None = None, pivots: Tensor | None = None, *_: Any, **__: Any
) -> None:
    """Raises where pivots for `lu_solve` are no rows."""
    if isinstance(lu, Tensor) and isinstance(pivots, Tensor) and lu.ndim and numpy_dtype(pivots).kind == "i":
        check_index("lu_solve", pivots, lu.shape[-1] + 1, ValueError, low=1, name="pivots")
