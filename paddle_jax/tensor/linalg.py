"""Products of matrices and vectors."""

import jax.numpy as jnp

from paddle_jax._core import dtype as dtypes
from paddle_jax._core.op import op
from paddle_jax.tensor.math import X_Y


def _common(name, x, y):
    """Both operands in one dtype: complex with real and float with integer are brought together, other mixtures refused."""
    if x.dtype == y.dtype:
        return x, y
    kinds = {x.dtype.kind, y.dtype.kind}
    if "c" in kinds:
        common = dtypes.promote_np(x.dtype, y.dtype)
    elif kinds <= set("iu") or not kinds & set("iub"):
        raise ValueError(f"{name}: got {x.dtype} and {y.dtype}; the dtypes must be equal; cast one with astype")
    else:
        common = y.dtype if x.dtype.kind in "iub" else x.dtype
    return x.astype(common), y.astype(common)


def _flip(a, wanted):
    return jnp.swapaxes(a, -1, -2) if wanted and a.ndim > 1 else a


def _check_contraction(name, x, y):
    if not x.ndim or not y.ndim:
        raise ValueError(f"{name}: got shapes {list(x.shape)} and {list(y.shape)}; both need at least one axis")
    inner = y.shape[-2] if y.ndim > 1 else y.shape[0]
    if x.shape[-1] != inner:
        raise ValueError(f"{name}: got shapes {list(x.shape)} and {list(y.shape)}; the lengths {x.shape[-1]} and {inner} to sum over must be equal")


@op("x y", out=True, cases=["f(2,3), f(3,4)", "f(3), f(3)", "f(2,3), f(3)", "f(3), f(3,2)", "f(3,2), f(3,4), True",
                            "f(2,3), f(4,3), transpose_y=True", "f(5,3,2), f(4,3), True, True", "f(5,1,2,3), f(4,3,2)",
                            "f(3), f(2,3), transpose_y=True", "f(0,3), f(3,2)", "f(2,0), f(0,3)", "d(2,3), d(3,2)", "i(2,3), i(3,2)",
                            "c(2,3), c(3,2)", "f(2,3), f(4,2)", "f(2,2,3), f(3,3,2)", "f(2,3), d(3,2)", "f(), f(2)"])
def matmul(x, y, transpose_x=False, transpose_y=False, name=None):
    """The matrix product over the last two axes; leading axes broadcast. Vectors count as one row (x) or one column (y).

    Args:
        x: Tensor [..., n, k] or [k].
        y: Tensor [..., k, m] or [k].
        transpose_x, transpose_y: exchange the last two axes first; no effect on vectors.
    Returns:
        Tensor [..., n, m]; the axes that belong to vectors are dropped.
    Raises:
        ValueError: lengths do not fit, a tensor is 0-d, or the dtypes differ.
    Example:
        >>> paddle.matmul(paddle.ones([2, 3]), paddle.ones([3, 4])).shape
        paddle.Size([2, 4])
    """
    x, y = _common("matmul", _flip(x, transpose_x), _flip(y, transpose_y))
    _check_contraction("matmul", x, y)
    return jnp.matmul(x, y)


@op("input mat2", cases=["f(2,3), f(3,4)", "f(2,2,3), f(3,4)", "f(3), f(3)", "f(2,3), f(2,3)", "f(0,3), f(3,2)"])
def mm(input, mat2, name=None):
    """The matrix product, as `matmul` without transposition.

    Example:
        >>> paddle.mm(paddle.ones([2, 3]), paddle.ones([3, 4])).shape
        paddle.Size([2, 4])
    """
    input, mat2 = _common("mm", input, mat2)
    _check_contraction("mm", input, mat2)
    return jnp.matmul(input, mat2)


@op("x y", out=True, cases=["f(2,3,4), f(2,4,5)", "d(2,3,4), d(2,4,5)", "f(2,3), f(2,3)", "f(2,2,3), f(1,3,2)", "f(2,2,3), f(2,2,2)",
                            "f(0,2,3), f(0,3,2)"])
def bmm(x, y, name=None):
    """Multiplies two batches of matrices.

    Args:
        x: Tensor [b, n, k].
        y: Tensor [b, k, m].
    Returns:
        Tensor [b, n, m].
    Raises:
        ValueError: a tensor is not 3-d, or lengths do not fit.
    Example:
        >>> paddle.bmm(paddle.ones([2, 1, 3]), paddle.ones([2, 3, 4])).shape
        paddle.Size([2, 1, 4])
    """
    if x.ndim != 3 or y.ndim != 3 or x.shape[0] != y.shape[0] or x.shape[2] != y.shape[1]:
        raise ValueError(f"bmm: got shapes {list(x.shape)} and {list(y.shape)}; they must be [b, n, k] and [b, k, m]")
    return jnp.matmul(*_common("bmm", x, y))


@op("x vec", cases=["f(2,3), f(3)", "d(2,3), d(3)", "f(2,3), f(2)", "f(2,2,3), f(3)", "f(0,3), f(3)"])
def mv(x, vec, name=None):
    """Multiplies a matrix [n, k] with a vector [k].

    Returns:
        Tensor [n].
    Raises:
        ValueError: the shapes do not fit.
    Example:
        >>> paddle.mv(paddle.ones([2, 3]), paddle.ones([3])).tolist()
        [3.0, 3.0]
    """
    if x.ndim != 2 or vec.ndim != 1 or x.shape[1] != vec.shape[0]:
        raise ValueError(f"mv: got shapes {list(x.shape)} and {list(vec.shape)}; they must be [n, k] and [k]")
    return jnp.matmul(*_common("mv", x, vec))


@op("x y", out=True, promote=True, alias=X_Y, cases=["f(3), f(3)", "f(2,3), f(2,3)", "i(3), i(3)", "c(3), c(3)", "f(0), f(0)", "f(3), f(2)",
                                                     "f(2,3), f(3)"])
def dot(x, y, name=None):
    """The inner product of two vectors, or of the rows of two matrices.

    Args:
        x: Tensor [n] or [b, n]. `input` is accepted as a name.
        y: Tensor of the same shape. `other` is accepted as a name.
    Returns:
        Tensor [] or [b]. Complex numbers are not conjugated.
    Raises:
        RuntimeError: the shapes differ or have another number of axes.
    Example:
        >>> paddle.dot(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).item()
        11.0
    """
    if x.shape != y.shape or x.ndim not in (1, 2):
        raise RuntimeError(f"dot: got shapes {list(x.shape)} and {list(y.shape)}; they must be equal and have one or two axes")
    return jnp.sum(x * y, -1, dtype=x.dtype)


@op("input", inplace=True, cases=["f(2,3)", "f(3)", "f()", "i(2,3)", "f(2,3,2)", "f(0,3)"])
def t(input, name=None):
    """Transposes a matrix; a vector or number stays as it is.

    Args:
        input: Tensor with at most two axes.
    Raises:
        ValueError: there are more than two axes.
    Example:
        >>> paddle.t(paddle.ones([2, 3])).shape
        paddle.Size([3, 2])
    """
    if input.ndim > 2:
        raise ValueError(f"t: input: got {input.ndim} axes; at most 2 are allowed; use transpose")
    return input.T
