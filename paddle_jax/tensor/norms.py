"""Norms of vectors and matrices, distances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, op
from paddle_jax.tensor.inner import magnitude, named
from paddle_jax.tensor.ops import as_float
from paddle_jax.tensor.reduced import all_axes

if TYPE_CHECKING:
    from paddle_jax._annotations import Axes, DTypeLike
    from paddle_jax._core.kernels.lifted_attributes import Number
    from paddle_jax._core.tensors.tensor import Tensor


MATRIX_ORDERS = ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)


def _root(total: jax.Array) -> jax.Array:
    """A square root whose gradient at 0 is 0."""
    # The slope of the root at 0 is infinite, and is 0 here.
    zero = total == 0
    return jnp.where(zero, 0, jnp.sqrt(jnp.where(zero, 1, total)))


def _squares(x: jax.Array) -> jax.Array:
    if jnp.iscomplexobj(x):
        # |x|^2 without a root, whose slope at 0 is infinite.
        return jnp.real(x) ** 2 + jnp.imag(x) ** 2
    return x * x


def vector_power_norm(x: jax.Array, p: Number | float, axes: Any, keepdim: bool) -> jax.Array:
    """The p-norm over the given axes. Where it is not smooth (a zero vector) the gradient is 0."""
    if p == 2:
        return _root(jnp.sum(_squares(x), axes, keepdims=keepdim))
    size = magnitude(x)
    if p == 0:
        return jnp.sum((size != 0).astype(size.dtype), axes, keepdims=keepdim)
    if math.isinf(p):
        reduce = jnp.max if p > 0 else jnp.min
        # The extreme itself carries no gradient; that goes to the elements that reach it, below.
        best = lax.stop_gradient(
            reduce(size, axes, keepdims=True, initial=0 if p > 0 and not size.size else None)
        )
        # each of several gets the whole gradient
        reached = jnp.sum(jnp.where(size == best, size - lax.stop_gradient(size), 0), axes, keepdims=True)
        if keepdim:
            return best + reached
        return jnp.squeeze(best + reached, axes)
    if p == 1:
        return jnp.sum(size, axes, keepdims=keepdim)
    zero = size == 0
    # 0^p has an infinite slope for p < 1.
    powers = jnp.where(zero, 0.0 if p > 0 else jnp.inf, jnp.where(zero, 1, size) ** p)
    total = jnp.sum(powers.astype(size.dtype), axes, keepdims=keepdim)
    # Where the sum is 0 or infinite the root has no slope.
    flat = (total == 0) | jnp.isinf(total)
    return jnp.where(flat, total ** (1 / p), jnp.where(flat, 1, total) ** (1 / p))


def _adjoint(x: Any) -> jax.Array:
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def _turned(h: Any, k: Any) -> Any:
    """The X with X h + h X = k for a Hermitian positive definite h, differentiable without derivatives
    of eigenvectors."""
    values, vectors = jnp.linalg.eigh(lax.stop_gradient(h))

    # H Y + Y H = K in the basis of eigenvectors of H.
    def solve(_: Any, k: Any) -> Any:
        return (
            vectors
            @ (_adjoint(vectors) @ k @ vectors / (values[..., :, None] + values[..., None, :]))
            @ _adjoint(vectors)
        )

    def transposed(_: Any, k: Any) -> Any:
        return jnp.swapaxes(solve(None, jnp.swapaxes(k, -1, -2)), -1, -2)

    # Solved by hand, differentiated as the equation that it solves.
    return lax.custom_linear_solve(lambda x: x @ h + h @ x, k, solve, transposed)


@jax.custom_jvp
def _polar(x: jax.Array) -> jax.Array:
    """The factor Q of x = Q H with orthonormal columns, H Hermitian; x has at least as many
    rows as columns."""
    u, _, vh = jnp.linalg.svd(x, full_matrices=False)
    return u @ vh


@_polar.defjvp
def _polar_tangent(primals: Any, tangents: Any) -> tuple[Any | jax.Array, Any | jax.Array]:
    """dQ = Q X + (1 - Q Q^H) dx H^-1 with X H + H X = Q^H dx - dx^H Q (Higham, Functions
    of Matrices, 8.9)."""
    (x,), (t,) = primals, tangents
    q = _polar(x)
    h = _adjoint(q) @ x
    along = _adjoint(q) @ t
    # Hermitian but for rounding.
    h = (h + _adjoint(h)) / 2
    turn = q @ _turned(h, along - _adjoint(along))
    # Of a tall matrix the part outside of its columns moves as well.
    if x.shape[-1] != x.shape[-2]:
        turn = turn + _adjoint(jnp.linalg.solve(h, _adjoint(t - q @ along)))
    return q, turn


@jax.custom_jvp
def _nuclear(x: jax.Array) -> jax.Array:
    """The sum of singular values. It is smooth where singular values are equal, unlike these."""
    return jnp.sum(jnp.linalg.svd(x, compute_uv=False), -1)


@_nuclear.defjvp
def _nuclear_tangent(
    primals: Sequence[jax.Array], tangents: Sequence[jax.Array]
) -> tuple[jax.Array, jax.Array]:
    # The gradient of the nuclear norm is the polar factor, which is smooth where singular values cross.
    return _nuclear(*primals), jnp.sum(jnp.real(jnp.conj(_polar(*primals)) * tangents[0]), (-2, -1))


def matrix_order_norm(x: jax.Array, p: Any, axes: Any, keepdim: bool) -> jax.Array:
    """The matrix norm of order p over two axes."""
    rows, columns = axes
    if p == "fro":
        return vector_power_norm(x, 2, axes, keepdim)
    if p in ("nuc", 2, -2):
        moved = jnp.moveaxis(x, axes, (-2, -1))
        if p == "nuc":
            # At least as tall as wide, as the derivative wants it.
            if moved.shape[-2] < moved.shape[-1]:
                moved = jnp.swapaxes(moved, -1, -2)
            out = _nuclear(moved)
        elif p == 2:
            out = jnp.max(jnp.linalg.svd(moved, compute_uv=False), -1)
        else:
            out = jnp.min(jnp.linalg.svd(moved, compute_uv=False), -1)
        if keepdim:
            return jnp.expand_dims(out, axes)
        return out
    # 1 and -1 add up columns, infinity and -infinity rows.
    total_axis, best_axis = (rows, columns) if abs(p) == 1 else (columns, rows)
    sums = jnp.sum(magnitude(x), total_axis, keepdims=True)
    out = (jnp.max if p > 0 else jnp.min)(sums, best_axis, keepdims=True)
    if keepdim:
        return out
    return jnp.squeeze(out, axes)


def _typed(x: jax.Array, dtype: str | None) -> jax.Array:
    if dtype is None:
        return as_float(x)
    return x.astype(dtypes.convert(dtype).np)


def _pair(name: str, axis: Sequence[int] | int, ndim: int) -> tuple[Any, ...]:
    if not isinstance(axis, tuple | list):
        raise TypeError(f"{name}: axis: got {axis!r}; it must be a list of two axes")
    if len(axis) != 2:
        raise ValueError(f"{name}: two axes are needed, axis names {list(axis)}; it must be a list of two")
    all_axes(name, tuple(axis), ndim)
    if ndim < 2:
        raise ValueError(f"{name}: x has {ndim} axes; at least 2 are needed")
    return tuple(a % ndim for a in axis)


def _check_order(name: str, p: Any) -> None:
    if p not in MATRIX_ORDERS:
        raise ValueError(
            f"{name}: p: got {p!r}; allowed for matrices are {', '.join(map(str, MATRIX_ORDERS))}"
        )


# Paddle gives the count of non-zeros (p=0) a gradient
@known_as(
    amp="pnorm",
    pir="p_norm porder:f32 axis:i32 epsilon:f32 keepdim:bool=False asvector:bool",
    code="algebra:vector_norm",
)
@op(
    out=True,
    method=False,
    alias={"dim": "axis", "ord": "p"},
    cases=[
        "f(2,3)",
        "f(2,3), 3.0, [0, 1]",
        "f(2,3), 'fro'",
        "~f(2,3,2), 0.0, [0, 2], True",
        "f(2,3), axis=5",
        "f(2,3), dtype='float64'",
        "f(2,3), axis=[]",
        "f(2,3), 1.0, 1",
        "f(2,3), float('inf'), -1",
        "f(2,3), -float('inf')",
        "c(3)",
        "d(4), 2.5",
        "f(0)",
        "f(2,3), -2.0, 0",
    ],
)
def vector_norm(
    x: jax.Array,
    p: Any = 2.0,
    axis: Axes = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    dtype: DTypeLike | None = None,
) -> jax.Array:
    """The p-norm of vectors: (sum |x|^p)^(1/p).

    Args:
        x: Tensor [...], floating or complex.
        p: number; 0 counts elements that are not zero, inf and -inf take the largest and smallest modulus.
            `ord` is accepted as a name.
        axis: int, list of ints, or None for all axes. `dim` is accepted as a name.
        keepdim: keep the reduced axes with length 1.
        dtype: dtype to cast to first.
        out: Tensor that receives the result.
    Returns:
        Real Tensor.
    Raises:
        ValueError: p is not a number, or an axis is out of range.
    Example:
        >>> paddle.linalg.vector_norm(paddle.to_tensor([3.0, 4.0])).item()
        5.0
    """
    if not isinstance(p, int | float):
        raise ValueError(f"vector_norm: p: got {p!r}; it must be a number")
    return vector_power_norm(_typed(x, dtype), p, all_axes("vector_norm", axis, x.ndim), keepdim)


@known_as(amp="frobenius_norm", cast="float32", code="algebra:matrix_norm")
@op(
    method=False,
    cases=[
        "f(2,3)",
        "f(2,3), 1",
        "f(2,3), -1",
        "f(2,3), 2",
        "f(2,3), -2",
        "f(2,3), float('inf')",
        "f(2,3), -float('inf')",
        "f(2,3), 'nuc'",
        "f(2,3), 3",
        "f(2,3), 'foo'",
        "f(2,3,2), 2, [0, 2], True",
        "f(2,3,2), 1, [2, 0]",
        "f(2,3,2), 'fro', [0, 0]",
        "f(2,3,2), axis=1",
        "f(3)",
        "d(2,3,4), 'nuc'",
    ],
)
def matrix_norm(
    x: jax.Array,
    p: Any = "fro",
    axis: Axes = [-2, -1],  # noqa: B006  Paddle's signature
    keepdim: bool = False,
    name: str | None = None,
) -> jax.Array:
    """The norm of matrices.

    Args:
        x: Tensor with at least two axes.
        p: "fro" (root of the sum of squares), "nuc" (sum of singular values), 2 and -2 (largest and smallest
            singular value), 1 and -1 (largest and smallest column sum of moduli), inf and -inf
            (the same of rows).
        axis: list of the two axes.
        keepdim: keep the reduced axes with length 1.
    Returns:
        Real Tensor of the shape of x without the two axes.
    Raises:
        ValueError: p is not known or the axes do not fit.
        TypeError: axis is not a list.
    Example:
        >>> paddle.linalg.matrix_norm(paddle.to_tensor([[3.0, 0.0], [0.0, 4.0]])).item()
        5.0
    """
    _check_order("matrix_norm", p)
    return matrix_order_norm(as_float(x), p, _pair("matrix_norm", axis, x.ndim), keepdim)


@known_as(amp="pnorm", cast="float32", code="algebra:norm")
@op(register=False, method=False, out=True)
@named("norm")
def _norm(x: jax.Array, p: Any, axis: Axes, keepdim: bool, dtype: DTypeLike) -> jax.Array:
    x = _typed(x, dtype)
    two = isinstance(axis, tuple) and len(axis) == 2
    # "nuc" is a norm of matrices, also without axes.
    if two or p == "nuc":
        if axis is None:
            axis = tuple(range(x.ndim))
        if p is None:
            p = 2
        _check_order("norm", p)
        return matrix_order_norm(x, p, _pair("norm", axis, x.ndim), keepdim)
    if isinstance(p, str):
        _check_order("norm", p)
        if isinstance(axis, tuple) and len(axis) > 2:
            raise ValueError(f"norm: axis: got {list(axis)}; p={p!r} takes one or two axes")
    # Frobenius' norm is the length of the elements as a vector.
    return vector_power_norm(x, 2 if p in (None, "fro") else p, all_axes("norm", axis, x.ndim), keepdim)


@composite(
    alias={"A": "x", "dim": "axis", "input": "x", "ord": "p"},
    cases=[
        "f(2,3)",
        "f(2,3), axis=[0, 1]",
        "f(2,3), 1",
        "f(2,3), 'fro'",
        "f(2,3), 'nuc'",
        "f(2,3), 'nuc', [0, 1]",
        "f(2,3), 'nuc', 1",
        "f(2,3), 'fro', 1",
        "f(2,3), 2, 1",
        "f(2,3), float('inf'), 1",
        "f(2,3), -float('inf')",
        "f(2,3), 0",
        "f(2,3), -2",
        "f(2,3), 2, [0, 1]",
        "f(2,3), 3, [0, 1]",
        "f(2,3), 'foo'",
        "f(2,3), 2, 3",
        "f(2,3), keepdim=True",
        "f(2,3,2), axis=[0, 2]",
        "f(2,3), axis=[]",
        "f(2,3), axis=[1]",
        "f(2,3), dtype='float64'",
        "f()",
        "c(3)",
        "c(3), 1",
        "f(0)",
        "const([0.0, 0.0], 'float32')",
        "const([0.0, 0.0], 'float32'), 3, 0",
        "const([1.0, -1.0, 0.0], 'float32'), float('inf')",
        "f(2,3,4), 3, [0, 1, 2]",
        "f(2,3,4), 'nuc'",
    ],
)
def norm(
    x: Tensor,
    p: Any = None,
    axis: Any = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The norm of vectors, or of matrices where two axes are given.

    Args:
        x: Tensor [...], floating or complex. `input` and `A` are accepted as names.
        p: order: a number or "fro" for vectors; for matrices see `linalg.matrix_norm`. Default: 2. `ord` is
            accepted as a name.
        axis: int (vectors), list of two ints (matrices), or None: all elements as one vector. `dim` is
            accepted as a name.
        keepdim: keep the reduced axes with length 1.
        out: Tensor that receives the result.
        dtype: dtype to cast to first.
    Returns:
        Real Tensor. The gradient at a zero vector is 0.
    Raises:
        ValueError: p is not known or an axis is out of range.
    Example:
        >>> paddle.linalg.norm(paddle.to_tensor([3.0, 4.0])).item()
        5.0
    """
    return _norm(x, p, axis, keepdim, dtype, out=out)


@known_as(pir="dist p:f32")
@op(
    "x y",
    same_dtype=True,
    promote=True,
    cases=[
        "f(2,3), f(2,3)",
        "f(2,3), f(3), 1",
        "f(2,3), f(3), 0",
        "f(2,3), f(3), float('inf')",
        "f(2,3), f(2)",
        "d(3), d(3), 3.0",
        "f(2,3), f(3), -float('inf')",
        "const([1.0, 2.0], 'float32'), const([1.0, 2.0], 'float32')",
    ],
)
def dist(x: jax.Array, y: jax.Array, p: Any = 2, name: str | None = None) -> jax.Array:
    """The p-norm of x - y over all elements, with broadcasting.

    Args:
        x, y: Tensors [...].
        p: number as for `linalg.vector_norm`.
    Returns:
        Tensor [].
    Raises:
        ValueError: the shapes do not broadcast.
    Example:
        >>> paddle.dist(paddle.to_tensor([1.0, 1.0]), paddle.to_tensor([4.0, 5.0])).item()
        5.0
    """
    gap = as_float(x) - as_float(y)
    return vector_power_norm(gap, p, tuple(range(gap.ndim)), False)


MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


def _pairwise(x: jax.Array, y: jax.Array, p: Number | float, mode: str) -> jax.Array:
    # As torch: the product pays from 25 rows on.
    by_product = mode == MODES[1] or (mode == MODES[0] and (x.shape[-2] > 25 or y.shape[-2] > 25))
    if p == 2 and by_product:
        lengths = jnp.sum(x * x, -1)[..., :, None] + jnp.sum(y * y, -1)[..., None, :]
        # Rounding may leave a little below 0.
        return _root(jnp.maximum(lengths - 2 * jnp.matmul(x, jnp.swapaxes(y, -1, -2)), 0))
    return vector_power_norm(x[..., :, None, :] - y[..., None, :, :], p, (-1,), False)


@known_as(code="algebra:cdist")
@op(
    "x y",
    promote=True,
    cases=[
        "f(2,3), f(4,3)",
        "f(5,2,3), f(5,4,3), 1.0",
        "f(5,2,3), f(4,3), 0",
        "f(2,3), f(4,2)",
        "f(3), f(4,3)",
        "d(2,3), d(4,3), float('inf')",
        "f(2,3), f(4,3), -1",
        "f(2,3), f(2,3), compute_mode='foo'",
        "d(2,3), d(4,3), 2.0, 'use_mm_for_euclid_dist'",
        "f(2,3), f(4,3), 3.0",
        "f(0,3), f(4,3)",
    ],
)
def cdist(
    x: jax.Array,
    y: jax.Array,
    p: Any = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
    name: str | None = None,
) -> jax.Array:
    """The p-norm distances between the rows of x and the rows of y.

    Args:
        x: Tensor [..., n, k].
        y: Tensor [..., m, k].
        p: number >= 0.
        compute_mode: whether Euclidean distances go through a matrix product: "use_mm_for_euclid_dist",
            "donot_use_mm_for_euclid_dist", or the default, which does so for more than 25 rows.
    Returns:
        Tensor [..., n, m].
    Raises:
        AssertionError: too few axes, last lengths differ, or p is negative.
        ValueError: the mode is not known.
    Example:
        >>> paddle.cdist(paddle.to_tensor([[0.0, 0.0]]), paddle.to_tensor([[3.0, 4.0]])).tolist()
        [[5.0]]
    """
    if compute_mode not in MODES:
        raise ValueError(f"cdist: compute_mode: got {compute_mode!r}; allowed are {', '.join(MODES)}")
    if x.ndim < 2 or y.ndim < 2 or x.shape[-1] != y.shape[-1] or p < 0:
        raise AssertionError(
            f"cdist: got shapes {list(x.shape)} and {list(y.shape)} and p={p}; "
            "needed are [..., n, k], [..., m, k] and p >= 0"
        )
    return _pairwise(x, y, p, compute_mode)


@known_as(code="algebra:pdist")
@op(method=False, cases=["f(4,2)", "f(4,2), 1.0", "f(4)", "f(1,2)", "d(3,3), float('inf')", "f(4,2), 0.0"])
def pdist(x: jax.Array, p: Any = 2.0, name: str | None = None) -> jax.Array:
    """The p-norm distances between all pairs of rows.

    Args:
        x: Tensor [n, k].
        p: number >= 0.
    Returns:
        Tensor [n (n - 1) / 2], pairs in the order (0, 1), (0, 2) ... (1, 2) ...
    Raises:
        AssertionError: x is not 2-d.
    Example:
        >>> paddle.pdist(paddle.to_tensor([[0.0, 0.0], [3.0, 4.0]])).tolist()
        [5.0]
    """
    if x.ndim != 2:
        raise AssertionError(f"pdist: x: got {x.ndim} axes; it must have 2")
    # Each pair once.
    first, second = np.triu_indices(x.shape[0], 1)
    return vector_power_norm(x[first] - x[second], p, (-1,), False)
