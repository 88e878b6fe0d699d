"""Bitwise operations and shifts of integers and bools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
from jax import lax

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, op
from paddle_jax.tensor.inner import named
from paddle_jax.tensor.math import X_Y

if TYPE_CHECKING:
    import jax
    import numpy as np

    from paddle_jax._core.tensors.tensor import Tensor


BITS = [
    "i(2,3), i(3)",
    "i32(3), i32(3)",
    "b(3), b(3)",
    "u8(3), u8(1)",
    "i(0,3), i(1,3)",
    "i(), i(2)",
    "i(2), i(3)",
    "i(2), i32(2)",
    "f(2), f(2)",
    "i(2), 1",
]


def _checked(name: str, x: jax.Array, y: jax.Array) -> tuple[Any, Any]:
    if x.dtype != y.dtype:
        raise ValueError(
            f"{name}: got {x.dtype} and {y.dtype}; the dtypes must be equal; cast one with astype"
        )
    _integral(name, x)
    return x, y


def _integral(name: str, x: jax.Array) -> None:
    if x.dtype.kind not in "iub":
        raise RuntimeError(f"{name}: got {x.dtype}; allowed are integers and bool")


@known_as(pir="bitwise_and")
@op("x y", register=False, method=False, out=True, nondiff=True)
@named("bitwise_and")
def _and(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.bitwise_and(*_checked("bitwise_and", x, y))


@known_as(pir="bitwise_or")
@op("x y", register=False, method=False, out=True, nondiff=True)
@named("bitwise_or")
def _or(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.bitwise_or(*_checked("bitwise_or", x, y))


@known_as(pir="bitwise_xor")
@op("x y", register=False, method=False, out=True, nondiff=True)
@named("bitwise_xor")
def _xor(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.bitwise_xor(*_checked("bitwise_xor", x, y))


@known_as(pir="bitwise_not")
@op("x", register=False, method=False, out=True, nondiff=True)
@named("bitwise_not")
def _not(x: jax.Array) -> jax.Array:
    _integral("bitwise_not", x)
    return jnp.bitwise_not(x)


def _bits(dtype: np.dtype) -> int:
    return jnp.iinfo(dtype).bits


@known_as(pir="bitwise_left_shift is_arithmetic:bool=True")
@op("x y", register=False, method=False, out=True, nondiff=True)
@named("bitwise_left_shift")
def _left(x: jax.Array, y: jax.Array) -> jax.Array:
    x, y = _checked("bitwise_left_shift", x, y)
    # Processors differ in shifts by the whole word and more; all bits have left it then.
    return jnp.where((y >= 0) & (y < _bits(x.dtype)), jnp.left_shift(x, y), 0)


@known_as(pir="bitwise_right_shift is_arithmetic:bool")
@op("x y", register=False, method=False, out=True, nondiff=True)
@named("bitwise_right_shift")
def _right(x: jax.Array, y: jax.Array, is_arithmetic: bool) -> jax.Array:
    x, y = jnp.broadcast_arrays(*_checked("bitwise_right_shift", x, y))
    inside = (y >= 0) & (y < _bits(x.dtype))
    if not is_arithmetic:
        return jnp.where(inside, lax.shift_right_logical(x, y), 0)
    # A shift out of range leaves the sign alone.
    if jnp.issubdtype(x.dtype, jnp.signedinteger):
        rest = jnp.where(x < 0, -1, 0).astype(x.dtype)
    else:
        rest = 0
    return jnp.where(inside, jnp.right_shift(x, y), rest)


@composite(inplace=True, cases=BITS)
def bitwise_and(x: Tensor, y: Tensor, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """The bits set in both operands, with broadcasting.

    Args:
        x: Tensor [...], integer or bool.
        y: Tensor of the same dtype that broadcasts with x.
        out: Tensor that receives the result.
    Returns:
        Tensor of the broadcast shape.
    Raises:
        ValueError: the dtypes differ or the shapes do not broadcast.
        RuntimeError: the dtype has no bits to speak of.
    Example:
        >>> paddle.bitwise_and(paddle.to_tensor([6]), paddle.to_tensor([3])).tolist()
        [2]
    """
    return _and(x, y, out=out)


@composite(alias=X_Y, inplace=True, cases=BITS)
def bitwise_or(x: Tensor, y: Any, out: Any = None, name: str | None = None) -> Tensor:
    """The bits set in either operand.

    Args:
        x: Tensor [...], integer or bool.
        y: Tensor of the same dtype that broadcasts with x.
        out: Tensor that receives the result.
    Returns:
        Tensor of the broadcast shape.
    Example:
        >>> paddle.bitwise_or(paddle.to_tensor([6]), paddle.to_tensor([3])).tolist()
        [7]
    """
    return _or(x, y, out=out)


@composite(inplace=True, cases=BITS)
def bitwise_xor(x: Tensor, y: Any, out: Any = None, name: str | None = None) -> Tensor:
    """The bits set in exactly one operand.

    Args:
        x: Tensor [...], integer or bool.
        y: Tensor of the same dtype that broadcasts with x.
        out: Tensor that receives the result.
    Returns:
        Tensor of the broadcast shape.
    Example:
        >>> paddle.bitwise_xor(paddle.to_tensor([6]), paddle.to_tensor([3])).tolist()
        [5]
    """
    return _xor(x, y, out=out)


@composite(inplace=True, cases=["i(3)", "b(3)", "u8(3)", "i32()", "f(2)"])
def bitwise_not(x: Tensor, out: Any = None, name: str | None = None) -> Tensor:
    """All bits flipped; for bool the opposite.

    Args:
        x: Tensor [...], integer or bool.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape and dtype.
    Example:
        >>> paddle.bitwise_not(paddle.to_tensor([0, -1])).tolist()
        [-1, 0]
    """
    return _not(x, out=out)


@composite(inplace=True, cases=["i(3)", "b(3)", "u8(3)"])
def bitwise_invert(x: Tensor, out: Any = None, name: str | None = None) -> Tensor:
    """All bits flipped, as `bitwise_not`.

    Args:
        x: Tensor [...], integer or bool.
        out: Tensor that receives the result.
    Returns:
        Tensor of the same shape and dtype.
    Example:
        >>> paddle.bitwise_invert(paddle.to_tensor([0, -1])).tolist()
        [-1, 0]
    """
    return _not(x, out=out)


SHIFTS = [
    "i(3), const([0, 1, 2])",
    "i(3), const([0, 1, 2]), False",
    "i32(4), const([0, 3, 31, 40], 'int32')",
    "u8(3), const([1, 7, 9], 'uint8')",
    "i(2,3), const([1])",
    "i8(3), const([1, 7, 9], 'int8')",
    "i8(3), const([1, 7, 9], 'int8'), False",
    "i(2), i32(2)",
    "f(2), f(2)",
    "i(2), 1",
    "i16(0), i16(0)",
]


@composite(inplace=True, cases=SHIFTS)
def bitwise_left_shift(
    x: Tensor, y: Tensor, is_arithmetic: bool = True, out: Tensor | None = None, name: str | None = None
) -> Tensor:
    """Shifts the bits of x to the left by y places, with broadcasting; what leaves the word is lost.

    Args:
        x: Tensor [...], integer.
        y: Tensor of the same dtype.
        is_arithmetic: no effect on shifts to the left.
        out: Tensor that receives the result.
    Returns:
        Tensor of the broadcast shape.
    Raises:
        ValueError: the dtypes differ.
    Example:
        >>> paddle.bitwise_left_shift(paddle.to_tensor([1, 3]), paddle.to_tensor([2, 1])).tolist()
        [4, 6]
    """
    return _left(x, y, out=out)


@composite(inplace=True, cases=SHIFTS)
def bitwise_right_shift(
    x: Tensor, y: Tensor, is_arithmetic: bool = True, out: Tensor | None = None, name: str | None = None
) -> Tensor:
    """Shifts the bits of x to the right by y places, with broadcasting.

    Args:
        x: Tensor [...], integer.
        y: Tensor of the same dtype.
        is_arithmetic: fill with the sign bit; False fills with zeros.
        out: Tensor that receives the result.
    Returns:
        Tensor of the broadcast shape.
    Raises:
        ValueError: the dtypes differ.
    Example:
        >>> paddle.bitwise_right_shift(paddle.to_tensor([8, -8]), paddle.to_tensor([1, 1])).tolist()
        [4, -4]
    """
    return _right(x, y, is_arithmetic, out=out)


for _shift in (bitwise_left_shift, bitwise_right_shift):
    # with `out`, which the other in-place forms do not show
    _shift.inplace.__signature__ = _shift.op.signature
