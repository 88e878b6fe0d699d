"""Comparisons, logical and bitwise operations, tests for values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.lowering import sign_bit
from paddle_jax.tensor.math import X_Y

if TYPE_CHECKING:
    import jax

    from paddle_jax._core.kernels.lifted_attributes import Number


COMPARE = [
    "f(2,3), f(2,3)",
    "i_(2,3), i_(3)",
    "f(), f(2)",
    "f(0,3), f(1,3)",
    "b(3), b(3)",
    "f(2,3), f(2,4)",
    "f(2), i(2)",
    "i(3), 1",
]


@known_as(pir="equal", onnx="Equal(x, y)")
@op(
    "x y",
    promote="mixed",
    scalars=True,
    nondiff=True,
    inplace=True,
    out=True,
    alias=X_Y,
    cases=[*COMPARE, "c(3), c(3)"],
)
def equal(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """Tells elementwise whether x equals y, with broadcasting.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        y: Tensor broadcastable with x (`equal` takes a number too). `other` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        bool Tensor of the broadcast shape.
    Example:
        >>> paddle.equal(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 3])).tolist()
        [True, False]
    """
    return jnp.equal(x, y)


@known_as(pir="not_equal", onnx="Not(Equal(x, y))")
@op("x y", promote="mixed", nondiff=True, inplace=True, out=True, alias=X_Y, cases=[*COMPARE, "c(3), c(3)"])
def not_equal(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """Tells elementwise whether x differs from y.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        y: Tensor broadcastable with x. `other` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        bool Tensor of the broadcast shape.
    Example:
        >>> paddle.not_equal(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 3])).tolist()
        [False, True]
    """
    return jnp.not_equal(x, y)


@known_as(pir="less_than", onnx="Less(x, y)")
@op("x y", promote="mixed", nondiff=True, inplace=True, out=True, alias=X_Y, cases=COMPARE)
def less_than(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """Tells elementwise whether x < y.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        y: Tensor broadcastable with x. `other` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        bool Tensor of the broadcast shape.
    Example:
        >>> paddle.less_than(paddle.to_tensor([1, 2]), paddle.to_tensor([2, 2])).tolist()
        [True, False]
    """
    return jnp.less(x, y)


@known_as(pir="less_equal", onnx="LessOrEqual(x, y)")
@op("x y", promote="mixed", nondiff=True, inplace=True, out=True, alias=X_Y, cases=COMPARE)
def less_equal(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """Tells elementwise whether x <= y.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        y: Tensor broadcastable with x. `other` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        bool Tensor of the broadcast shape.
    Example:
        >>> paddle.less_equal(paddle.to_tensor([1, 3]), paddle.to_tensor([2, 2])).tolist()
        [True, False]
    """
    return jnp.less_equal(x, y)


@known_as(pir="greater_than", onnx="Greater(x, y)")
@op("x y", promote="mixed", nondiff=True, inplace=True, out=True, alias=X_Y, cases=COMPARE)
def greater_than(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """Tells elementwise whether x > y.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        y: Tensor broadcastable with x. `other` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        bool Tensor of the broadcast shape.
    Example:
        >>> paddle.greater_than(paddle.to_tensor([1, 3]), paddle.to_tensor([2, 2])).tolist()
        [False, True]
    """
    return jnp.greater(x, y)


@known_as(pir="greater_equal", onnx="GreaterOrEqual(x, y)")
@op("x y", promote="mixed", nondiff=True, inplace=True, out=True, alias=X_Y, cases=COMPARE)
def greater_equal(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """Tells elementwise whether x >= y.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        y: Tensor broadcastable with x. `other` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        bool Tensor of the broadcast shape.
    Example:
        >>> paddle.greater_equal(paddle.to_tensor([1, 3]), paddle.to_tensor([2, 2])).tolist()
        [False, True]
    """
    return jnp.greater_equal(x, y)


TRUTH = [
    "b(2,3), b(3)",
    "b(), b(2)",
    "f(2,3), f(3)",
    "i_(3), i_(3)",
    "b(0,3), b(1,3)",
    "b(2), b(3)",
    "b(3), f(3)",
    "b(3), c(3)",
    "b(2), True",
]


@known_as(pir="logical_and", onnx="And")
@op("x y", promote=True, nondiff=True, inplace=True, out=True, alias=X_Y, cases=TRUTH)
def logical_and(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """True where both elements are true (not zero), with broadcasting.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        y: Tensor broadcastable with x. `other` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        bool Tensor of the broadcast shape.
    Raises:
        ValueError: the shapes do not broadcast.
        TypeError: the dtypes do not promote.
    Example:
        >>> paddle.logical_and(paddle.to_tensor([True, True]), paddle.to_tensor([True, False])).tolist()
        [True, False]
    """
    return jnp.logical_and(x, y)


@known_as(pir="logical_or", onnx="Or")
@op("x y", promote=True, nondiff=True, inplace=True, out=True, alias=X_Y, cases=TRUTH)
def logical_or(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """True where either element is true (not zero).

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        y: Tensor broadcastable with x. `other` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        bool Tensor of the broadcast shape.
    Example:
        >>> paddle.logical_or(paddle.to_tensor([True, False]), paddle.to_tensor([False, False])).tolist()
        [True, False]
    """
    return jnp.logical_or(x, y)


@known_as(pir="logical_xor", onnx="Xor")
@op("x y", promote=True, nondiff=True, inplace=True, out=True, alias=X_Y, cases=TRUTH)
def logical_xor(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """True where exactly one element is true (not zero).

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        y: Tensor broadcastable with x. `other` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        bool Tensor of the broadcast shape.
    Example:
        >>> paddle.logical_xor(paddle.to_tensor([True, True]), paddle.to_tensor([True, False])).tolist()
        [False, True]
    """
    return jnp.logical_xor(x, y)


@known_as(pir="logical_not", onnx="Not")
@op(
    nondiff=True,
    inplace=True,
    out=True,
    alias={"input": "x"},
    cases=["b(2,3)", "f(3)", "i_(3)", "b()", "b(0,2)", "c(2)"],
)
def logical_not(x: jax.Array, name: str | None = None) -> jax.Array:
    """True where the element is false (zero).

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        bool Tensor of the same shape.
    Example:
        >>> paddle.logical_not(paddle.to_tensor([True, False])).tolist()
        [False, True]
    """
    return jnp.logical_not(x)


CLOSE = [
    "f(2,3), f(2,3)",
    "const([1.0, 2.0], 'float32'), const([1.000001, 2.1], 'float32')",
    "d(3), d(3), 0.5, 1.0",
    "f(2), f(3)",
    "f(2,3), f(3)",
    "f(2), d(2)",
    "const([1.0, float('nan')]), const([1.0, float('nan')])",
    "const([1.0, float('nan')]), const([1.0, float('nan')]), equal_nan=True",
    "f(0), f(0)",
    # Paddle calls 1 and infinity close
    "const([float('inf'), 1.0]), const([float('inf'), 2.0])",
    "~const([1.0]), const([float('inf')])",
    "f(), f()",
]


def _same(name: str, x: jax.Array, y: jax.Array) -> None:
    if x.dtype != y.dtype:
        raise ValueError(
            f"{name}: got {x.dtype} and {y.dtype}; the dtypes must be equal; cast one with astype"
        )


def _close(
    name: str, x: jax.Array, y: jax.Array, rtol: Number | float, atol: Number | float, equal_nan: bool
) -> jax.Array:
    _same(name, x, y)
    if x.shape != y.shape:
        raise RuntimeError(f"{name}: got shapes {list(x.shape)} and {list(y.shape)}; they must be equal")
    return jnp.isclose(x, y, float(rtol), float(atol), equal_nan)


@known_as(pir="isclose(x,y,rtol:f64,atol:f64) equal_nan:bool")
@op("x y", out="unlisted", nondiff=True, alias={"input": "x", "other": "y"}, cases=CLOSE)
def isclose(
    x: jax.Array,
    y: jax.Array,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Tells elementwise whether |x - y| <= atol + rtol * |y|.

    Args:
        x, y: Tensors of one shape and dtype.
        rtol, atol: numbers.
        equal_nan: count NaN as close to NaN.
    Returns:
        bool Tensor of the same shape.
    Raises:
        ValueError: the dtypes differ.
        RuntimeError: the shapes differ.
    Example:
        >>> paddle.isclose(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 2.1])).tolist()
        [True, False]
    """
    return _close("isclose", x, y, rtol, atol, equal_nan)


@known_as(pir="allclose(x,y,rtol:f64,atol:f64) equal_nan:bool")
@op("x y", nondiff=True, cases=[*CLOSE, "i(3), i(3)", "b(3), b(3)"])
def allclose(
    x: jax.Array,
    y: jax.Array,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Tells whether all elements are close, as `isclose` judges. Returns a bool Tensor [].

    Args:
        x, y: Tensors of one shape and dtype.
        rtol, atol: numbers; close means |x - y| <= atol + rtol * |y|.
        equal_nan: NaN counts as close to NaN.
    Returns:
        bool Tensor [].
    Example:
        >>> paddle.allclose(paddle.to_tensor([1.0]), paddle.to_tensor([1.0])).item()
        True
    """
    return jnp.all(_close("allclose", x, y, rtol, atol, equal_nan))


@known_as(pir="equal_all")
@op(
    "x y",
    nondiff=True,
    cases=[
        "f(2,3), f(2,3)",
        "i(3), i(2)",
        "f(2), f(2,1)",
        "i(2), f(2)",
        "f(0), f(0)",
        "const([1, 2]), const([1, 2])",
    ],
)
def equal_all(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """Tells whether two tensors have the same shape and equal elements. Returns a bool Tensor [].

    Args:
        x, y: Tensors [...].
    Returns:
        bool Tensor [].
    Raises:
        ValueError: the dtypes differ.
    Example:
        >>> paddle.equal_all(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 2])).item()
        True
    """
    _same("equal_all", x, y)
    if x.shape == y.shape:
        return jnp.all(x == y)
    return jnp.asarray(False)


@known_as(code="elementwise:isin")
@op(
    "x test_x",
    promote=True,
    nondiff=True,
    alias={"elements": "x", "test_elements": "test_x"},
    cases=[
        "i_(2,3), const([1, 2])",
        "f(3), f(2,2)",
        "i_(3), const([1]), invert=True",
        "i_(0), i_(2)",
        "i_(3), i_(0)",
        "i_(), const([1, 0])",
        "f(2), i(2)",
        "d(3), d(3), True",
    ],
)
def isin(
    x: jax.Array,
    test_x: jax.Array,
    assume_unique: bool = False,
    invert: bool = False,
    name: str | None = None,
) -> jax.Array:
    """Tells for each element of x whether test_x holds it.

    Args:
        x: Tensor [...]. `elements` is accepted as a name.
        test_x: Tensor [...]. `test_elements` is accepted as a name.
        assume_unique: a promise that both hold no element twice; the result is the same.
        invert: tell the opposite.
    Returns:
        bool Tensor of x's shape.
    Raises:
        TypeError: the dtypes do not promote.
    Example:
        >>> paddle.isin(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([2])).tolist()
        [False, True, False]
    """
    return jnp.isin(x, test_x, invert=invert)


VALUES = [
    "const([1.0, float('nan'), float('inf'), -float('inf')], 'float32')",
    "d(3)",
    "i(3)",
    "f(0,2)",
    "f()",
    "h(3)",
]


@known_as(pir="isnan", onnx="IsNaN")
@op(out="unlisted", nondiff=True, alias={"input": "x"}, cases=[*VALUES, "c(2)"])
def isnan(x: jax.Array, name: str | None = None) -> jax.Array:
    """True where an element is NaN.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
    Returns:
        bool Tensor of the same shape.
    Example:
        >>> paddle.isnan(paddle.to_tensor([1.0, float("nan")])).tolist()
        [False, True]
    """
    return jnp.isnan(x)


@known_as(pir="isinf", onnx="IsInf")
@op(out="unlisted", nondiff=True, alias={"input": "x"}, cases=[*VALUES, "c(2)"])
def isinf(x: jax.Array, name: str | None = None) -> jax.Array:
    """True where an element is infinite, of either sign.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
    Returns:
        bool Tensor of the same shape.
    Example:
        >>> paddle.isinf(paddle.to_tensor([1.0, float("-inf")])).tolist()
        [False, True]
    """
    return jnp.isinf(x)


@known_as(pir="isfinite")
@op(out="unlisted", nondiff=True, alias={"input": "x"}, cases=[*VALUES, "c(2)"])
def isfinite(x: jax.Array, name: str | None = None) -> jax.Array:
    """True where an element is neither infinite nor NaN.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
    Returns:
        bool Tensor of the same shape.
    Example:
        >>> paddle.isfinite(paddle.to_tensor([1.0, float("inf")])).tolist()
        [True, False]
    """
    return jnp.isfinite(x)


@known_as(code="elementwise:isposinf")
@op(nondiff=True, cases=VALUES)
def isposinf(x: jax.Array, name: str | None = None) -> jax.Array:
    """True where an element is plus infinity.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
    Returns:
        bool Tensor of the same shape.
    Example:
        >>> paddle.isposinf(paddle.to_tensor([float("inf"), float("-inf")])).tolist()
        [True, False]
    """
    return jnp.isposinf(x)


@known_as(code="elementwise:isneginf")
@op(nondiff=True, cases=VALUES)
def isneginf(x: jax.Array, name: str | None = None) -> jax.Array:
    """True where an element is minus infinity.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
    Returns:
        bool Tensor of the same shape.
    Example:
        >>> paddle.isneginf(paddle.to_tensor([float("inf"), float("-inf")])).tolist()
        [False, True]
    """
    return jnp.isneginf(x)


@known_as(code="elementwise:isreal")
@op(nondiff=True, cases=["c(3)", "const([1+0j, 1j], 'complex64')", "f(2)", "i(2)", "b(2)"])
def isreal(x: jax.Array, name: str | None = None) -> jax.Array:
    """True where an element has no imaginary part; always for real dtypes.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
    Returns:
        bool Tensor of the same shape.
    Example:
        >>> paddle.isreal(paddle.to_tensor([1 + 0j, 1j])).tolist()
        [True, False]
    """
    return jnp.isreal(x)


@known_as(code="elementwise:signbit")
@op(nondiff=True, cases=["const([0.0, -0.0, -1.0, 2.0], 'float32')", "d(3)", "i(3)", "u8(3)", "f(0)", "f()"])
def signbit(x: jax.Array, name: str | None = None) -> jax.Array:
    """True where an element carries a minus sign, -0.0 included.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
    Returns:
        bool Tensor of the same shape.
    Example:
        >>> paddle.signbit(paddle.to_tensor([1.0, -0.0])).tolist()
        [False, True]
    """
    # -0.0 has a sign as well, which a comparison does not see.
    if jnp.issubdtype(x.dtype, jnp.floating):
        return sign_bit(x)
    return x < 0


@known_as(pir="is_empty")
@op(nondiff=True, cases=["f(2)", "f(0,2)", "f()", "i(0)"])
def is_empty(x: jax.Array, name: str | None = None) -> jax.Array:
    """Tells whether a tensor has no elements, as a bool Tensor [].

    Args:
        x: Tensor [...].
    Returns:
        bool Tensor [].
    Example:
        >>> paddle.is_empty(paddle.ones([0, 2])).item()
        True
    """
    return jnp.asarray(x.size == 0)


@composite(alias={"obj": "x"}, cases=["f(2)", "3", "np.ones(2)", "None"])
def is_tensor(x: Any) -> bool:
    """Tells whether x is a Tensor, as a Python bool. `obj` is accepted as a name.

    Args:
        x: anything.
    Returns:
        bool.
    Example:
        >>> paddle.is_tensor([1.0])
        False
    """
    return isinstance(x, Tensor)
