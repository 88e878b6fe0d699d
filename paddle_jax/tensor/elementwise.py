"""Less common elementwise functions of two or more tensors."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp

from paddle_jax._core.base.size import index_range
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import check_equal_dtypes, composite, op
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.axes import concrete
from paddle_jax.tensor.inner import named
from paddle_jax.tensor.lowering import copy_sign, mantissa_and_exponent, sign_bit
from paddle_jax.tensor.math import X_Y
from paddle_jax.tensor.ops import as_float

FLOATS = [
    "f(2,3), f(2,3)",
    "f(2,3), f(3)",
    "d(3), d(3)",
    "f(), f(2)",
    "f(0,3), f(1,3)",
    "f(2), f(3)",
    "f(2), i(2)",
    "f(2), d(2)",
]
INTS = [
    "i(2,3), i(3)",
    "i32(4), i32(4)",
    "const([12, 0, -4]), const([18, 0, 6])",
    "i(), i(3)",
    "i(0), i(1)",
    "i(2), i(3)",
    "i(2), i32(2)",
]


@known_as(pir="atan2", code="arithmetic:atan2")
@op("x y", promote=True, cases=[*FLOATS, "i(3), pos_i(3)", "i32(3), pos_i32(3)"])
def atan2(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """The angle of the points (y, x), in -pi..pi.

    Args:
        x: Tensor [...], the ordinates. Integers are taken as float64.
        y: Tensor broadcastable with x, the abscissas.
    Returns:
        Tensor of radians.
    Example:
        >>> round(paddle.atan2(paddle.to_tensor(1.0), paddle.to_tensor(1.0)).item(), 4)
        0.7854
    """
    if not jnp.issubdtype(x.dtype, jnp.floating):
        # Angles of whole numbers are float64, as in Paddle.
        x = x.astype(jnp.float64)
        y = y.astype(jnp.float64)
    return jnp.arctan2(x, y)


@jax.custom_jvp
def _hypot(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.hypot(x, y)


# NaN at the origin, where there is no slope
_hypot.defjvps(lambda t, size, x, y: t * x / size, lambda t, size, x, y: t * y / size)


@known_as(amp="pow", code="arithmetic:hypot")
@op(
    "x y",
    promote=True,
    inplace=True,
    cases=[
        *FLOATS,
        "f(), f()",
        "c(3), pos(3)",
        "i(3), pos_i(3)",
        "const([0.0, 3.0], 'float32'), const([1.0, 4.0], 'float32')",
    ],
)
def hypot(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """sqrt(x^2 + y^2), with broadcasting.

    Args:
        x, y: Tensors [...]; integers are taken as float32.
    Returns:
        Tensor of the broadcast shape.
    Example:
        >>> paddle.hypot(paddle.to_tensor(3.0), paddle.to_tensor(4.0)).item()
        5.0
    """
    if jnp.iscomplexobj(x):
        return jnp.sqrt(x * x + y * y)
    return _hypot(as_float(x), as_float(y))


@known_as(amp="exp", code="arithmetic:logaddexp")
@op(
    "x y",
    promote=True,
    cases=[*FLOATS, "i(3), i(3)", "const([1000.0], 'float32'), const([1000.0], 'float32')"],
)
def logaddexp(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """log(exp(x) + exp(y)) without overflow, with broadcasting.

    Args:
        x, y: Tensors [...]; integers are taken as float32.
    Returns:
        Tensor of the broadcast shape.
    Example:
        >>> round(paddle.logaddexp(paddle.to_tensor(0.0), paddle.to_tensor(0.0)).item(), 4)
        0.6931
    """
    return jnp.logaddexp(as_float(x), as_float(y))


@known_as(pir="heaviside")
@op("x y", cases=[*FLOATS, "i(3), i(3)", "const([-1.0, 0.0, 2.0], 'float32'), f(1)", "i32(3), i32(3)"])
def heaviside(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """0 where x is negative, y where it is 0, 1 where it is positive.

    Args:
        x: Tensor [...].
        y: Tensor of the same dtype that broadcasts with x.
    Returns:
        Tensor of the broadcast shape.
    Raises:
        ValueError: the dtypes differ.
    Example:
        >>> paddle.heaviside(paddle.to_tensor([-1.0, 0.0, 2.0]), paddle.to_tensor([0.5])).tolist()
        [0.0, 0.5, 1.0]
    """
    if x.dtype != y.dtype:
        raise ValueError(
            f"heaviside: got {x.dtype} and {y.dtype}; the dtypes must be equal; cast one with astype"
        )
    # NaN is neither zero nor above it, and gives 0.
    return jnp.where(x == 0, y, (x > 0).astype(x.dtype))


@known_as(pir="copysign", code="arithmetic:copysign")
@op(
    "x y",
    promote="mixed",
    inplace=True,
    scalars="like",
    cases=[
        *FLOATS,
        "f(3), -1.0",
        "i(3), i(3)",
        "i(3), -1.0",
        "i(3), -0.5",
        "b(3), -1",
        "i(3), const(-0.5, 'float32')",
        "f(3), const(-0.5, 'float64')",
        "b(3), const(-1, 'int64')",
        "c(3), c(3)",
        "b(3), b(3)",
        "const([0.0, -0.0], 'float32'), f(2)",
    ],
)
def copysign(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """The magnitude of x with the sign of y.

    Args:
        x: Tensor [...].
        y: Tensor broadcastable with x, or a number.
    Returns:
        Tensor of the broadcast shape.
    Raises:
        RuntimeError: an operand is complex.
    Example:
        >>> paddle.copysign(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([-1.0, 3.0])).tolist()
        [-1.0, 2.0]
    """
    if jnp.iscomplexobj(x):
        raise RuntimeError(f"copysign: got {x.dtype}; it must be real, as complex numbers have no sign")
    if x.dtype == jnp.bool_:
        return x
    if not jnp.issubdtype(x.dtype, jnp.floating):
        # A number has become whole, as in Paddle: -0.5 has no sign then.
        return jnp.where(y < 0, -jnp.abs(x), jnp.abs(x))
    # A factor without a slope: the gradient of x is plus or minus one.
    flip = jax.lax.stop_gradient(jnp.where(sign_bit(x) == sign_bit(y), 1, -1).astype(x.dtype))
    # Paddle's gradient is 0 at 0.
    return jnp.where(x == 0, jax.lax.stop_gradient(copy_sign(x, y)), x * flip)


@known_as(pir="nextafter")
@op("x y", promote=True, nondiff=True, cases=["f(2,3), f(3)", "d(3), d(3)", "f(3), f(2)", "f(0), f(0)"])
def nextafter(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """The next number after x in the direction of y.

    Args:
        x, y: floating Tensors that broadcast.
    Returns:
        Tensor of the broadcast shape.
    Example:
        >>> paddle.nextafter(paddle.to_tensor(1.0), paddle.to_tensor(2.0)).item() > 1
        True
    """
    return jnp.nextafter(x, y)


@known_as(code="elementwise:gcd")
@op("x y", promote=True, nondiff=True, inplace=True, alias=X_Y, cases=INTS)
def gcd(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """The greatest common divisor of integers, with broadcasting; never negative.

    Args:
        x: Tensor [...] of ints. `input` is accepted as a name.
        y: Tensor broadcastable with x. `other` is accepted as a name.
    Returns:
        Tensor of the broadcast shape.
    Raises:
        TypeError: the dtypes differ.
    Example:
        >>> paddle.gcd(paddle.to_tensor([12]), paddle.to_tensor([18])).tolist()
        [6]
    """
    return jnp.gcd(x, y)


@known_as(code="elementwise:lcm")
@op("x y", promote=True, nondiff=True, inplace=True, alias=X_Y, cases=INTS)
def lcm(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """The least common multiple of integers, with broadcasting; 0 where either is 0.

    Args:
        x: Tensor [...] of ints. `input` is accepted as a name.
        y: Tensor broadcastable with x. `other` is accepted as a name.
    Returns:
        Tensor of the broadcast shape.
    Example:
        >>> paddle.lcm(paddle.to_tensor([4]), paddle.to_tensor([6])).tolist()
        [12]
    """
    return jnp.lcm(x, y)


@known_as(code="elementwise:ldexp")
@op(
    "x y",
    inplace=True,
    cases=[
        "f(2,3), i(3)",
        "i(3), i(3)",
        "d(3), i32(3)",
        "i(3), f(3)",
        "f(3), f(3)",
        "f(2), i(3)",
        "f(0), i(0)",
    ],
)
def ldexp(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """x * 2^y, with broadcasting.

    Args:
        x: Tensor [...]. The result is float64 for a float64 x, else float32.
        y: Tensor of exponents.
    Returns:
        Tensor of the broadcast shape.
    Example:
        >>> paddle.ldexp(paddle.to_tensor([1.0, 3.0]), paddle.to_tensor([2, 1])).tolist()
        [4.0, 6.0]
    """
    if jnp.float64 in (x.dtype, y.dtype):
        dtype = jnp.float64
    else:
        dtype = jnp.float32
    return x.astype(dtype) * jnp.exp2(y.astype(dtype))


@known_as(code="elementwise:frexp")
@op(cases=["f(2,3)", "d(3)", "const([10.0, 0.0, -3.0, 0.5], 'float32')", "f(0)", "i(3)", "f()"])
def frexp(x: jax.Array, name: str | None = None) -> tuple[jax.Array, jax.Array]:
    """Splits numbers into mantissas in 0.5..1 (with sign) and powers of two.

    Args:
        x: Tensor [...], float32 or float64.
    Returns:
        (mantissa, exponent), both of x's dtype; x = mantissa * 2^exponent.
    Raises:
        TypeError: x is not floating.
    Example:
        >>> [t.item() for t in paddle.frexp(paddle.to_tensor(10.0))]
        [0.625, 4.0]
    """
    if not jnp.issubdtype(x.dtype, jnp.floating):
        raise TypeError(f"frexp: x: got {x.dtype}; allowed are float32 and float64")
    mantissa, exponent = mantissa_and_exponent(x)
    return mantissa, exponent.astype(x.dtype)


@known_as(pir="multiplex")
@composite(
    cases=[
        "[f(2,3), f(2,3)], const([[0], [1]], 'int32')",
        "[d(2,2), d(2,2), d(2,2)], const([[2], [0]], 'int32')",
        "[f(2,2)], const([[0], [0]], 'int32')",
        "[f(2,2), f(2,2)], const([0, 1], 'int32')",
        "[f(2,2), f(2,2)], const([[0], [1]])",
        "[f(2,2), f(2,2)], const([[0], [2]], 'int32')",
    ]
)
def multiplex(inputs: Sequence[Tensor], index: Tensor, name: str | None = None) -> Tensor:
    """Picks each row from one of several tensors: row i of the result is row i of inputs[index[i]].

    Args:
        inputs: list of at least two Tensors [n, ...] of one shape.
        index: int32 Tensor [n, 1].
    Returns:
        Tensor [n, ...].
    Raises:
        ValueError: fewer than two tensors, or index is not int32.
        RuntimeError: index is not [n, 1] or names a tensor that is not there.
    Example:
        >>> a, b = paddle.zeros([2, 1]), paddle.ones([2, 1])
        >>> paddle.multiplex([a, b], paddle.to_tensor([[1], [0]], "int32")).tolist()
        [[1.0], [0.0]]
    """
    if isinstance(inputs, Tensor) or len(inputs) < 2:
        raise ValueError("multiplex: inputs: got fewer than two tensors; give a list of at least two")
    check_equal_dtypes("multiplex", *inputs)
    if str(numpy_dtype(index)) != "int32":
        raise ValueError(f"multiplex: index: got {numpy_dtype(index)}; it must be int32")
    if index.ndim != 2 or index.shape[0] > inputs[0].shape[0]:
        raise RuntimeError(
            f"multiplex: index: got shape {list(index.shape)}; "
            "it must be [n, 1] with n at most the number of rows"
        )
    known = concrete(index)
    if known is not None and not ((known >= 0) & (known < len(inputs))).all():
        raise RuntimeError(f"multiplex: index: got a number outside 0..{len(inputs) - 1}")
    return _pick_rows(inputs, index)


@known_as(pir="multiplex")
@op("*inputs index", register=False, method=False)
@named("multiplex")
def _pick_rows(inputs: Sequence[jax.Array], index: jax.Array) -> jax.Array:
    # [tensor, row]: one pair for each row of the result.
    return jnp.stack(inputs)[index[:, 0], index_range(index.shape[0])]
