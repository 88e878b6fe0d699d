"""Arithmetic of two tensors, bounds, scaling."""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import check_inplace, composite, op
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.axes import check_divisor, check_floating, guarded
from paddle_jax.tensor.inner import defslopes, named
from paddle_jax.tensor.lowering import copy_sign

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike


X_Y = {"input": "x", "other": "y"}
BINARY = [
    "f(2,3), f(2,3)",
    "f(2,3), f(3)",
    "f(2,1), d(3)",
    "f(), f(2)",
    "f(0,3), f(1,3)",
    "i(2,3), i(3)",
    "i32(3), i32(3)",
    "c(3), f(3)",
    "h(3), h(3)",
    "f(2,3), f(2,4)",
    "f(2), i(2)",
    "f(2), 2.0",
]


@known_as(amp=("scale", "elementwise_add"), pir="add", code="arithmetic:add", onnx="Add")
@op(
    "x y",
    promote="mixed",
    inplace=True,
    out=True,
    alias=X_Y,
    cases=[*BINARY, "b(3), b(3)", "f(2,3), f(3), alpha=2"],
)
def add(x: jax.Array, y: jax.Array, name: str | None = None, *, alpha: Any = 1) -> jax.Array:
    """Adds two tensors elementwise: x + alpha * y, with broadcasting.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        y: Tensor broadcastable with x. `other` is accepted as a name.
        alpha: number that y is multiplied with.
        out: Tensor that receives the result.
    Returns:
        Tensor of the broadcast shape and the promoted dtype.
    Raises:
        ValueError: the shapes do not broadcast.
        TypeError: the dtypes do not promote (integer with float, say).
    Example:
        >>> paddle.add(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).tolist()
        [4.0, 6.0]
    """
    # A product with 1 would only cost time.
    if alpha == 1:
        return x + y
    return x + jnp.asarray(alpha, y.dtype) * y


@known_as(amp=("scale", "elementwise_sub"), pir="subtract", code="arithmetic:subtract", onnx="Sub")
@op("x y", promote="mixed", inplace=True, out=True, alias=X_Y, cases=[*BINARY, "f(2,3), f(3), alpha=2"])
def subtract(x: jax.Array, y: jax.Array, name: str | None = None, *, alpha: Any = 1) -> jax.Array:
    """Subtracts elementwise: x - alpha * y, with broadcasting.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        y: Tensor broadcastable with x. `other` is accepted as a name.
        alpha: number that y is multiplied with.
        out: Tensor that receives the result.
    Returns:
        Tensor of the broadcast shape and the promoted dtype.
    Example:
        >>> paddle.subtract(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 5.0])).tolist()
        [-2.0, -3.0]
    """
    if alpha == 1:
        return x - y
    return x - jnp.asarray(alpha, y.dtype) * y


@known_as(amp=("scale", "elementwise_mul"), pir="multiply", onnx="Mul")
@op("x y", promote="mixed", inplace=True, out=True, alias=X_Y, cases=[*BINARY, "b(3), b(3)"])
def multiply(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """Multiplies two tensors elementwise, with broadcasting.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        y: Tensor broadcastable with x. `other` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        Tensor of the broadcast shape and the promoted dtype.
    Example:
        >>> paddle.multiply(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 5.0])).tolist()
        [3.0, 10.0]
    """
    return x * y


def _operands_of(args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """x and y of a call, by place or by name."""
    x, y = (
        args[i] if len(args) > i else kwargs.get("xy"[i], kwargs.get(("input", "other")[i])) for i in range(2)
    )
    return x, y


def _divisor_of(name: str, args: Sequence[Tensor | float | None], kwargs: dict[str, Any]) -> None:
    check_divisor(name, *_operands_of(args, kwargs))


def _check_quotient(*args: Any, **kwargs: Any) -> None:
    if kwargs.get("rounding_mode") is not None:
        _divisor_of("divide", args, kwargs)


@guarded(_check_quotient)
@known_as(amp=("scale", "elementwise_div"), pir="divide(x:out,y:out)", onnx="Div", code="arithmetic:divide")
@op(
    "x y",
    promote="mixed",
    inplace=True,
    out=True,
    alias=X_Y,
    cases=[*BINARY, "f(2,3), pos(3), rounding_mode='floor'", "i(3), pos_i(3), rounding_mode='trunc'"],
)
def divide(
    x: jax.Array, y: jax.Array, name: str | None = None, *, rounding_mode: str | None = None
) -> jax.Array:
    """Divides elementwise, with broadcasting; integers give float32 unless rounded.

    Args:
        x, y: Tensors as for `add`.
        rounding_mode: None, "trunc" (towards zero) or "floor".
        out: Tensor that receives the result.
    Returns:
        Tensor of the broadcast shape.
    Raises:
        ValueError: rounding_mode is something else, or the shapes do not broadcast.
        ZeroDivisionError: integers are divided by zero and rounded; also Paddle's EnforceNotMet.
    Example:
        >>> paddle.divide(paddle.to_tensor([1, 4]), paddle.to_tensor([2, 2])).tolist()
        [0.5, 2.0]
    """
    if rounding_mode == "floor":
        return jnp.floor_divide(x, y)
    if rounding_mode == "trunc" and jnp.issubdtype(x.dtype, jnp.integer):
        # which is exact beyond the integers that a float holds
        return jax.lax.div(*jnp.broadcast_arrays(x, y))
    if rounding_mode == "trunc":
        return jnp.trunc(x / y).astype(x.dtype)
    if rounding_mode is not None:
        raise ValueError(f"divide: rounding_mode: got {rounding_mode!r}; allowed are None, 'trunc', 'floor'")
    return _quotient(x, y)


@guarded(lambda *args, **kwargs: _divisor_of("floor_divide", args, kwargs))
@known_as(pir="floor_divide", code="arithmetic:floor_divide")
@op(
    "x y",
    promote="wide",
    inplace=True,
    out=True,
    alias=X_Y,
    scalars="own",
    nondiff=True,
    cases=[
        "f(2,3), pos(2,3)",
        "i(2,3), pos_i(3)",
        "i32(3), pos_i32(3)",
        "const([-0.0, -1.0], 'float32'), const([1.0, -2.0], 'float32')",
        "f(0,3), f(1,3)",
        "f(2), i(2)",
    ],
)
def floor_divide(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """Divides elementwise and rounds towards minus infinity. Arguments as for `add`; y may be a number, which
    counts as the 0-d Tensor that `to_tensor` makes of it.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        y: Tensor broadcastable with x, or a number. `other` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        Tensor of the broadcast shape and the promoted dtype.
    Raises:
        ZeroDivisionError: integers are divided by zero; also Paddle's EnforceNotMet.
    Example:
        >>> paddle.floor_divide(paddle.to_tensor([7, -7]), paddle.to_tensor([2, 2])).tolist()
        [3, -4]
    """
    quotient = jnp.floor_divide(x, y)
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return quotient
    # The zero has the sign of the exact quotient, as in Paddle.
    return jnp.where(quotient == 0, copy_sign(quotient, x / y), quotient)


def _check_remainder(*args: Any, **kwargs: Any) -> None:
    x, y = _operands_of(args, kwargs)
    if isinstance(y, float) and isinstance(x, Tensor) and numpy_dtype(x) in (np.int32, np.int64):
        if math.isfinite(y):
            y = int(y)  # the divisor that the kernel gets
    check_divisor("remainder", x, y)


@guarded(_check_remainder)
@known_as(pir="remainder", code="arithmetic:remainder")
@op(
    "x y",
    promote="mixed",
    inplace=True,
    out=True,
    alias=X_Y,
    scalars="whole",
    cases=[
        "f(2,3), pos(2,3)",
        "i(2,3), pos_i(3)",
        "i32(3), pos_i32(3)",
        "f(3), -2.5",
        "i(2,3), 2.5",
        "i32(3), -3.5",
        "f(0,3), f(1,3)",
        "~c(3), c(3)",
    ],
)
def remainder(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """The rest of the floor division, with the sign of the divisor; of complex numbers the rest to the
    nearest multiple.

    Arguments as for `add`; y may be a number, whose fraction is cut beside an integer Tensor.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        y: Tensor broadcastable with x, or a number. `other` is accepted as a name.
        out: Tensor that receives the result.
    Returns:
        Tensor of the broadcast shape and the promoted dtype.
    Raises:
        ZeroDivisionError: as for `floor_divide`.
    Example:
        >>> paddle.remainder(paddle.to_tensor([7, -7]), paddle.to_tensor([4, 4])).tolist()
        [3, 1]
    """
    if not jnp.iscomplexobj(x):
        return jnp.remainder(x, y)
    quotient = x / y
    return x - jax.lax.complex(_half_away(quotient.real), _half_away(quotient.imag)) * y


def _half_away(x: jax.Array) -> jax.Array:
    """The nearest whole number; halves are rounded away from zero, as in C."""
    whole = jnp.trunc(x)
    return whole + jnp.where(jnp.abs(x - whole) >= 0.5, jnp.sign(x), 0)


@jax.custom_jvp
def _power(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.power(x, y)


def _slope(t: jax.Array, _: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
    """t times y x^(y - 1); 0 for y = 0 at x = 0 too."""
    # At y = 0 the power y - 1 is infinite for x = 0; the inner choice avoids 0 * infinity.
    return t * jnp.where(y == 0, 0, y * _power(x, jnp.where(y == 0, 1, y - 1)))


# The slope by y: 0 at x = 0, where the logarithm is infinite.
defslopes(_power, _slope, lambda t, power, x, y: t * jnp.where((x == 0) & (y >= 0), 0, jnp.log(x) * power))


@known_as(amp=("pow", "elementwise_pow"), pir="elementwise_pow", onnx="Pow")
@op(
    "x y",
    promote="mixed",
    scalars="whole",
    inplace=True,
    out=True,
    alias={"input": "x", "exponent": "y"},
    cases=[
        "const([0.0, 2.0], 'float32'), 0",
        "const([0.0, 2.0, 0.0]), const([0.0, 0.0, 1.0])",
        "i(3), 2.0",
        "i(3), 2.5",
        "i32(3), 0.5",
        "pos(2,3), f(3)",
        "f(3), 2",
        "f(3), 3.0",
        "pos(3), 0.5",
        "f(3), 0",
        "i(3), 2",
        "pos(2), i(2)",
        "f(0,2), 2.0",
        "pos_d(3), d(3)",
        "const([0, 1, -1, 7, -2]), const([[-1], [-2], [3]])",
        "const([0, 1, -1, 7, -2], 'int32'), const([-3], 'int32')",
        "i8(3), const(2, 'int8')",
    ],
)
def pow(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """Raises x to the power y elementwise.

    Args:
        x: Tensor [...].
        y: Tensor broadcastable with x, or a number (an integer x stays an integer: 2.5 counts as 2).
        out: Tensor that receives the result.
    Returns:
        Tensor of the broadcast shape.
    Example:
        >>> paddle.pow(paddle.to_tensor([1.0, 2.0, 3.0]), 2).tolist()
        [1.0, 4.0, 9.0]
    """
    if jnp.issubdtype(x.dtype, jnp.signedinteger):
        # Of whole numbers 1 and -1 alone have a whole inverse.
        inverse = jnp.where(jnp.abs(x) == 1, jnp.where(y % 2 == 0, 1, x), 0)  # without its fraction
        return jnp.where(y < 0, inverse, jnp.power(x, jnp.maximum(y, 0)))
    if jnp.issubdtype(x.dtype, jnp.floating):
        return _power(x, y)
    return jnp.power(x, y)


@known_as(amp=("scale", "elementwise_div"), pir="divide(input:out,other:out)", node="divide")
@op(
    "input other",
    promote="mixed",
    scalars=True,
    out=True,
    cases=["f(2,3), pos(3)", "i(3), pos_i(3)", "i32(3), pos_i32(3)", "f(3), d(3)"],
)
def true_divide(input: jax.Array, other: jax.Array) -> jax.Array:
    """Divides elementwise, with broadcasting; integers give float32. What the operator / computes.

    Args:
        input: Tensor [...].
        other: Tensor broadcastable with input, or a number.
        out: Tensor that receives the result.
    Returns:
        Tensor of the broadcast shape.
    Example:
        >>> paddle.true_divide(paddle.to_tensor([1, 4]), paddle.to_tensor([2, 2])).tolist()
        [0.5, 2.0]
    """
    return _quotient(input, other)


def _quotient(x: jax.Array, y: jax.Array) -> jax.Array:
    """x / y; integers are divided as float32, and bools stay bool as in Paddle."""
    if x.dtype == jnp.bool_:
        return (x.astype(jnp.float32) / y.astype(jnp.float32)).astype(jnp.bool_)
    if jnp.issubdtype(x.dtype, jnp.integer):
        # As in Paddle, which has float32 for all whole numbers.
        return x.astype(jnp.float32) / y.astype(jnp.float32)
    return x / y


SAME = [
    "f(2,3), f(2,3)",
    "f(2,3), f(3)",
    "d(3), d(3)",
    "i_(2,3), i_(3)",
    "f(), f(2)",
    "f(0,3), f(1,3)",
    "f(3), d(3)",
    "f(2), i(2)",
    "f(2), f(3)",
    "h(3), h(3)",
]
NANS = ["const([1.0, float('nan'), 2.0], 'float32'), const([float('nan'), 1.0, 3.0], 'float32')"]
TIE = ["const([1.0, 2.0, 5.0], 'float32'), const([1.0, 3.0, 4.0], 'float32')"]


@known_as(pir="maximum", onnx="Max")
@op("x y", promote=True, out=True, alias=X_Y, cases=[*SAME, *NANS, *TIE])
def maximum(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """The larger of two elements; NaN if either is NaN. Equal elements share the gradient.

    Args:
        x: Tensor [...], real.
        y: Tensor broadcastable with x.
        out: Tensor that receives the result.
    Returns:
        Tensor of the broadcast shape and the promoted dtype.
    Raises:
        ValueError: the shapes do not broadcast.
        TypeError: the dtypes do not promote.
    Example:
        >>> paddle.maximum(paddle.to_tensor([1.0, 4.0]), paddle.to_tensor([3.0, 2.0])).tolist()
        [3.0, 4.0]
    """
    return jnp.maximum(x, y)


@known_as(pir="minimum", onnx="Min")
@op("x y", promote=True, out=True, alias=X_Y, cases=[*SAME, *NANS, *TIE])
def minimum(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """The smaller of two elements; NaN if either is NaN.

    Args:
        x: Tensor [...], real.
        y: Tensor broadcastable with x.
        out: Tensor that receives the result.
    Returns:
        Tensor of the broadcast shape and the promoted dtype.
    Example:
        >>> paddle.minimum(paddle.to_tensor([1.0, 4.0]), paddle.to_tensor([3.0, 2.0])).tolist()
        [1.0, 2.0]
    """
    return jnp.minimum(x, y)


@known_as(pir="fmax")
@op("x y", promote=True, cases=[*SAME, *NANS, *TIE])
def fmax(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """The larger of two elements; where one is NaN, the other. Equal elements give the gradient to x.

    Args:
        x: Tensor [...], real.
        y: Tensor broadcastable with x.
    Returns:
        Tensor of the broadcast shape and the promoted dtype.
    Example:
        >>> paddle.fmax(paddle.to_tensor([1.0, float("nan")]), paddle.to_tensor([3.0, 2.0])).tolist()
        [3.0, 2.0]
    """
    # The comparison of NaN is False, so its side is asked for.
    return jnp.where((x >= y) | jnp.isnan(y), x, y)


@known_as(pir="fmin")
@op("x y", promote=True, cases=[*SAME, *NANS, *TIE])
def fmin(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """The smaller of two elements; where one is NaN, the other. Equal elements give the gradient to x.

    Args:
        x: Tensor [...], real.
        y: Tensor broadcastable with x.
    Returns:
        Tensor of the broadcast shape and the promoted dtype.
    Example:
        >>> paddle.fmin(paddle.to_tensor([1.0, float("nan")]), paddle.to_tensor([3.0, 2.0])).tolist()
        [1.0, 2.0]
    """
    return jnp.where((x <= y) | jnp.isnan(y), x, y)


@known_as(code="arithmetic:clip")
@op("x min max", register=False, method=False, scalars=True, constant="min max")
@named("clip")
def clipped(x: jax.Array, min: jax.Array | None = None, max: jax.Array | None = None) -> jax.Array:
    """x brought between two bounds of one element. On the bounds the gradient passes; NaN
    stays and gets none."""
    bounds = [b.reshape(()) for b in (min, max) if b is not None]
    if not jnp.issubdtype(x.dtype, jnp.inexact) and any(
        jnp.issubdtype(b.dtype, jnp.floating) for b in bounds
    ):
        # A float bound makes whole numbers float, as in Paddle.
        x = x.astype(jnp.float32)
    passed = x
    if min is not None:
        low = min.reshape(()).astype(x.dtype)
        x = jnp.where(x < low, low, x)
    if max is not None:
        high = max.reshape(()).astype(x.dtype)
        x = jnp.where(x > high, high, x)
    if jnp.issubdtype(x.dtype, jnp.floating):
        # NaN stays NaN, and gets no gradient.
        return jnp.where(jnp.isnan(passed), jax.lax.stop_gradient(passed), x)
    return x


def clip_(x: Tensor, min: Any = None, max: Any = None, name: str | None = None) -> Tensor:
    """In-place clip: puts the result into x and returns it. Of float bounds for an integer x the fraction is
    dropped. See `clip`.

    Example:
        >>> paddle.to_tensor([-1.0, 2.0]).clip_(0.0, 1.0).tolist()
        [0.0, 1.0]
    """
    check_inplace("clip_", x)
    if x.dtype.is_integer:
        # In place the dtype stays, so bounds lose their fraction.
        min, max = (int(b) if isinstance(b, float) and math.isfinite(b) else b for b in (min, max))
    return x._adopt(clip(x, min, max))


@known_as(pir="clip", code="arithmetic:clip")
@composite(
    alias={"input": "x"},
    out=True,
    cases=[
        "f(2,3), -0.5, 0.5",
        "f(4), 0.1",
        "f(4), max=0.1",
        "f(3)",
        "i(5), -1, 2",
        "i(5), -1.5, 2.5",
        "i32(3), 0",
        "f(4), const([0.1], 'float32')",
        "d(4), 0, 1",
        "const([1.0, 2.0, 0.0, 3.0, float('nan')], 'float32'), 1.0, 2.0",
        "f(3), 1.0, 0.0",
        "f(3), f(3)",
        "h(3), 0.0, 1.0",
        "f(0,3), 0.0, 1.0",
        "f(), 0.0",
        "i(5), np.float32(-1.5), 2.5",
        "i(5), np.float32(-1.5), np.float32(2.5)",
        "i(5), -1.5, np.float32(2.5)",
    ],
)
def clip(x: Tensor, min: Any = None, max: Any = None, name: str | None = None) -> Tensor:
    """Brings elements into the range min..max.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        min, max: numbers, Tensors of one element, or None for no bound. Float bounds make an
            integer x float32.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape. The gradient is 1 inside and on the bounds, 0 outside; the bounds get none.
    Raises:
        ValueError: min is greater than max, or a bound has more than one element.
    Example:
        >>> paddle.clip(paddle.to_tensor([-1.0, 0.5, 2.0]), 0.0, 1.0).tolist()
        [0.0, 0.5, 1.0]
    """
    for which, bound in (("min", min), ("max", max)):
        if isinstance(bound, Tensor) and bound.size != 1:
            raise ValueError(f"clip: {which}: got shape {list(bound.shape)}; a bound must have one element")
    if isinstance(min, float) or isinstance(max, float):  # beside one, a NumPy number is no integer either
        min, max = (float(b) if isinstance(b, np.floating) else b for b in (min, max))
    if isinstance(min, int | float) and isinstance(max, int | float) and min > max:
        raise ValueError(f"clip: got min={min} and max={max}; min must not be greater than max")
    return clipped(x, min, max)


clip.inplace = Tensor.clip_ = clip_

ACTIVATIONS = {
    "relu": jax.nn.relu,
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
    "softmax": jax.nn.softmax,
    "relu6": jax.nn.relu6,
    "exp": jnp.exp,
    "square": jnp.square,
    "softplus": jax.nn.softplus,
    "gelu": ft.partial(jax.nn.gelu, approximate=False),
}


@known_as(pir="scale bias:f32=0.0 bias_after_scale:bool=True", code="arithmetic:scale")
@op(
    "x scale bias",
    scalars="one",
    inplace=True,
    constant="scale bias",
    cases=[
        "f(2,3), 2.0",
        "f(2,3), 2.0, 1.0",
        "f(2,3), 2.0, 1.0, False",
        "i(3), 2.5, 1.0",
        "i(3), 2.5, 1.0, bias_after_scale=False",
        "f(3), const([2.0], 'float32'), 1.0",
        "f(3), 2.0, act='relu'",
        "f(3), 2, 1.0, act='foo'",
        "h(3), 2.0",
        "b(3), 2",
        "c(3), 2.0",
        "f(0,2), 2.0",
        "d(), 0.5",
    ],
)
def scale(
    x: jax.Array,
    scale: jax.Array = 1.0,
    bias: jax.Array = 0.0,
    bias_after_scale: bool = True,
    act: str | None = None,
    name: str | None = None,
) -> jax.Array:
    """scale * x + bias, or scale * (x + bias).

    Args:
        x: Tensor [...].
        scale, bias: numbers, or Tensors or arrays of one element, cast to the dtype of x; no gradient.
        bias_after_scale: False adds the bias first.
        act: name of a function applied last, e.g. "relu".
    Returns:
        Tensor of the same shape.
    Raises:
        AttributeError: act is not known.
    Example:
        >>> paddle.scale(paddle.to_tensor([1.0, 2.0]), 2.0, 1.0).tolist()
        [3.0, 5.0]
    """
    if act is not None and act not in ACTIVATIONS:
        raise AttributeError(f"scale: act: got {act!r}; allowed are {', '.join(ACTIVATIONS)}")
    factor, offset = (v.reshape(()).astype(x.dtype) for v in (scale, bias))
    if bias_after_scale:
        out = x * factor + offset
    else:
        out = (x + offset) * factor
    if act is None:
        return out
    return ACTIVATIONS[act](out)


@composite(cases=["f(1)", "f(), 2.5", "i(1), 2", "f(2)", "d(1,1)"])
def increment(x: Tensor, value: float = 1.0, name: str | None = None) -> Tensor:
    """Adds a number to a one-element tensor in place and returns it.

    Args:
        x: Tensor of one element; it is changed.
        value: number to add, cast to the dtype of x.
    Returns:
        The Tensor x.
    Raises:
        ValueError: x has more than one element.
    Example:
        >>> paddle.increment(paddle.to_tensor([1.0])).tolist()
        [2.0]
    """
    if x.size != 1:
        raise ValueError(f"increment: x: got shape {list(x.shape)}; it must have one element")
    # By `scale`, so that gradients see one operation.
    return x._adopt(scale(x, 1, value))


@known_as(pir="add_n", onnx="Sum(*inputs)")
@op(
    "*inputs",
    cases=[
        "[f(2,3), f(2,3)]",
        "f(2,3)",
        "[f(3)]",
        "[]",
        "[f(2), f(3)]",
        "[f(2), i(2)]",
        "[i(3), i(3), i(3)]",
        "[f(0,2), f(0,2)]",
        "[f(1), f(1,1)]",
        "[i(), i(1)]",
        "[i(1), i()]",
    ],
)
def add_n(inputs: Sequence[jax.Array], name: str | None = None) -> Any:
    """Adds several tensors of one shape and dtype.

    Args:
        inputs: list or tuple of Tensors, or one Tensor. A 0-D one counts as one of shape [1] among such.
    Returns:
        Tensor of that shape and dtype.
    Raises:
        ValueError: the list is empty, or shapes or dtypes differ.
    Example:
        >>> paddle.add_n([paddle.ones([2]), paddle.ones([2])]).tolist()
        [2.0, 2.0]
    """
    if not isinstance(inputs, list):
        return inputs
    shapes = {t.shape for t in inputs}
    kinds = {t.dtype for t in inputs}
    # A number and a vector of one element may be mixed.
    if len(kinds) != 1 or len(shapes) != 1 and shapes != {(), (1,)}:
        raise ValueError(
            f"add_n: inputs: got {[f'{t.dtype}{list(t.shape)}' for t in inputs]}; "
            "give at least one tensor, all of one shape and dtype"
        )
    return ft.reduce(jnp.add, inputs)


@known_as(pir="lerp", onnx="Add(x, Mul(weight, Sub(y, x)))")
# the oracle gives the weight no gradient
@op(
    "x y weight",
    same_dtype=True,
    scalars=True,
    inplace=True,
    cases=[
        "f(2,3), f(2,3), 0.25",
        "~f(3), f(3), f(3)",
        "f(3), f(2,3), 0.5",
        "d(3), d(3), 0.5",
        "f(2), f(3), 0.5",
        "f(), f(), 0.1",
        "~f(3), f(3), const([0.5], 'float32')",
    ],
)
def lerp(x: jax.Array, y: jax.Array, weight: jax.Array, name: str | None = None) -> jax.Array:
    """x + weight * (y - x), with broadcasting.

    Args:
        x, y: Tensors [...].
        weight: number, or Tensor broadcastable with them.
    Returns:
        Tensor of the broadcast shape.
    Raises:
        ValueError: the shapes do not broadcast.
    Example:
        >>> paddle.lerp(paddle.to_tensor([0.0]), paddle.to_tensor([4.0]), 0.25).tolist()
        [1.0]
    """
    check_floating("lerp", x)
    return x + weight.astype(x.dtype) * (y - x)


@known_as(code="elementwise:convert")
@op("x", register=False, method=False)
def to_dtype(x: jax.Array, dtype: DTypeLike) -> jax.Array:
    """Casts to a NumPy dtype: how operators bring an operand to another dtype."""
    return x.astype(dtypes.convert(dtype).np)
