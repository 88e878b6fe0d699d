"""Products of matrices and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import MixedDtypesError
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import op
from paddle_jax.tensor.inner import selecting
from paddle_jax.tensor.math import X_Y
from paddle_jax.tensor.products import product

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import Axes
    from paddle_jax._core.kernels.lifted_attributes import Number


def _common(name: str, x: jax.Array, y: jax.Array) -> tuple[Any, Any]:
    """Both operands in one dtype: complex with real, and a float32 matrix with an integer one, are brought
    together, other mixtures refused."""
    if x.dtype == y.dtype:
        return x, y
    kinds = {x.dtype.kind, y.dtype.kind}
    if "c" in kinds:
        common = dtypes.promote_np(x.dtype, y.dtype)
    # Whole numbers beside float32 do not widen a product, as in Paddle.
    elif x.dtype == jnp.float32 and y.dtype.kind in "iu" and name in ("matmul", "mm", "inner"):
        common = x.dtype
    else:
        raise MixedDtypesError(
            f"(InvalidArgument) {name}: got {x.dtype} and {y.dtype}; "
            "the dtypes must be equal; cast one with astype"
        )
    return x.astype(common), y.astype(common)


def _check_contraction(
    name: str, x: jax.Array, y: jax.Array, turned_x: bool = False, turned_y: bool = False
) -> None:
    if not x.ndim or not y.ndim:
        raise ValueError(
            f"{name}: got shapes {list(x.shape)} and {list(y.shape)}; both need at least one axis"
        )
    one = x.shape[-2 if turned_x and x.ndim > 1 else -1]
    other = y.shape[-2 if y.ndim > 1 and not turned_y else -1]
    if one != other:
        raise ValueError(
            f"{name}: got shapes {list(x.shape)} and {list(y.shape)}; "
            f"the lengths {one} and {other} to sum over must be equal"
        )


@known_as(amp="matmul_v2", pir="matmul transpose_x:bool=False transpose_y:bool=False", code="matrices:matmul")
@op(
    "x y",
    out=True,
    alias=X_Y,
    cases=[
        "f(2,3), f(3,4)",
        "input=f(3), other=f(3)",
        "f(2,3), f(3)",
        "f(3), f(3,2)",
        "f(3,2), f(3,4), True",
        "f(2,3), f(4,3), transpose_y=True",
        "f(5,3,2), f(4,3), True, True",
        "f(5,1,2,3), f(4,3,2)",
        "f(3), f(2,3), transpose_y=True",
        "f(0,3), f(3,2)",
        "f(2,0), f(0,3)",
        "d(2,3), d(3,2)",
        "i(2,3), i(3,2)",
        "c(2,3), c(3,2)",
        "f(2,3), f(4,2)",
        "f(2,2,3), f(3,3,2)",
        "f(2,3), d(3,2)",
        "f(), f(2)",
    ],
)
def matmul(
    x: jax.Array, y: jax.Array, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None
) -> jax.Array:
    """The matrix product over the last two axes; leading axes broadcast. Vectors count as one row (x)
    or one column (y).

    Args:
        x: Tensor [..., n, k] or [k].
        y: Tensor [..., k, m] or [k].
        transpose_x, transpose_y: exchange the last two axes first; no effect on vectors.
        out: Tensor that receives the result.
    Returns:
        Tensor [..., n, m]; the axes that belong to vectors are dropped.
    Raises:
        ValueError: lengths do not fit, a tensor is 0-d, or the dtypes differ.
    Example:
        >>> paddle.matmul(paddle.ones([2, 3]), paddle.ones([3, 4])).shape
        paddle.Size([2, 4])
    """
    x, y = _common("matmul", x, y)
    _check_contraction("matmul", x, y, transpose_x, transpose_y)
    return product(x, y, transpose_x, transpose_y)


@known_as(amp="matmul_v2", pir="matmul")
@op(
    "input mat2",
    cases=["f(2,3), f(3,4)", "f(2,2,3), f(3,4)", "f(3), f(3)", "f(2,3), f(2,3)", "f(0,3), f(3,2)"],
)
def mm(input: jax.Array, mat2: jax.Array, name: str | None = None) -> jax.Array:
    """The matrix product, as `matmul` without transposition.

    Args:
        input: Tensor [..., n, k] or [k].
        mat2: Tensor [..., k, m] or [k].
    Returns:
        Tensor [..., n, m]; the axes that belong to vectors are dropped.
    Example:
        >>> paddle.mm(paddle.ones([2, 3]), paddle.ones([3, 4])).shape
        paddle.Size([2, 4])
    """
    input, mat2 = _common("mm", input, mat2)
    _check_contraction("mm", input, mat2)
    return product(input, mat2)


@known_as(pir="bmm", onnx="MatMul")
@op(
    "x y",
    out=True,
    alias={"input": "x", "mat2": "y"},
    cases=[
        "f(2,3,4), f(2,4,5)",
        "d(2,3,4), d(2,4,5)",
        "f(2,3), f(2,3)",
        "f(2,2,3), f(1,3,2)",
        "f(2,2,3), f(2,2,2)",
        "f(0,2,3), f(0,3,2)",
    ],
)
def bmm(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """Multiplies two batches of matrices.

    Args:
        x: Tensor [b, n, k].
        y: Tensor [b, k, m].
        out: Tensor that receives the result.
    Returns:
        Tensor [b, n, m].
    Raises:
        ValueError: a tensor is not 3-d, or lengths do not fit.
    Example:
        >>> paddle.bmm(paddle.ones([2, 1, 3]), paddle.ones([2, 3, 4])).shape
        paddle.Size([2, 1, 4])
    """
    if x.ndim != 3 or y.ndim != 3 or x.shape[0] != y.shape[0] or x.shape[2] != y.shape[1]:
        raise ValueError(
            f"bmm: got shapes {list(x.shape)} and {list(y.shape)}; they must be [b, n, k] and [b, k, m]"
        )
    return product(*_common("bmm", x, y))


@known_as(pir="mv", onnx="MatMul")
@op("x vec", cases=["f(2,3), f(3)", "d(2,3), d(3)", "f(2,3), f(2)", "f(2,2,3), f(3)", "f(0,3), f(3)"])
def mv(x: jax.Array, vec: jax.Array, name: str | None = None) -> jax.Array:
    """Multiplies a matrix [n, k] with a vector [k].

    Args:
        x: Tensor [n, k].
        vec: Tensor [k].
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


@known_as(pir="dot", onnx="MatMul")
@op(
    "x y",
    alias={"input": "x", "tensor": "y"},
    same_dtype=True,
    out=True,
    promote=True,
    cases=[
        "f(3), f(3)",
        "f(2,3), f(2,3)",
        "i(3), i(3)",
        "c(3), c(3)",
        "f(0), f(0)",
        "f(3), f(2)",
        "f(2,3), f(3)",
    ],
)
def dot(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """The inner product of two vectors, or of the rows of two matrices.

    Args:
        x: Tensor [n] or [b, n]. `input` is accepted as a name.
        y: Tensor of the same shape. `tensor` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        Tensor [] or [b]. Complex numbers are not conjugated.
    Raises:
        RuntimeError: the shapes differ or have another number of axes.
    Example:
        >>> paddle.dot(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).item()
        11.0
    """
    if x.shape != y.shape or x.ndim not in (1, 2):
        raise RuntimeError(
            f"dot: got shapes {list(x.shape)} and {list(y.shape)}; "
            "they must be equal and have one or two axes"
        )
    # In the dtype of x: a sum of int32 would be int64.
    return jnp.sum(x * y, -1, dtype=x.dtype)


@known_as(code="shapes:transposed")
@op(
    "input",
    view=selecting,
    inplace="reshapes",
    cases=["f(2,3)", "f(3)", "f()", "i(2,3)", "f(2,3,2)", "f(0,3)"],
)
def t(input: jax.Array, name: str | None = None) -> jax.Array:
    """Transposes a matrix; a vector or number stays as it is.

    Args:
        input: Tensor with at most two axes.
    Returns:
        Tensor with the same elements.
    Raises:
        ValueError: there are more than two axes.
    Example:
        >>> paddle.t(paddle.ones([2, 3])).shape
        paddle.Size([3, 2])
    """
    if input.ndim > 2:
        raise ValueError(f"t: input: got {input.ndim} axes; at most 2 are allowed; use transpose")
    return input.T


@known_as(pir="cross axis:i32", code="algebra:cross")
@op(
    "x y",
    alias={"dim": "axis"},
    cases=[
        "f(2,3), f(2,3)",
        "f(3,3), f(3,3)",
        "f(3,2), f(3,2), axis=0",
        "f(2,3), f(2,3), 0",
        "f(2,3), f(2,3), 5",
        "f(2,2), f(2,2)",
        "f(2,3), f(3,3)",
        "i(3), i(3)",
        "d(2,3), d(2,3), -1",
        "c(3), c(3)",
        "f(3,2), f(3,2), axis=None",
    ],
)
def cross(x: jax.Array, y: jax.Array, axis: Axes = 9, name: str | None = None) -> jax.Array:
    """The cross product of vectors of length 3.

    Args:
        x, y: Tensors of one shape.
        axis: int, the axis of the vectors. Default (9): the first of length 3. `dim` is accepted as a name.
    Returns:
        Tensor of the broadcast shape.
    Raises:
        ValueError: the shapes differ or the axis has not length 3.
        IndexError: the axis is out of range.
    Example:
        >>> paddle.cross(paddle.to_tensor([1.0, 0.0, 0.0]), paddle.to_tensor([0.0, 1.0, 0.0])).tolist()
        [0.0, 0.0, 1.0]
    """
    if x.shape != y.shape or 3 not in x.shape:
        raise ValueError(
            f"cross: got shapes {list(x.shape)} and {list(y.shape)}; "
            "they must be equal and have an axis of length 3"
        )
    # 9 is Paddle's value for an axis that is not given: the first one of length 3.
    if axis in (9, None):
        axis = x.shape.index(3)
    if not -x.ndim <= axis < x.ndim:
        raise IndexError(f"cross: axis={axis} is out of range for {x.ndim} axes")
    if x.shape[axis] != 3:
        raise ValueError(f"cross: axis={axis} has length {x.shape[axis]}; it must be 3")
    return jnp.cross(x, y, axis=axis)


@known_as(amp="matmul_v2", code="algebra:inner")
@op(
    "x y",
    cases=[
        "f(2,3), f(4,3)",
        "f(3), f(3)",
        "f(2,3), f(4,5,3)",
        "f(2,3), f(4,2)",
        "d(3), d(2,3)",
        "f(), f(2)",
        "i(2,3), i(3)",
    ],
)
def inner(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """Inner products over the last axes of two tensors.

    Args:
        x: Tensor [..., n].
        y: Tensor [..., n].
    Returns:
        Tensor of shape x.shape[:-1] + y.shape[:-1]. If one has no axes, the product of the two.
    Raises:
        ValueError: the last lengths differ.
    Example:
        >>> paddle.inner(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).item()
        11.0
    """
    x, y = _common("inner", x, y)
    if not x.ndim or not y.ndim:
        return x * y
    if x.shape[-1] != y.shape[-1]:
        raise ValueError(
            f"inner: got shapes {list(x.shape)} and {list(y.shape)}; the last lengths must be equal"
        )
    # The axes of x that are left come first, then those of y.
    return jnp.tensordot(x, y, [[-1], [-1]])


@known_as(code="matrices:outer")
@op(
    "x y",
    promote=True,
    out=True,
    alias={"input": "x", "vec2": "y"},
    cases=["f(2), f(3)", "f(2,3), f(2)", "i(2), i(2)", "f(0), f(2)", "i(2), f(2)", "c(2), c(2)", "f(), f(2)"],
)
def outer(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """All products of an element of x with an element of y.

    Args:
        x: Tensor, flattened to [n]. `input` is accepted as a name.
        y: Tensor, flattened to [m]. `vec2` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        Tensor [n, m].
    Raises:
        TypeError: the dtypes do not promote.
    Example:
        >>> paddle.outer(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).tolist()
        [[3.0, 4.0], [6.0, 8.0]]
    """
    # Both are flattened, whatever their shape.
    return x.reshape(-1, 1) * y.reshape(1, -1)


@known_as(pir="kron")
@op(
    "x y",
    same_dtype=True,
    promote=True,
    cases=[
        "f(2,3), f(3)",
        "f(2,2), f(2,3)",
        "i(2), i(2)",
        "f(2,1,2), f(2,2)",
        "d(2), d(2,2)",
        "f(), f(2)",
        "c(2), c(2)",
        "f(0,2), f(2,2)",
    ],
)
def kron(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """The Kronecker product: every element of x times all of y, laid out in blocks.

    Args:
        x, y: Tensors; the one with fewer axes gets leading axes of length 1.
    Returns:
        Tensor whose lengths are the products of theirs.
    Example:
        >>> paddle.kron(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 10])).tolist()
        [1, 10, 2, 20]
    """
    return jnp.kron(x, y)


@known_as(pir="trace offset:i32 axis1:i32 axis2:i32")
@op(
    "x",
    alias={"input": "x"},
    cases=[
        "f(3,3)",
        "f(2,3,3), 1, 1, 2",
        "f(2,3), 5",
        "f(3)",
        "f(2,3), 0, 0, 0",
        "f(2,3), 0, 0, 3",
        "i32(2,2)",
        "d(4,3), -1",
        "f(2,3,4), 0, -1, 0",
    ],
)
def trace(
    x: jax.Array, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> jax.Array:
    """The sum of a diagonal of a matrix.

    Args:
        x: Tensor with at least two axes. `input` is accepted as a name.
        offset: which diagonal; positive ones lie above the main one.
        axis1, axis2: the axes of the matrices.
    Returns:
        Tensor of x's shape without the two axes.
    Raises:
        IndexError: an axis is out of range.
        ValueError: the axes are the same.
    Example:
        >>> paddle.trace(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])).item()
        5.0
    """
    if x.ndim < 2 or not all(-x.ndim <= a < x.ndim for a in (axis1, axis2)):
        raise IndexError(
            f"trace: got axis1={axis1}, axis2={axis2} for {x.ndim} axes; two axes in range are needed"
        )
    if (axis1 - axis2) % x.ndim == 0:
        raise ValueError(f"trace: got axis1={axis1}, axis2={axis2}; they must differ")
    return jnp.trace(x, offset, axis1, axis2, dtype=x.dtype)


def _scaled_sum(x: jax.Array, product: jax.Array, beta: Number | float, alpha: Number | float) -> jax.Array:
    return beta * x + alpha * product


@known_as(pir="addmm beta:f32 alpha:f32")
@op(
    "input x y",
    same_dtype=True,
    inplace=True,
    cases=[
        "f(2,4), f(2,3), f(3,4)",
        "f(4), f(2,3), f(3,4)",
        "f(2,1), f(2,3), f(3,4), 0.5, 2.0",
        "f(1), f(2,3), f(3,2)",
        "f(3,2), f(2,3), f(3,2)",
        "f(2,2), f(2,3), f(2,2)",
        "f(2,2,2), f(2,3), f(3,2)",
        "d(2,2), d(2,2), d(2,2), alpha=0.0",
    ],
)
def addmm(
    input: jax.Array, x: jax.Array, y: jax.Array, beta: Any = 1.0, alpha: Any = 1.0, name: str | None = None
) -> jax.Array:
    """beta * input + alpha * (x @ y).

    Args:
        input: Tensor [n, m], or one that broadcasts to it.
        x: Tensor [n, k].
        y: Tensor [k, m].
        beta, alpha: numbers.
    Returns:
        Tensor [n, m].
    Raises:
        ValueError: the shapes do not fit.
    Example:
        >>> paddle.addmm(paddle.ones([1, 1]), paddle.ones([1, 2]), paddle.ones([2, 1]), alpha=2.0).tolist()
        [[5.0]]
    """
    if x.ndim == y.ndim == 2:
        shape = (x.shape[0], y.shape[-1])
    else:
        shape = ()
    if (
        not shape
        or x.shape[1] != y.shape[0]
        or input.ndim not in (1, 2)
        or jnp.broadcast_shapes(input.shape, shape) != shape
    ):
        raise ValueError(
            f"addmm: got shapes {list(input.shape)}, {list(x.shape)}, {list(y.shape)}; "
            "they must fit [n, m], [n, k], [k, m]"
        )
    return _scaled_sum(input, jnp.matmul(x, y), beta, alpha)


# Paddle's gradient of a 2-d input has the shape [b, 1, m]
@known_as(pir="baddbmm beta:f32 alpha:f32")
@op(
    "input x y",
    same_dtype=True,
    inplace=True,
    cases=[
        "f(2,2,4), f(2,2,3), f(2,3,4)",
        "~f(2,4), f(2,2,3), f(2,3,4)",
        "f(1,2,2), f(2,2,3), f(2,3,2), 0.5, 2.0",
        "f(2,2,2), f(2,3), f(2,3,2)",
        "f(3,2), f(2,2,3), f(2,3,2)",
        "f(2,2,2), f(2,2,3), f(2,2,2)",
        "d(2,1,2), d(2,2,3), d(2,3,2)",
    ],
)
def baddbmm(
    input: jax.Array, x: jax.Array, y: jax.Array, beta: Any = 1.0, alpha: Any = 1.0, name: str | None = None
) -> jax.Array:
    """beta * input + alpha * bmm(x, y).

    Args:
        input: Tensor [b, n, m], or one that broadcasts to it, or [b, m] for all rows.
        x: Tensor [b, n, k].
        y: Tensor [b, k, m].
        beta, alpha: numbers.
    Returns:
        Tensor [b, n, m].
    Raises:
        ValueError: the shapes do not fit.
    Example:
        >>> paddle.baddbmm(paddle.ones([1, 1, 1]), paddle.ones([1, 1, 2]), paddle.ones([1, 2, 1])).tolist()
        [[[3.0]]]
    """
    if x.ndim != 3 or y.ndim != 3 or x.shape[0] != y.shape[0] or x.shape[2] != y.shape[1]:
        raise ValueError(
            f"baddbmm: got shapes {list(x.shape)} and {list(y.shape)}; they must be [b, n, k] and [b, k, m]"
        )
    shape = (*x.shape[:2], y.shape[2])
    # A matrix in place of a batch of rows.
    if input.ndim == 2 and input.shape[0] == shape[0]:
        input = input[:, None]
    if input.ndim != 3 or jnp.broadcast_shapes(input.shape, shape) != shape:
        raise ValueError(
            f"baddbmm: input: got shape {list(input.shape)}; it must be [b, n, m] or [b, m], "
            "or broadcast to the former"
        )
    return _scaled_sum(input, jnp.matmul(x, y), beta, alpha)


@known_as(pir="multi_dot")
@op(
    "*x",
    same_dtype=True,
    cases=[
        "[f(2,3), f(3,4), f(4,2)]",
        "[f(3), f(3,4), f(4)]",
        "[f(3,2)]",
        "[f(3,2), f(3,2)]",
        "[f(3,2), f(2,2,2)]",
        "[d(2,3), d(3,2)]",
        "[f(3), f(3)]",
    ],
)
def multi_dot(x: Sequence[jax.Array], name: str | None = None) -> jax.Array:
    """The product of several matrices in the order that needs the fewest multiplications.

    Args:
        x: list of at least two Tensors; the first and the last may be vectors.
    Returns:
        Tensor; the axes that belong to vectors are dropped.
    Raises:
        ValueError: fewer than two tensors, or shapes do not fit.
    Example:
        >>> paddle.linalg.multi_dot([paddle.ones([2, 3]), paddle.ones([3, 4]), paddle.ones([4, 1])]).tolist()
        [[12.0], [12.0]]
    """
    shapes = [list(t.shape) for t in x]
    inside = [t.ndim == 2 for t in x[1:-1]]
    if len(x) < 2 or not all(inside) or x[0].ndim not in (1, 2) or x[-1].ndim not in (1, 2):
        raise ValueError(
            f"multi_dot: x: got shapes {shapes}; give at least two matrices; "
            "only the first and the last may be vectors"
        )
    for a, b in zip(x[:-1], x[1:], strict=True):
        _check_contraction("multi_dot", a, b)
    # The order of the products with the fewest operations.
    return jnp.linalg.multi_dot(x)


@known_as(code="algebra:vecdot")
@op(
    "x y",
    promote=True,
    method=False,
    cases=[
        "f(2,3), f(2,3)",
        "f(2,3), f(3)",
        "f(2,3), f(2,3), axis=0",
        "c(3), c(3)",
        "f(2,3), f(2,4)",
        "d(3), d(3)",
    ],
)
def vecdot(x: jax.Array, y: jax.Array, axis: Axes = -1, name: str | None = None) -> jax.Array:
    """Inner products along an axis, with broadcasting; the conjugate of x is taken.

    Args:
        x, y: Tensors [...].
        axis: int, the axis to sum over.
    Returns:
        Tensor of the broadcast shape without the axis.
    Raises:
        ValueError: the shapes do not broadcast.
    Example:
        >>> paddle.vecdot(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).item()
        11.0
    """
    # Of complex vectors the first is conjugated.
    return jnp.sum(jnp.conj(x) * y, axis, dtype=x.dtype)


@known_as(code="shapes:matrix_transposed")
@op(cases=["f(2,3,4)", "f(2,3)", "i(2,2)", "f(2)", "f(0,3)"])
def matrix_transpose(x: jax.Array, name: str | None = None) -> jax.Array:
    """Exchanges the last two axes.

    Args:
        x: Tensor [..., n, m].
    Returns:
        Tensor [..., m, n].
    Raises:
        ValueError: there are fewer than two axes.
    Example:
        >>> paddle.matrix_transpose(paddle.ones([2, 3])).shape
        paddle.Size([3, 2])
    """
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: x: got {x.ndim} axes; at least 2 are needed")
    return jnp.swapaxes(x, -1, -2)
