"""Arithmetic of two tensors."""

import jax.numpy as jnp

from paddle_jax._core import dtype as dtypes
from paddle_jax._core.op import op

X_Y = {"input": "x", "other": "y"}
BINARY = ["f(2,3), f(2,3)", "f(2,3), f(3)", "f(2,1), d(3)", "f(), f(2)", "f(0,3), f(1,3)", "i(2,3), i(3)", "i32(3), i32(3)", "c(3), f(3)", "h(3), h(3)", "f(2,3), f(2,4)",
          "f(2), i(2)", "f(2), 2.0"]


@op("x y", promote=True, inplace=True, out=True, alias=X_Y, cases=[*BINARY, "b(3), b(3)", "f(2,3), f(3), alpha=2"])
def add(x, y, name=None, *, alpha=1):
    """Adds two tensors elementwise: x + alpha * y, with broadcasting.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        y: Tensor broadcastable with x. `other` is accepted as a name.
        alpha: number that y is multiplied with.
    Returns:
        Tensor of the broadcast shape and the promoted dtype.
    Raises:
        ValueError: the shapes do not broadcast.
        TypeError: the dtypes do not promote (integer with float, say).
    Example:
        >>> paddle.add(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).tolist()
        [4.0, 6.0]
    """
    return x + y if alpha == 1 else x + jnp.asarray(alpha, y.dtype) * y


@op("x y", promote=True, inplace=True, out=True, alias=X_Y, cases=[*BINARY, "f(2,3), f(3), alpha=2"])
def subtract(x, y, name=None, *, alpha=1):
    """Subtracts elementwise: x - alpha * y, with broadcasting. Arguments as for `add`.

    Example:
        >>> paddle.subtract(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 5.0])).tolist()
        [-2.0, -3.0]
    """
    return x - y if alpha == 1 else x - jnp.asarray(alpha, y.dtype) * y


@op("x y", promote=True, inplace=True, out=True, alias=X_Y, cases=[*BINARY, "b(3), b(3)"])
def multiply(x, y, name=None):
    """Multiplies two tensors elementwise, with broadcasting. Arguments as for `add`.

    Example:
        >>> paddle.multiply(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 5.0])).tolist()
        [3.0, 10.0]
    """
    return x * y


@op("x y", promote=True, inplace=True, out=True, alias=X_Y, cases=[*BINARY, "f(2,3), pos(3), rounding_mode='floor'", "i(3), pos_i(3), rounding_mode='trunc'"])
def divide(x, y, name=None, *, rounding_mode=None):
    """Divides elementwise, with broadcasting; integers give float32 unless rounded.

    Args:
        x, y: Tensors as for `add`.
        rounding_mode: None, "trunc" (towards zero) or "floor".
    Raises:
        ValueError: rounding_mode is something else, or the shapes do not broadcast.
    Example:
        >>> paddle.divide(paddle.to_tensor([1, 4]), paddle.to_tensor([2, 2])).tolist()
        [0.5, 2.0]
    """
    if rounding_mode == "floor":
        return jnp.floor_divide(x, y)
    if rounding_mode == "trunc":
        return jnp.trunc(x / y).astype(x.dtype)
    if rounding_mode is not None:
        raise ValueError(f"divide: rounding_mode: got {rounding_mode!r}; allowed are None, 'trunc', 'floor'")
    return x.astype(jnp.float32) / y.astype(jnp.float32) if jnp.issubdtype(x.dtype, jnp.integer) else x / y


@op("x y", promote=True, inplace=True, out=True, alias=X_Y, scalars=True, cases=["f(2,3), pos(2,3)", "i(2,3), pos_i(3)", "i32(3), pos_i32(3)", "f(0,3), f(1,3)", "f(2), i(2)"])
def floor_divide(x, y, name=None):
    """Divides elementwise and rounds towards minus infinity. Arguments as for `add`; y may be a number.

    Example:
        >>> paddle.floor_divide(paddle.to_tensor([7, -7]), paddle.to_tensor([2, 2])).tolist()
        [3, -4]
    """
    return jnp.floor_divide(x, y)


@op("x y", promote=True, inplace=True, out=True, alias=X_Y, scalars=True, cases=["f(2,3), pos(2,3)", "i(2,3), pos_i(3)", "i32(3), pos_i32(3)", "f(3), -2.5", "f(0,3), f(1,3)"])
def remainder(x, y, name=None):
    """The rest of the floor division, with the sign of the divisor. Arguments as for `add`; y may be a number.

    Example:
        >>> paddle.remainder(paddle.to_tensor([7, -7]), paddle.to_tensor([4, 4])).tolist()
        [3, 1]
    """
    return jnp.remainder(x, y)


@op("x y", promote=True, scalars=True, inplace=True, out=True, alias={"input": "x", "exponent": "y"},
    cases=["pos(2,3), f(3)", "f(3), 2", "f(3), 3.0", "pos(3), 0.5", "f(3), 0", "i(3), 2", "pos(2), i(2)", "f(0,2), 2.0", "pos_d(3), d(3)"])
def pow(x, y, name=None):
    """Raises x to the power y elementwise.

    Args:
        x: Tensor [...].
        y: Tensor broadcastable with x, or a number (an integer x stays an integer).
    Returns:
        Tensor of the broadcast shape.
    Example:
        >>> paddle.pow(paddle.to_tensor([1.0, 2.0, 3.0]), 2).tolist()
        [1.0, 4.0, 9.0]
    """
    return _power(x, y)


def _power(x, y):
    return jnp.power(x, y)


@op("input other", promote=True, scalars=True, out=True, cases=["f(2,3), pos(3)", "i(3), pos_i(3)", "i32(3), pos_i32(3)", "f(3), d(3)"])
def true_divide(input, other):
    """Divides elementwise, with broadcasting; integers give float32. What the operator / computes.

    Example:
        >>> paddle.true_divide(paddle.to_tensor([1, 4]), paddle.to_tensor([2, 2])).tolist()
        [0.5, 2.0]
    """
    return input.astype(jnp.float32) / other.astype(jnp.float32) if jnp.issubdtype(input.dtype, jnp.integer) else input / other


@op("x", register=False, method=False)
def to_dtype(x, dtype):
    """Casts to a NumPy dtype: how operators bring an operand to another dtype."""
    return x.astype(dtypes.convert(dtype).np)
