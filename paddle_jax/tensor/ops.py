"""Elementwise functions of one tensor: powers and logarithms, trigonometry, rounding, signs. Integers are
taken as float32."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import op
from paddle_jax.tensor.hyperbolic import complex_acosh, exact_cosh, exact_sinh
from paddle_jax.tensor.inner import magnitude

INPUT = {"input": "x"}
ANY = ["f(2,3)", "d(3)", "f()", "f(0,3)", "h(3)", "i(3)", "c(3)"]
REAL = ["f(2,3)", "d(3)", "f()", "f(0,3)", "h(3)", "i(3)"]
POSITIVE = ["pos(2,3)", "pos_d(3)", "pos()", "f(0,3)", "pos_i(3)", "c(3)", "f(4)", "const([0.0], 'float32')"]
UNIT = ["u(-0.9, 0.9, 2, 3)", "ud(-0.9, 0.9, 3)", "u(-0.9, 0.9)", "f(0,3)", "const([0, 1])", "c(3)"]


def as_float(x: jax.Array) -> jax.Array:
    """Integers and bools as float32, the rest as it is."""
    if jnp.issubdtype(x.dtype, jnp.inexact):
        return x
    return x.astype(jnp.float32)


@known_as(pir="exp", onnx="Exp")
@op(inplace=True, out=True, alias=INPUT, cases=ANY)
def exp(x: jax.Array, name: str | None = None) -> jax.Array:
    """e raised to the power of each element.

    Args:
        x: Tensor [...]; integers are taken as float32. `input` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.

    Example:
        >>> round(paddle.exp(paddle.to_tensor(1.0)).item(), 4)
        2.7183
    """
    return jnp.exp(as_float(x))


@known_as(pir="expm1", onnx="Sub(Exp(x), 1)")
@op(inplace=True, out=True, alias=INPUT, cases=ANY)
def expm1(x: jax.Array, name: str | None = None) -> jax.Array:
    """exp(x) - 1, exact for small x.

    Args:
        x: Tensor [...]; integers are taken as float32. `input` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.expm1(paddle.to_tensor(0.0)).item(), 4)
        0.0
    """
    return jnp.expm1(as_float(x))


@known_as(pir="log", onnx="Log")
@op(alias=INPUT, inplace=True, out=True, cases=POSITIVE)
def log(x: jax.Array, name: str | None = None) -> jax.Array:
    """The natural logarithm of each element; NaN for negative real numbers.

    Args:
        x: Tensor [...]; integers are taken as float32.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.

    Example:
        >>> round(paddle.log(paddle.to_tensor(1.0)).item(), 4)
        0.0
    """
    return jnp.log(as_float(x))


@known_as(pir="log2")
@op(alias=INPUT, inplace=True, out=True, cases=POSITIVE)
def log2(x: jax.Array, name: str | None = None) -> jax.Array:
    """The logarithm to base 2.

    Args:
        x: Tensor [...]; integers are taken as float32.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.log2(paddle.to_tensor(8.0)).item(), 4)
        3.0
    """
    return _log_base(x, jnp.log2, 2.0)


@known_as(pir="log10")
@op(alias=INPUT, inplace=True, out=True, cases=POSITIVE)
def log10(x: jax.Array, name: str | None = None) -> jax.Array:
    """The logarithm to base 10.

    Args:
        x: Tensor [...]; integers are taken as float32.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.log10(paddle.to_tensor(100.0)).item(), 4)
        2.0
    """
    return _log_base(x, jnp.log10, 10.0)


@known_as(pir="log1p", onnx="Log(Add(x, 1))")
@op(alias=INPUT, inplace=True, out=True, cases=POSITIVE)
def log1p(x: jax.Array, name: str | None = None) -> jax.Array:
    """log(1 + x), exact for small x.

    Args:
        x: Tensor [...]; integers are taken as float32.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.log1p(paddle.to_tensor(0.0)).item(), 4)
        0.0
    """
    return jnp.log1p(as_float(x))


@known_as(pir="sqrt", onnx="Sqrt")
@op(alias=INPUT, inplace=True, out=True, cases=POSITIVE)
def sqrt(x: jax.Array, name: str | None = None) -> jax.Array:
    """The square root of each element; NaN for negative real numbers.

    Args:
        x: Tensor [...]; integers are taken as float32.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.

    Example:
        >>> round(paddle.sqrt(paddle.to_tensor(4.0)).item(), 4)
        2.0
    """
    return jnp.sqrt(as_float(x))


@known_as(pir="rsqrt", onnx="Reciprocal(Sqrt(x))")
@op(alias=INPUT, inplace=True, out=True, cases=POSITIVE)
def rsqrt(x: jax.Array, name: str | None = None) -> jax.Array:
    """1 / sqrt(x).

    Args:
        x: Tensor [...]; integers are taken as float32.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.rsqrt(paddle.to_tensor(4.0)).item(), 4)
        0.5
    """
    return jax.lax.rsqrt(as_float(x))


@known_as(pir="square", onnx="Mul(x, x)")
@op(inplace=True, cases=ANY)
def square(x: jax.Array, name: str | None = None) -> jax.Array:
    """The square of each element; integers stay integers.

    Args:
        x: Tensor [...].
    Returns:
        Tensor of the same shape.

    Example:
        >>> round(paddle.square(paddle.to_tensor(3.0)).item(), 4)
        9.0
    """
    return jnp.square(x)


@known_as(pir="reciprocal", onnx="Reciprocal")
@op(inplace=True, cases=POSITIVE)
def reciprocal(x: jax.Array, name: str | None = None) -> jax.Array:
    """1 / x.

    Args:
        x: Tensor [...]; integers are taken as float32. `input` is accepted as a name.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.reciprocal(paddle.to_tensor(4.0)).item(), 4)
        0.25
    """
    return 1 / as_float(x)


@known_as(pir="sin", onnx="Sin")
@op(alias=INPUT, inplace=True, out=True, cases=ANY)
def sin(x: jax.Array, name: str | None = None) -> jax.Array:
    """The sine of angles in radians.

    Args:
        x: Tensor [...]; integers are taken as float32.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.

    Example:
        >>> round(paddle.sin(paddle.to_tensor(0.0)).item(), 4)
        0.0
    """
    return jnp.sin(as_float(x))


@known_as(pir="cos", onnx="Cos")
@op(alias=INPUT, inplace=True, out=True, cases=ANY)
def cos(x: jax.Array, name: str | None = None) -> jax.Array:
    """The cosine of angles in radians.

    Args:
        x: Tensor [...]; integers are taken as float32.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.cos(paddle.to_tensor(0.0)).item(), 4)
        1.0
    """
    return jnp.cos(as_float(x))


@known_as(pir="tan", onnx="Tan")
@op(inplace=True, cases=ANY)
def tan(x: jax.Array, name: str | None = None) -> jax.Array:
    """The tangent of angles in radians.

    Args:
        x: Tensor [...]; integers are taken as float32.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.tan(paddle.to_tensor(0.0)).item(), 4)
        0.0
    """
    return jnp.tan(as_float(x))


@known_as(pir="asin", onnx="Asin")
@op(alias=INPUT, inplace=True, out=True, cases=UNIT)
def asin(x: jax.Array, name: str | None = None) -> jax.Array:
    """The arc sine, in radians.

    Args:
        x: Tensor [...]; integers are taken as float32.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.asin(paddle.to_tensor(1.0)).item(), 4)
        1.5708
    """
    return jnp.arcsin(as_float(x))


asin.__signature__ = asin.op.signature  # Paddle's takes `out` without showing it


@known_as(pir="acos", onnx="Acos")
@op(alias=INPUT, inplace=True, out=True, cases=UNIT)
def acos(x: jax.Array, name: str | None = None) -> jax.Array:
    """The arc cosine, in radians.

    Args:
        x: Tensor [...]; integers are taken as float32.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.acos(paddle.to_tensor(1.0)).item(), 4)
        0.0
    """
    return jnp.arccos(as_float(x))


@known_as(pir="atan", onnx="Atan")
@op(inplace=True, cases=ANY)
def atan(x: jax.Array, name: str | None = None) -> jax.Array:
    """The arc tangent, in radians.

    Args:
        x: Tensor [...]; integers are taken as float32.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.atan(paddle.to_tensor(1.0)).item(), 4)
        0.7854
    """
    return jnp.arctan(as_float(x))


@known_as(pir="sinh", onnx="Sinh")
@op(alias=INPUT, inplace=True, out=True, cases=ANY)
def sinh(x: jax.Array, name: str | None = None) -> jax.Array:
    """The hyperbolic sine.

    Args:
        x: Tensor [...]; integers are taken as float32.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.sinh(paddle.to_tensor(0.0)).item(), 4)
        0.0
    """
    if jnp.iscomplexobj(x):
        return jnp.sinh(x)
    # By a routine of our own, which does not overflow before its result does.
    return exact_sinh(as_float(x))


@known_as(pir="cosh", onnx="Cosh")
@op(alias=INPUT, inplace=True, out=True, cases=ANY)
def cosh(x: jax.Array, name: str | None = None) -> jax.Array:
    """The hyperbolic cosine.

    Args:
        x: Tensor [...]; integers are taken as float32.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.cosh(paddle.to_tensor(0.0)).item(), 4)
        1.0
    """
    if jnp.iscomplexobj(x):
        return jnp.cosh(x)
    return exact_cosh(as_float(x))


@known_as(pir="tanh", onnx="Tanh")
@op(inplace=True, out=True, alias=INPUT, grad_from_output=lambda y: (1 - y) * (1 + y), cases=ANY)
def tanh(x: jax.Array, name: str | None = None) -> jax.Array:
    """The hyperbolic tangent.

    Args:
        x: Tensor [...]; integers are taken as float32. `input` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.

    Example:
        >>> round(paddle.tanh(paddle.to_tensor(0.0)).item(), 4)
        0.0
    """
    return jnp.tanh(as_float(x))


@known_as(pir="asinh", onnx="Asinh")
@op(inplace=True, cases=ANY)
def asinh(x: jax.Array, name: str | None = None) -> jax.Array:
    """The inverse hyperbolic sine.

    Args:
        x: Tensor [...]; integers are taken as float32.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.asinh(paddle.to_tensor(0.0)).item(), 4)
        0.0
    """
    return jnp.arcsinh(as_float(x))


@known_as(pir="acosh", onnx="Acosh")
@op(
    alias=INPUT,
    inplace=True,
    out=True,
    cases=[
        "u(1.1, 4.0, 2, 3)",
        "ud(1.1, 4.0, 3)",
        "f(0,3)",
        "pos_i(3)",
        "u(1.5, 2.0)",
        "c(3) + 4.0",
        "~c(3)",
    ],
)
def acosh(x: jax.Array, name: str | None = None) -> jax.Array:
    """The inverse hyperbolic cosine.

    Args:
        x: Tensor [...]; integers are taken as float32.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.acosh(paddle.to_tensor(1.0)).item(), 4)
        0.0
    """
    x = as_float(x)
    return complex_acosh(x) if jnp.iscomplexobj(x) else jnp.arccosh(x)


@known_as(pir="atanh", onnx="Atanh")
@op(alias=INPUT, inplace=True, out=True, cases=UNIT)
def atanh(x: jax.Array, name: str | None = None) -> jax.Array:
    """The inverse hyperbolic tangent.

    Args:
        x: Tensor [...]; integers are taken as float32.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.atanh(paddle.to_tensor(0.0)).item(), 4)
        0.0
    """
    return jnp.arctanh(as_float(x))


@known_as(pir="sigmoid", onnx="Sigmoid")
@op(inplace=True, out=True, alias=INPUT, grad_from_output=lambda y: y * (1 - y), cases=ANY)
def sigmoid(x: jax.Array, name: str | None = None) -> jax.Array:
    """1 / (1 + exp(-x)), the logistic function.

    Args:
        x: Tensor [...]; integers are taken as float32. `input` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.

    Example:
        >>> round(paddle.sigmoid(paddle.to_tensor(0.0)).item(), 4)
        0.5
    """
    return jax.nn.sigmoid(as_float(x))


@known_as(pir="abs", onnx="Abs")
@op(inplace=True, out=True, alias=INPUT, cases=[*ANY, "const([0.0, -0.0], 'float32')", "i32(3)"])
def abs(x: jax.Array, name: str | None = None) -> jax.Array:
    """The absolute value; the modulus of complex numbers.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.

    Example:
        >>> paddle.abs(paddle.to_tensor([-1.5, 2.0])).tolist()
        [1.5, 2.0]
    """
    return magnitude(x)


@known_as(pir="scale(x,_:f32=-1.0)", node="scale")
@op(inplace=True, cases=[*ANY, "b(3)", "u8(3)"])
def neg(x: jax.Array, name: str | None = None) -> jax.Array:
    """Changes the sign of each element.

    Args:
        x: Tensor [...].
    Returns:
        Tensor of the same shape.

    Example:
        >>> paddle.neg(paddle.to_tensor([1.0, -2.0])).tolist()
        [-1.0, 2.0]
    """
    # -0.0 nowhere, as in Paddle
    if x.dtype == jnp.bool_:
        return x
    return 0 - x


@known_as(pir="floor", onnx="Floor")
@op(alias=INPUT, inplace=True, out=True, cases=REAL)
def floor(x: jax.Array, name: str | None = None) -> jax.Array:
    """Rounds down to the next integer; integers stay as they are.

    Args:
        x: Tensor [...].
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.

    Example:
        >>> paddle.floor(paddle.to_tensor([1.5, -1.5])).tolist()
        [1.0, -2.0]
    """
    if jnp.issubdtype(x.dtype, jnp.floating):
        return jnp.floor(x)
    return x


@known_as(pir="ceil", onnx="Ceil")
@op(alias=INPUT, inplace=True, out=True, cases=REAL)
def ceil(x: jax.Array, name: str | None = None) -> jax.Array:
    """Rounds up to the next integer.

    Args:
        x: Tensor [...].
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape.
    Example:
        >>> paddle.ceil(paddle.to_tensor([1.5, -1.5])).tolist()
        [2.0, -1.0]
    """
    if jnp.issubdtype(x.dtype, jnp.floating):
        return jnp.ceil(x)
    return x


def _log_base(x: jax.Array, log: Callable[..., Any], base: float) -> jax.Array:
    """Real numbers through the exact routine; complex ones through the natural logarithm."""
    x = as_float(x)
    if jnp.iscomplexobj(x):
        return jnp.log(x) / jnp.log(jnp.asarray(base, x.dtype))
    return log(x)


@known_as(pir="round decimals:i32=0", onnx="Round")
@op(
    inplace=True,
    out=True,
    alias=INPUT,
    cases=[
        *REAL,
        "c(3)",
        "const([0.5, 1.5, 2.5, -0.5], 'float32')",
        "f(4), 2",
        "const([155.0, 245.0], 'float32'), -1",
        "i(3), 1",
        "f(2), 1.0",
    ],
)
def round(x: jax.Array, decimals: int = 0, name: str | None = None) -> jax.Array:
    """Rounds to the nearest number with the given count of decimals; halves go to the even neighbour.

    Args:
        x: Tensor [...]; integers stay as they are. `input` is accepted as a name.
        decimals: int, may be negative (tens, hundreds).
        out: Tensor that receives the result.
    Returns:
        Tensor of the shape and dtype of x.
    Raises:
        TypeError: decimals is not an int.
    Example:
        >>> paddle.round(paddle.to_tensor([0.5, 1.5, -1.6])).tolist()
        [0.0, 2.0, -2.0]
    """
    if not isinstance(decimals, int):
        raise TypeError(f"round: decimals: got {decimals!r}; it must be an int")
    if jnp.issubdtype(x.dtype, jnp.inexact):
        return jnp.round(x, decimals)
    return x


@known_as(pir="trunc", onnx="Mul(Sign(input), Floor(Abs(input)))")
@op("input", inplace=True, cases=REAL)
def trunc(input: jax.Array, name: str | None = None) -> jax.Array:
    """Drops the fractional part. Arguments as for `floor`.

    Args:
        input: Tensor [...].
    Returns:
        Tensor of the shape and dtype of input.
    Example:
        >>> paddle.trunc(paddle.to_tensor([1.5, -1.5])).tolist()
        [1.0, -1.0]
    """
    if jnp.issubdtype(input.dtype, jnp.floating):
        return jnp.trunc(input)
    return input


@known_as(code="arithmetic:frac")
@op(inplace=True, out=True, alias=INPUT, cases=[*REAL, "c(2)", "b(2)"])
def frac(x: jax.Array, name: str | None = None) -> jax.Array:
    """The fractional part, with the sign of x.

    Args:
        x: Tensor [...], float, int32 or int64. `input` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        Tensor of the shape and dtype of x.
    Raises:
        TypeError: x has another dtype.
    Example:
        >>> paddle.frac(paddle.to_tensor([1.5, -1.5])).tolist()
        [0.5, -0.5]
    """
    if not jnp.issubdtype(x.dtype, jnp.floating) and x.dtype not in (jnp.int32, jnp.int64):
        raise TypeError(f"frac: x: got {x.dtype}; allowed are floats, int32 and int64")
    if jnp.issubdtype(x.dtype, jnp.floating):
        return x - jnp.trunc(x)
    return jnp.zeros_like(x)


@known_as(pir="sign", onnx="Sign")
@op(alias=INPUT, out=True, cases=[*ANY, "const([0.0, -0.0, float('nan')], 'float32')", "u8(3)"])
def sign(x: jax.Array, name: str | None = None) -> jax.Array:
    """-1, 0 or 1 by the sign of each element; x / |x| for complex numbers.

    Args:
        x: Tensor [...].
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape and dtype.
    Example:
        >>> paddle.sign(paddle.to_tensor([-2.0, 0.0, 3.0])).tolist()
        [-1.0, 0.0, 1.0]
    """
    return jnp.sign(x)


@known_as(code="elementwise:sgn")
# Paddle's gradient at 0 is NaN
@op(cases=["f(2,3)", "d(3)", "c(3)", "c128(2)", "f()", "f(0,3)", "i(3)", "~const([0j, 3+4j], 'complex64')"])
def sgn(x: jax.Array, name: str | None = None) -> jax.Array:
    """x / |x| for complex numbers (0 at 0), the sign for real ones.

    Args:
        x: Tensor [...], floating or complex.
    Returns:
        Tensor of the same shape and dtype.
    Raises:
        TypeError: x is of an integer dtype or bool.
    Example:
        >>> paddle.sgn(paddle.to_tensor([-2.0, 0.0, 3.0])).tolist()
        [-1.0, 0.0, 1.0]
    """
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        raise TypeError(f"sgn: x: got {x.dtype}; allowed are floats and complex numbers")
    if not jnp.iscomplexobj(x):
        return jnp.sign(x)
    # The branch that is not taken must be finite, for the gradient.
    zero = x == 0
    return jnp.where(zero, 0, x / jnp.abs(jnp.where(zero, 1, x)))


@known_as(cast="never", pir="assign", onnx="Identity")
@op(method=False, cases=[*ANY, "b(2)"])
def positive(x: jax.Array, name: str | None = None) -> jax.Array:
    """Returns x unchanged.

    Args:
        x: Tensor [...], not bool.
    Returns:
        The Tensor x.
    Raises:
        TypeError: x is bool.
    Example:
        >>> paddle.positive(paddle.to_tensor([-2.0])).tolist()
        [-2.0]
    """
    if x.dtype == jnp.bool_:
        raise TypeError("positive: x: got bool; allowed are numbers")
    return x


@known_as(pir="scale(x,_:f32=-1.0)")
@op(cases=[*ANY, "b(2)"])
def negative(x: jax.Array, name: str | None = None) -> jax.Array:
    """Changes the sign of each element, as `neg`; bool is refused.

    Args:
        x: Tensor [...], numeric.
    Returns:
        Tensor of the shape and dtype of x.
    Raises:
        TypeError: x is bool.
    Example:
        >>> paddle.negative(paddle.to_tensor([-2.0])).tolist()
        [2.0]
    """
    if x.dtype == jnp.bool_:
        raise TypeError("negative: x: got bool; allowed are numbers")
    return 0 - x


@known_as(code="elementwise:sinc")
@op(
    inplace="copies",
    cases=["f(2,3)", "d(3)", "f()", "f(0,3)", "c(3)", "const([0.0, 0.5, 2.0], 'float32')", "i(3)"],
)
def sinc(x: jax.Array, name: str | None = None) -> jax.Array:
    """sin(pi x) / (pi x), 1 at 0.

    Args:
        x: Tensor [...], floating or complex.
    Returns:
        Tensor of the same shape.
    Raises:
        TypeError: x is of an integer dtype.
    Example:
        >>> round(paddle.sinc(paddle.to_tensor(0.5)).item(), 4)
        0.6366
    """
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        raise TypeError(f"sinc: x: got {x.dtype}; allowed are floats and complex numbers")
    return jnp.sinc(x)


@known_as(pir="scale(x:out,_:f32=0.017453292519943295)")
@op(cases=["f(2,3)", "d(3)", "i(3)", "h(3)", "f(0,3)", "f()"])
def deg2rad(x: jax.Array, name: str | None = None) -> jax.Array:
    """Turns degrees into radians.

    Args:
        x: Tensor [...]; int32 and int64 are taken as float32.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.deg2rad(paddle.to_tensor(180.0)).item(), 4)
        3.1416
    """
    return as_float(x) * (math.pi / 180)


@known_as(pir="scale(x:out,_:f32=57.29577951308232)")
@op(cases=["f(2,3)", "d(3)", "i(3)", "h(3)", "f(0,3)", "f()"])
def rad2deg(x: jax.Array, name: str | None = None) -> jax.Array:
    """Turns radians into degrees.

    Args:
        x: Tensor [...]; int32 and int64 are taken as float32.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.rad2deg(paddle.to_tensor(3.14159265)).item(), 3)
        180.0
    """
    return as_float(x) * (180 / math.pi)
