"""Linear algebra: norms, products and decompositions, by several operations where Paddle needs them."""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.builder_helpers import reshape
from paddle_jax.framework.model_files.custom_lowerings.reductions import onnx_norm, read_norm, write_norm
from paddle_jax.framework.model_files.decompositions import is_empty
from paddle_jax.framework.model_files.plain_values import as_list
from paddle_jax.framework.model_files.reading_helpers import P, as_tensor
from paddle_jax.framework.model_files.records import Lowering
from paddle_jax.static.nn import while_loop
from paddle_jax.tensor.einsum import einsum as public_einsum

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.framework.model_files.builder import Builder, Value


# norms ------------------------------------------------------------------------------------------------------


def vector_length(x: Any, p: Any, axes: Any, keepdim: Any) -> Any:
    """The p-norm over some axes."""
    # One axis: Paddle has an operation for every p.
    if len(axes) == 1:
        return P.vector_norm(x, float(p), axes[0], keepdim)
    if p == 2:
        size = P.abs(x)
        return P.sqrt(P.sum(P.square(size), list(axes), keepdim=keepdim))
    size = P.abs(x)
    # Counts what is not zero, as the limit p = 0.
    if p == 0:
        return P.sum(P.cast(size != 0, size.dtype), list(axes), keepdim=keepdim)
    if math.isinf(p):
        # The limits of p are the largest and the smallest element.
        return _extreme(p)(size, list(axes), keepdim)
    return P.pow(P.sum(P.pow(size, float(p)), list(axes), keepdim=keepdim), 1 / p)


def _typed(x: Any, dtype: Any) -> Any:
    if dtype is None:
        return x
    return P.cast(x, dtype)


def _extreme(p: float) -> Callable[..., Any]:
    """The reduction of a norm: positive orders take the largest value, negative ones the smallest."""
    if p > 0:
        return P.max
    return P.min


def _all_axes(axis: int, ndim: int) -> list[int] | list[Any]:
    if axis is None or axis == ():
        return list(range(ndim))
    return [i % ndim for i in as_list(axis)]


def matrix_length(x: Any, p: Any, axes: Any, keepdim: Any) -> Any:
    """The norm of an order of matrices on two axes."""
    first, second = (axis % x.ndim for axis in axes)
    if p == "fro":
        return vector_length(x, 2, [first, second], keepdim)
    # Norms by singular values: their sum, the largest, the smallest.
    if p in ("nuc", 2, -2):
        kept = [i for i in range(x.ndim) if i not in (first, second)]
        values = P.svdvals(P.transpose(x, [*kept, first, second]))
        if p == "nuc":
            found = P.sum(values, -1)
        else:
            found = _extreme(p)(values, -1)
        if keepdim:
            return P.unsqueeze(found, sorted([first, second]))
        return found
    # 1 and -1 add up columns, infinity and -infinity rows; the sign picks the largest or the smallest sum.
    if abs(p) == 1:
        added, chosen = first, second
    else:
        added, chosen = second, first
    sums = P.sum(P.abs(x), added, keepdim=True)
    found = _extreme(p)(sums, chosen, True)
    if keepdim:
        return found
    return P.squeeze(found, sorted([first, second]))


def _vector_norm(a: Any, x: Any) -> Any:
    axes = _all_axes(a.axis, x.ndim)
    # Paddle has an operation for all axes and for one.
    if len(axes) < 2 or is_empty(x) or (len(axes) == x.ndim and a.axis is None):
        return None
    return vector_length(_typed(x, a.dtype), a.p, axes, a.keepdim)


def _norm(a: Any, x: Tensor) -> Any:
    # A Frobenius norm over one axis or all is a vector norm.
    if is_empty(x) or a.p in (None, "fro") and not isinstance(a.axis, tuple):
        return None
    is_pair = isinstance(a.axis, tuple) and len(a.axis) == 2
    if is_pair or a.p == "nuc":
        axes = a.axis
        if axes is None:
            axes = range(x.ndim)
        return matrix_length(_typed(x, a.dtype), _order(a.p), axes, a.keepdim)
    axes = _all_axes(a.axis, x.ndim)
    if len(axes) < 2 or (len(axes) == x.ndim and a.axis is None):
        return None
    # Frobenius' norm is the length of the elements as a vector.
    return vector_length(_typed(x, a.dtype), {"fro": 2}.get(a.p, _order(a.p)), axes, a.keepdim)


def _matrix_norm(a: Any, x: Any) -> Any:
    if is_empty(x):
        return None
    if not (x.dtype.is_floating or x.dtype.is_complex):
        x = P.cast(x, "float32")
    return matrix_length(x, a.p, a.axis, a.keepdim)


def _order(p: Any) -> Any:
    """The order of a norm, which is 2 unless it is given."""
    if p is None:
        return 2
    return p


def _cond(a: Any, x: Any) -> Any:
    p = _order(a.p)
    if p in (2, -2):
        values = P.svdvals(x)
        high = P.max(values, -1)
        low = P.min(values, -1)
        if p == 2:
            return high / low
        return low / high
    # The condition number by other norms: that of the matrix times that of its inverse.
    return matrix_length(x, p, (-2, -1), False) * matrix_length(P.inv(x), p, (-2, -1), False)


def _cdist(a: Any, x: Any, y: Any) -> Any:
    # Differences of each pair of rows, by broadcasting.
    return P.vector_norm(P.unsqueeze(x, -2) - P.unsqueeze(y, -3), float(a.p), -1)


def _pdist(a: Any, x: Any) -> Any:
    if is_length(x.shape[0]) or x.shape[0] < 2:
        return None
    # Above the diagonal: each pair once, in the order of rows.
    first, second = (P.to_tensor(one.astype(np.int64)) for one in np.triu_indices(x.shape[0], 1))
    return P.vector_norm(P.index_select(x, first, 0) - P.index_select(x, second, 0), float(a.p), -1)


# products ---------------------------------------------------------------------------------------------------


def _inner(w: Any, a: Any, out: Any, x: Any, y: Any) -> Any:
    if not x.ndim or not y.ndim:
        # A number times anything.
        return w.op("multiply", [x, y], out[0])
    if y.ndim == 1 and x.ndim == 1:
        return w.op("dot", [x, y], out[0])
    if y.ndim == 1:
        return w.op("matmul", [x, y], out[0])
    if y.ndim == 2:
        # All rows of y as one matrix, as `inner` keeps the axes of both.
        flat = y
    else:
        flat = reshape(w, y, [math.prod(y.shape[:-1]), y.shape[-1]])
    shape = [*x.shape[:-1], flat.shape[0]]
    found = w.op("matmul", [x, flat], (out[0][0], shape), transpose_y=True)
    if y.ndim == 2:
        return found
    return reshape(w, found, out[0][1])


def _contract(a: Any, x: Any, y: Any) -> Any:
    left, right = ([axis % t.ndim for axis in axes] for t, axes in zip((x, y), a.axes, strict=True))
    kept = [i for i in range(x.ndim) if i not in left], [i for i in range(y.ndim) if i not in right]
    shape = [*[x.shape[i] for i in kept[0]], *[y.shape[i] for i in kept[1]]]
    inner = math.prod(x.shape[i] for i in left)
    outer = math.prod(y.shape[i] for i in kept[1])
    # The contracted axes last in x and first in y: one product of matrices.
    rows = P.reshape(P.transpose(x, [*kept[0], *left]), [-1, inner])
    columns = P.reshape(P.transpose(y, [*right, *kept[1]]), [inner, outer])
    return P.reshape(P.matmul(rows, columns), shape)


def _conjugate(x: Any) -> Any:
    # A real value needs no operation.
    if x.dtype.is_complex:
        return P.conj(x)
    return x


def _vecdot(a: Any, x: Any, y: Any) -> Any:
    return P.sum(_conjugate(x) * y, a.axis, dtype=x.dtype)


def _cross(w: Any, a: Any, out: Any, x: Any, y: Any) -> Any:
    # 9 is Paddle's value for an axis that is not given: the first one of length 3.
    axis = a.axis
    if axis in (9, None):
        axis = x.shape.index(3)
    return w.op("cross", [x, y], out[0], axis=axis)


# decompositions and equations -------------------------------------------------------------------------------


def _adjoint(x: Any) -> Any:
    perm = [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2]
    return P.transpose(_conjugate(x), perm)


def _cholesky_inverse(a: Any, x: Any) -> Any:
    # inv(L L^H) = inv(L)^H inv(L).
    inverse = P.inv(x)
    other = _adjoint(inverse)
    if a.upper:
        return P.matmul(inverse, other)
    return P.matmul(other, inverse)


def _qr(w: Any, a: Any, out: Any, x: Any) -> Any:
    if a.mode == "r":
        # In this mode there is no Q; the operation gives an empty one.
        return w.op("qr", [x], [(x.dtype, [0]), out[0]], mode=a.mode)[1]
    return w.op("qr", [x], out, mode=a.mode)


def _read_qr(a: Any, x: Any) -> Any:
    found = P.qr(x, a.mode)
    if a.mode == "r":
        return (None, found)
    return found


def _lu(w: Any, a: Any, out: Any, x: Any) -> Any:
    return w.op("lu", [x], out, pivot=True)


def _unpacked(w: Any, a: Any, out: Any, x: Any, pivots: Any) -> Any:
    return w.op("lu_unpack", [x, pivots], out, unpack_ludata=True, unpack_pivots=True)


def _least_squares(w: Any, a: Any, out: Any, x: Any, y: Any) -> Any:
    return w.op("lstsq", [x, y, w.number(a.rcond, "float32", (1,))], out, driver="gelsd")


def _pinv(a: Any, x: Any) -> Any:
    if is_empty(x):
        return None
    # As NumPy's `pinv`: singular values below this share of the largest count as zero.
    floor = max(a.rcond, float(np.finfo(numpy_dtype(x)).eps) * max(x.shape[-2:]))
    if a.hermitian:
        values, left = P.eigh(x)
        right = _adjoint(left)
    else:
        left, values, right = P.svd(x, False)
    size = P.abs(values)
    is_kept = size > P.max(size, -1, True) * floor
    # The divisor is 1 where the value counts as zero, so that no infinity appears, also in gradients.
    inverse = P.where(is_kept, 1 / P.where(is_kept, values, P.ones_like(values)), P.zeros_like(values))
    inverse = P.cast(P.unsqueeze(inverse, -2), x.dtype)
    return P.matmul(_adjoint(right) * inverse, _adjoint(left))


def _rank(w: Any, a: Any, out: Any, x: Any, limit: Any, absolute: Any, relative: Any) -> Any:
    if limit is not None:
        return w.op("matrix_rank_tol", [x, limit], out[0], use_default_tol=False, hermitian=a.hermitian)
    if absolute is not None or relative is not None:
        raise NotWritable("matrix_rank with atol or rtol has no form in PIR")
    return w.op("matrix_rank", [x], out[0], tol=0.0, use_default_tol=True, hermitian=a.hermitian)


def _rank_by_limits(a: Any, x: Any, limit: Any, absolute: Any, relative: Any) -> Any:
    """With atol or rtol."""
    if is_empty(x) or absolute is None and relative is None:
        return None
    if a.hermitian:
        values = P.abs(P.eigvalsh(x))
    else:
        values = P.svdvals(x)
    if relative is None:
        # A value counts if it is above both limits.
        limit = None
    else:
        limit = P.max(values, -1) * relative
    if absolute is not None:
        if limit is None:
            limit = absolute
        else:
            limit = P.maximum(P.expand_as(absolute, limit), limit)
    return P.sum(P.cast(values > P.unsqueeze(limit, -1), "int64"), -1)


def reflected(x: Any, tau: Any) -> Any:
    """The product of Householder reflectors."""
    rows, columns = x.shape[-2:]
    eye = P.eye(rows, columns, x.dtype)
    # The vectors are below the diagonal of x, and have 1 on it.
    vectors = P.tril(x, -1) + eye
    found = P.expand(eye, list(x.shape))
    # From the last one to the first: each is applied to the product of those after it.
    for i in reversed(range(tau.shape[-1])):
        one = vectors[..., i : i + 1]
        found = found - P.unsqueeze(tau[..., i : i + 1], -1) * P.matmul(one, P.matmul(_adjoint(one), found))
    return found


def _householder(a: Any, x: Any, tau: Any) -> Any:
    return reflected(x, tau)


def _ormqr(a: Any, x: Any, tau: Any, y: Any) -> Any:
    q = reflected(x, tau)
    if a.transpose:
        q = _adjoint(q)
    if a.left:
        return P.matmul(q, y)
    return P.matmul(y, q)


def _solve(w: Any, a: Any, out: Any, x: Any, y: Any) -> Any:
    if not a.left:
        raise NotWritable("solve from the right has no form in PIR")
    return w.op("solve", [x, y], out[0])


def _solve_from_right(a: Any, x: Any, y: Any) -> Any:
    if a.left:
        return None
    # x A = b is A^T x^T = b^T.
    return _adjoint_free(P.solve(_adjoint_free(x), _adjoint_free(y)))


def _adjoint_free(x: Any) -> Any:
    """The transposed matrices."""
    return P.transpose(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def _matrix_exp(a: Any, x: Any) -> Any:
    """A series for a matrix that is halved until it is small, then squared as often."""
    if is_empty(x):
        return None
    # The 1-norm of each matrix.
    size = P.max(P.sum(P.abs(x), -2, keepdim=True), -1, True)
    # Halved as often as needed to be at most 0.75; 48 times is enough for numbers below 2**47.
    times = P.clip(P.ceil(P.log2(P.clip(size, 0.75) / 0.75)), 0.0, 48.0)
    two = P.full([], 2, x.dtype)
    small = x / P.pow(two, times)
    # Taylor's series up to the power 16 by few products (Paterson and Stockmeyer, 1973): a polynomial in
    # x^4 whose coefficients are polynomials in x.
    powers = [P.eye(x.shape[-1], None, x.dtype), small, P.matmul(small, small)]
    powers += [P.matmul(powers[2], small), P.matmul(powers[2], powers[2])]
    found = powers[4] / math.factorial(16)
    for first in (12, 8, 4, 0):
        part = powers[0] / math.factorial(first)
        for i in range(1, 4):
            part = part + powers[i] / math.factorial(first + i)
        # The highest powers are the first ones, so there is nothing to multiply yet.
        if first < 12:
            found = P.matmul(powers[4], found)
        found = part + found

    # Squared as often as it was halved; matrices that are done stay.
    def step(count: Any, value: Any) -> Any:
        return [count + 1, P.where(count < times, P.matmul(value, value), value)]

    most = P.max(times)
    start = P.full([], 0, x.dtype)
    return while_loop(lambda count, value: count < most, step, [start, found])[1]


vector_norm: Lowering = Lowering(write_norm, read_norm, onnx_norm, _vector_norm)
norm: Lowering = Lowering(write_norm, decompose=_norm)
matrix_norm: Lowering = Lowering(decompose=_matrix_norm)
cond: Lowering = Lowering(decompose=_cond)
cdist: Lowering = Lowering(decompose=_cdist)
pdist: Lowering = Lowering(decompose=_pdist)
inner, contract, vecdot, cross = (
    Lowering(_inner),
    Lowering(decompose=_contract),
    Lowering(decompose=_vecdot),
    Lowering(_cross),
)
qr: Lowering = Lowering(_qr, _read_qr)
cholesky_inverse: Lowering = Lowering(decompose=_cholesky_inverse)
lu: Lowering = Lowering(_lu)
unpacked: Lowering = Lowering(_unpacked)
least_squares: Lowering = Lowering(_least_squares)
pinv: Lowering = Lowering(decompose=_pinv)
rank: Lowering = Lowering(_rank, decompose=_rank_by_limits)
householder: Lowering = Lowering(decompose=_householder)
ormqr: Lowering = Lowering(decompose=_ormqr)
solve: Lowering = Lowering(_solve, decompose=_solve_from_right)
matrix_exp: Lowering = Lowering(decompose=_matrix_exp)


# sums of products -------------------------------------------------------------------------------------------


def _terms(equation: str, ndims: Sequence[int]) -> tuple[list[Any], str | Any, str]:
    """(labels of each operand, labels of the result) with a letter for each axis, and the letters that stand
    for dots."""
    given, arrow, result = equation.replace(" ", "").partition("->")
    terms = given.split(",")
    # Letters that the equation does not use stand for the axes behind dots.
    fresh = [c for c in string.ascii_letters if c not in equation]
    lengths = [n - len(t.replace("...", "")) for t, n in zip(terms, ndims, strict=True) if "..." in t]
    dots = "".join(fresh[: max(lengths, default=0)])
    found = []
    for term, ndim in zip(terms, ndims, strict=True):
        # An operand with fewer axes behind dots has the last ones, as in NumPy.
        count = ndim - len(term.replace("...", ""))
        found.append(term.replace("...", dots[len(dots) - count :]))
    # Without an arrow: all labels that occur once, in alphabetical order.
    if not arrow:
        labels = given.replace(",", "").replace(".", "")
        result = "..." * bool(dots) + "".join(sorted(c for c in set(labels) if labels.count(c) == 1))
    return found, result.replace("...", dots), dots


def _einsum(a: Any, operands: Sequence[Tensor]) -> Any:
    """With explicit labels, one or two operands at a time, and each label once in an operand."""
    terms, result, dots = _terms(a.equation, [x.ndim for x in operands])
    # A label twice in the result would be a diagonal that is made.
    if len(set(result)) < len(result):
        return None
    xs = [_broadcast_dots(x, term, terms, operands, dots) for x, term in zip(operands, terms, strict=True)]
    for i, term in enumerate(terms):
        xs[i], terms[i] = _without_repeats(xs[i], term)
    while len(xs) > 2:
        # Labels that the result or a later operand needs; the others are added up now.
        later = set(result).union(*terms[2:])
        label = "".join(c for c in dict.fromkeys(terms[0] + terms[1]) if c in later)
        xs[:2] = [public_einsum(f"{terms[0]},{terms[1]}->{label}", xs[0], xs[1])]
        terms[:2] = [label]
    equation = f"{','.join(terms)}->{result}"
    # Nothing changed: decomposing again would not end.
    if equation == a.equation:
        return None
    return public_einsum(equation, *xs)


def _broadcast_dots(
    x: Tensor, term: str, terms: Sequence[str], operands: Sequence[Tensor], dots: str
) -> Tensor:
    """x with the lengths that the axes behind dots have in other operands."""
    shape = list(x.shape)
    for axis, label in enumerate(term):
        # Of length 1 here and longer in another operand.
        if label in dots and not is_length(shape[axis]) and shape[axis] == 1:
            shape[axis] = next(
                (
                    n
                    for other, y in zip(terms, operands, strict=True)
                    for one, n in zip(other, y.shape, strict=True)
                    if one == label and (is_length(n) or n != 1)
                ),
                1,
            )
    if all(n is m for n, m in zip(shape, x.shape, strict=True)):
        return x
    return P.expand(x, shape)


def _without_repeats(x: Tensor, term: str) -> tuple[Any, Any]:
    for label in dict.fromkeys(term):
        while term.count(label) > 1:
            first = term.index(label)
            second = term.index(label, first + 1)
            # A label twice in an operand is its diagonal, which becomes the last axis.
            x = P.diagonal(x, 0, first, second)
            term = term[:first] + term[first + 1 : second] + term[second + 1 :] + label
    return x, term


def _write_einsum(w: Builder, a: Any, out: Sequence[Any], operands: Sequence[Value]) -> Value:
    terms, result, _ = _terms(a.equation, [x.ndim for x in operands])
    if (
        f"{','.join(terms)}->{result}" != a.equation
        or len(terms) > 2
        or any(len(set(labels)) < len(labels) for labels in [*terms, result])
    ):
        raise NotWritable(f"einsum of {a.equation!r} has no form in PIR")
    return w.op("einsum", [w.combine(operands)], [out[0], None, None], equation=a.equation)[0]


def _read_einsum(a: Any, operands: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Paddle's operation also gives a list that only its gradient takes, and the operands."""
    operands = [as_tensor(one) for one in operands]
    return public_einsum(a.equation, *operands), list(operands), list(operands)


einsum: Lowering = Lowering(_write_einsum, decompose=_einsum)
einsum_in_files: Lowering = Lowering(read=_read_einsum)
