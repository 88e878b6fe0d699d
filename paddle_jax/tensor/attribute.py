"""What a tensor is: shape, rank, kind of dtype, parts of complex numbers; broadcast shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.base.size import are_known
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.inner import as_view, named

if TYPE_CHECKING:
    import jax

    from paddle_jax._core.base.dtype import DType


@known_as(pir="shape64", code="shapes:shape", onnx="Shape")
@op("input", method=False, nondiff=True, cases=["f(2,3)", "f()", "f(0,2)", "c(3)", "3"])
def shape(input: jax.Array) -> jax.Array:
    """The lengths of the axes as an int64 Tensor. `Tensor.shape` is the same as a list.

    Args:
        input: Tensor [...].
    Returns:
        int64 Tensor [ndim].
    Example:
        >>> paddle.shape(paddle.ones([2, 3])).tolist()
        [2, 3]
    """
    if are_known(*input.shape):
        return jnp.asarray(np.array(input.shape, np.int64))
    return jnp.stack([jnp.asarray(n, np.int64) for n in input.shape])


@composite(cases=["f(2,3)", "f()", "i(2)", "3"])
def rank(input: Any) -> Tensor:
    """The number of axes as an int32 Tensor [].

    Args:
        input: Tensor [...].
    Returns:
        int32 Tensor [].
    Example:
        >>> paddle.rank(paddle.ones([2, 3])).item()
        2
    """
    if isinstance(input, Tensor):
        return _rank(input)
    return _rank_of_other(input)


@known_as(code="shapes:rank")
@op("input", register=False, method=False, nondiff=True)
@named("rank")
def _rank(input: jax.Array) -> jax.Array:
    return jnp.asarray(input.ndim, jnp.int32)


def _rank_of_other(value: int) -> NoReturn:
    raise AttributeError(f"rank: input: got {type(value).__name__}; it must be a Tensor")


@known_as(pir="numel", onnx="Size")
@op(nondiff=True, cases=["f(2,3)", "f()", "f(0,2)", "3"])
def numel(x: jax.Array, name: str | None = None) -> jax.Array:
    """The number of elements as an int64 Tensor [].

    Args:
        x: Tensor [...].
    Returns:
        int64 Tensor [].
    Example:
        >>> paddle.numel(paddle.ones([2, 3])).item()
        6
    """
    return jnp.asarray(x.size, jnp.int64)


def _kind(name: str, x: Tensor | int) -> DType:
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}: x: got {type(x).__name__}; it must be a Tensor")
    return x.dtype


@composite(alias={"input": "x"}, cases=["c(2)", "f(2)", "3"])
def is_complex(x: Any) -> bool:
    """Tells whether the dtype is complex64 or complex128, as a Python bool. `input` is accepted as a name.

    Args:
        x: Tensor [...].
    Returns:
        bool.
    Raises:
        TypeError: x is not a Tensor.
    Example:
        >>> paddle.is_complex(paddle.to_tensor([1j]))
        True
    """
    return _kind("is_complex", x).is_complex


@composite(cases=["i(2)", "u8(2)", "f(2)", "b(2)", "3"])
def is_integer(x: Any) -> bool:
    """Tells whether the dtype is an integer type, as a Python bool; False for bool.

    Args:
        x: Tensor [...].
    Returns:
        bool.
    Raises:
        TypeError: x is not a Tensor.
    Example:
        >>> paddle.is_integer(paddle.to_tensor([1]))
        True
    """
    return _kind("is_integer", x).is_integer


@composite(alias={"input": "x"}, cases=["f(2)", "h(2)", "bf(2)", "i(2)", "c(2)", "3"])
def is_floating_point(x: Any) -> bool:
    """Tells whether the dtype is a floating type, as a Python bool. `input` is accepted as a name.

    Args:
        x: Tensor [...].
    Returns:
        bool.
    Raises:
        TypeError: x is not a Tensor.
    Example:
        >>> paddle.is_floating_point(paddle.to_tensor([1.0]))
        True
    """
    return _kind("is_floating_point", x).is_floating


def _with_real(base: jax.Array, value: jax.Array) -> jax.Array:
    if jnp.iscomplexobj(base):
        return lax.complex(value, base.imag)
    return value


def _with_imag(base: jax.Array, value: jax.Array) -> jax.Array:
    if jnp.iscomplexobj(base):
        return lax.complex(base.real, value)
    return base


@known_as(pir="real")
@op(view=as_view(_with_real), cases=["c(2,3)", "c128(3)", "c()", "c(0,2)"])
def real(x: jax.Array, name: str | None = None) -> jax.Array:
    """The real parts of complex numbers; real numbers stay as they are.

    Args:
        x: Tensor [...].
    Returns:
        Tensor of the same shape, float32 for complex64, float64 for complex128.
    Example:
        >>> paddle.real(paddle.to_tensor([1 + 2j])).tolist()
        [1.0]
    """
    return jnp.real(x)


@known_as(pir="imag")
@op(view=as_view(_with_imag), cases=["c(2,3)", "c128(3)", "c()", "c(0,2)"])
def imag(x: jax.Array, name: str | None = None) -> jax.Array:
    """The imaginary parts of complex numbers.

    Args:
        x: Tensor [...].
    Returns:
        Tensor of the same shape, float32 for complex64, float64 for complex128.
    Example:
        >>> paddle.imag(paddle.to_tensor([1 + 2j])).tolist()
        [2.0]
    """
    return jnp.imag(x)


@known_as(pir="conj")
@op(cases=["c(2,3)", "c128(3)", "f(3)", "i(3)", "c()", "c(0,2)"])
def conj(x: jax.Array, name: str | None = None) -> jax.Array:
    """Complex conjugates; real numbers stay as they are.

    Args:
        x: Tensor [...], any numeric dtype.
    Returns:
        Tensor of the shape and dtype of x.
    Example:
        >>> paddle.conj(paddle.to_tensor([1 + 2j])).tolist()
        [(1-2j)]
    """
    return jnp.conj(x)


@known_as(pir="angle")
@op(
    cases=[
        "c(2,3)",
        "c128(3)",
        "f(3)",
        "d(3)",
        "const([0j, 1j, -1], 'complex64')",
        "const([0.0, -1.0], 'float32')",
        "c(0,2)",
    ]
)
def angle(x: jax.Array, name: str | None = None) -> jax.Array:
    """The angle of complex numbers in radians, in -pi..pi; pi for negative real numbers, 0 for others.

    Args:
        x: Tensor [...], floating or complex.
    Returns:
        Real Tensor of the same shape.
    Example:
        >>> round(paddle.angle(paddle.to_tensor([1j])).item(), 4)
        1.5708
    """
    if not jnp.iscomplexobj(x):
        # A comparison with NaN is false, which would give 0.
        return jnp.where(jnp.isnan(x), x, jnp.where(x < 0, jnp.asarray(np.pi, x.dtype), 0))
    # At 0 the gradient of arctan2 is NaN; at (0, 1) the angle is 0 too.
    zero = x == 0
    return jnp.arctan2(jnp.where(zero, 0, jnp.imag(x)), jnp.where(zero, 1, jnp.real(x)))


@known_as(cast="float32", pir="complex")
@op(
    "real imag",
    method=False,
    out=True,
    cases=[
        "f(2,3), f(2,3)",
        "d(3), d(3)",
        "f(2,1), f(3)",
        "f(2), d(2)",
        "f(), f()",
        "f(0), f(0)",
        "f(2), f(3)",
    ],
)
def complex(real: jax.Array, imag: jax.Array, name: str | None = None) -> jax.Array:
    """Complex numbers from real and imaginary parts, with broadcasting.

    Args:
        real, imag: Tensors of one dtype, float32 or float64.
        out: Tensor that receives the result.
    Returns:
        complex64 or complex128 Tensor.
    Raises:
        ValueError: the dtypes differ or the shapes do not broadcast.
    Example:
        >>> paddle.complex(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])).tolist()
        [(1+2j)]
    """
    if real.dtype != imag.dtype:
        raise ValueError(f"complex: got {real.dtype} and {imag.dtype}; the dtypes must be equal")
    return lax.complex(*jnp.broadcast_arrays(real, imag))


@known_as(cast="float32", code="elementwise:polar")
@op(
    "abs angle",
    promote=True,
    out=True,
    cases=[
        "pos(2,3), f(2,3)",
        "pos_d(3), d(3)",
        "f(2,1), f(3)",
        "i(2), f(2)",
        "i(2), i(2)",
        "f(), f()",
        "f(0), f(0)",
    ],
)
def polar(abs: jax.Array, angle: jax.Array, name: str | None = None) -> jax.Array:
    """Complex numbers from moduli and angles in radians, with broadcasting.

    Args:
        abs, angle: floating Tensors.
        out: Tensor that receives the result.
    Returns:
        complex64 or complex128 Tensor.
    Raises:
        TypeError: the operands are not floating.
    Example:
        >>> paddle.polar(paddle.to_tensor([2.0]), paddle.to_tensor([0.0])).tolist()
        [(2+0j)]
    """
    if not jnp.issubdtype(abs.dtype, jnp.floating):
        raise TypeError(f"polar: got {abs.dtype}; allowed are float32 and float64")
    return lax.complex(*jnp.broadcast_arrays(abs * jnp.cos(angle), abs * jnp.sin(angle)))


_UNKNOWN = -1  # as shapes of static programs have it


def common_shape(shapes: Sequence[Sequence[Any]]) -> list[Any]:
    """The shape to which shapes broadcast. Lengths that are not known stay expressions.

    NumPy takes no such lengths, and JAX keeps shapes in a cache, where a length equals its number. -1 is a
    length of which nothing is known.

    Raises:
        ValueError: the shapes do not broadcast.
    """
    rank = max(map(len, shapes), default=0)
    result = []
    for axis in range(-rank, 0):
        longest = 1
        for shape in shapes:
            length = shape[axis] if len(shape) >= -axis else 1
            if longest == 1 or longest == _UNKNOWN and length != 1:
                longest = length
            elif length not in (1, longest, _UNKNOWN):
                raise ValueError(f"lengths {longest} and {length} of axis {axis} do not broadcast")
        result.append(longest)
    return result


def _broadcast(name: str, shapes: Sequence[Any]) -> list[Any]:
    plain = [[n if is_length(n) else max(int(n), _UNKNOWN) for n in shape] for shape in shapes]
    try:
        return common_shape(plain)
    except ValueError as error:
        raise ValueError(f"{name}: got {[list(s) for s in shapes]}; the shapes do not broadcast") from error


@composite(
    cases=[
        "[2, 1], [3]",
        "[2, 1], [4, 3]",
        "[2], [3]",
        "[], [2]",
        "[2, 3], [1, 3]",
        "[-1, 3], [2, 1]",
        "[-1, 1], [5]",
        "[0], [-1]",
    ]
)
def broadcast_shape(x_shape: Any, y_shape: Any) -> list[int]:
    """The shape that two shapes broadcast to, as a list.

    Args:
        x_shape, y_shape: lists of ints; -1 for a length that is not known.
    Returns:
        list of ints.
    Raises:
        ValueError: the shapes do not broadcast.
    Example:
        >>> paddle.broadcast_shape([2, 1], [3])
        [2, 3]
    """
    return _broadcast("broadcast_shape", [x_shape, y_shape])


@composite(cases=["[2, 1], [3], [1]", "[2]", "[2], [3]", "[4, 1], [1, 5], [5]"])
def broadcast_shapes(*shapes: Any) -> list[int]:
    """The shape that several shapes broadcast to, as a list.

    Returns:
        list of ints.
    Raises:
        ValueError: the shapes do not broadcast.
    Example:
        >>> paddle.broadcast_shapes([2, 1], [3], [1])
        [2, 3]
    """
    return _broadcast("broadcast_shapes", shapes)
