"""Softmax and its relatives."""

from __future__ import annotations

import functools as ft
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax import lax

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, op

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


CASES = [
    "f(2,3)",
    "f(2,3), 0",
    "d(2,3), axis=-2",
    "f()",
    "f(0,3)",
    "f(2,0)",
    "f(2,3), 2",
    "f(2,3), dtype='float64'",
    "const([1000.0, 0.0, -1000.0], 'float32')",
    "f(2,3), -3",
    "i(3), dtype='float32'",
    "i(3)",
]


def _prepare(op_name: str, x: jax.Array, axis: int, dtype: Any) -> tuple[jax.Array, Any]:
    if dtype is not None:
        x = x.astype(dtypes.convert(dtype).np)
    if isinstance(axis, float):
        raise ArgumentError(f"{op_name}: axis: got {axis}; it must be an int")
    # A number has no axis, but Paddle takes these two for it.
    if x.ndim == 0 and axis in (-1, 0):
        return x, None
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(
            f"{op_name}: axis={axis} is out of range for x of shape {list(x.shape)}; "
            f"use {-x.ndim}..{x.ndim - 1}"
        )
    if not jnp.issubdtype(x.dtype, jnp.floating):
        raise RuntimeError(f"{op_name}: x: got {x.dtype}; it must be floating; pass dtype='float32'")
    return x, axis


@known_as(pir="softmax(x:out) axis:i32", onnx="Softmax axis")
@op(alias={"input": "x", "dim": "axis"}, method=False, inplace=True, out=True, cases=CASES)
def softmax(x: jax.Array, axis: int = -1, dtype: Any = None, name: str | None = None) -> jax.Array:
    """Computes exp(x) / sum(exp(x)) along an axis, without overflow.

    Args:
        x: Tensor [...], floating. `input` is accepted as a name.
        axis: int. `dim` is accepted as a name.
        dtype: x is cast to this dtype first. Default: that of x.
        out: Tensor that receives the result.
    Returns:
        Tensor of the shape of x; it sums to 1 along axis.
    Raises:
        ValueError: axis is out of range.
    Example:
        >>> paddle.nn.functional.softmax(paddle.to_tensor([1.0, 1.0])).tolist()
        [0.5, 0.5]
    """
    x, axis = _prepare("softmax", x, axis, dtype)
    if axis is None:
        # The softmax of a number is 1.
        return jnp.ones_like(x)
    return _shares(x, axis)


def _row(reduced: jax.Array, like: jax.Array, axis: int) -> jax.Array:
    """What was reduced over an axis, with that axis as long as in another array."""
    kept = tuple([i for i in range(like.ndim) if i != axis % like.ndim])
    return lax.broadcast_in_dim(reduced, like.shape, kept)


@ft.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _shares(x: jax.Array, axis: int) -> jax.Array:
    """`jax.nn.softmax` in a third of the calls, which cost more to trace than all the rest."""
    axis %= x.ndim
    # The largest element is taken away first, so that exp cannot overflow.
    powers = lax.exp(lax.sub(x, _row(lax.reduce_max(x, (axis,)), x, axis)))
    return lax.div(powers, _row(lax.reduce_sum(powers, (axis,)), x, axis))


@_shares.defjvp
def _shares_tangent(
    axis: int, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[jax.Array, jax.Array]:
    y, (dx,) = _shares(*primals, axis), tangents
    # dy = y * (dx - sum(y dx)): the result is used, not the input.
    return y, lax.mul(y, lax.sub(dx, _row(lax.reduce_sum(lax.mul(y, dx), (axis % y.ndim,)), y, axis)))


def log_shares(x: jax.Array, axis: int) -> jax.Array:
    """`jax.nn.log_softmax`, in half of the calls."""
    axis %= x.ndim
    most = lax.stop_gradient(lax.reduce_max(x, (axis,)))
    # A row of -inf alone would give -inf - -inf.
    shifted = lax.sub(x, _row(lax.select(lax.is_finite(most), most, lax.full_like(most, 0)), x, axis))
    return lax.sub(shifted, _row(lax.log(lax.reduce_sum(lax.exp(shifted), (axis,))), x, axis))


# The real Paddle stops logarithms at -64.
@known_as(pir="log_softmax(x:out) axis:i32", onnx="LogSoftmax axis")
@op(method=False, cases=["~" + case if "1000" in case else case for case in CASES])
def log_softmax(x: jax.Array, axis: int = -1, dtype: Any = None, name: str | None = None) -> jax.Array:
    """Computes the logarithm of `softmax`, without overflow.

    Args:
        x: Tensor [...], floating. `input` is accepted as a name.
        axis: int. `dim` is accepted as a name.
        dtype: x is cast to this dtype first. Default: that of x.
    Returns:
        Tensor of the shape of x.
    Example:
        >>> [round(v, 4) for v in paddle.nn.functional.log_softmax(paddle.to_tensor([1.0, 1.0])).tolist()]
        [-0.6931, -0.6931]
    """
    x, axis = _prepare("log_softmax", x, axis, dtype)
    if axis is None:
        return jnp.zeros_like(x)
    return log_shares(x, axis)


@known_as(pir="gumbel_softmax temperature:f32 hard:bool axis:i32")
@op(
    random=True,
    method=False,
    cases=["~f(2,3)", "~f(2,3), 0.5, axis=0", "~f(2,3), hard=True", "~d(3)", "f(2,3), axis=2", "f(2,3), 0.0"],
)
def gumbel_softmax(
    x: jax.Array,
    temperature: float = 1.0,
    hard: bool = False,
    axis: int = -1,
    name: str | None = None,
    *,
    key: jax.Array,
) -> jax.Array:
    """Draws from a relaxed categorical distribution with logits x: softmax((x + Gumbel noise) / temperature).

    Args:
        x: Tensor [...], floating: logits along axis.
        temperature: positive number; small values come close to one-hot.
        hard: return the one-hot vector of the maximum, with the gradient of the soft one.
        axis: int.
    Returns:
        Tensor of the same shape.
    Raises:
        ValueError: axis is out of range or temperature is not positive.
    Example:
        >>> paddle.nn.functional.gumbel_softmax(paddle.zeros([2, 3]), hard=True).sum(-1).tolist()
        [1.0, 1.0]

    See: Jang et al., Categorical Reparameterization with Gumbel-Softmax, 2016.
    """
    if temperature <= 0:
        raise ValueError(f"gumbel_softmax: temperature: got {temperature}; it must be positive")
    x, axis = _prepare("gumbel_softmax", x, axis, None)
    if axis is None:
        return jnp.ones_like(x)
    soft = jax.nn.softmax((x + jax.random.gumbel(key, x.shape, x.dtype)) / temperature, axis)
    if not hard:
        return soft
    # Straight through: the value is one-hot, the gradient that of the soft form.
    one = jax.nn.one_hot(jnp.argmax(soft, axis), x.shape[axis], dtype=x.dtype, axis=axis)
    # The difference comes first: it is exactly 0.
    return one + (soft - jax.lax.stop_gradient(soft))


@composite(register=False, method="softmax")
def tensor_softmax(
    input: Tensor, dim: int | None = None, dtype: Any = None, *, out: Tensor | None = None
) -> Tensor:
    """Computes the softmax along `dim`: the form of `nn.functional.softmax` that is `paddle.softmax` and
    `Tensor.softmax`.

    Args:
        input: Tensor [...], floating.
        dim: int. Default: axis 0 of tensors of 0, 1 or 3 axes, otherwise axis 1.
        dtype: input is cast to this dtype first.
        out: Tensor that receives the result.
    Returns:
        Tensor of the shape of input; it sums to 1 along dim.
    Example:
        >>> paddle.to_tensor([1.0, 1.0]).softmax().tolist()
        [0.5, 0.5]
    """
    if dim is None:
        # torch's rule for an axis that is not given.
        dim = 0 if input.ndim in (0, 1, 3) else 1
    return softmax(input, dim, dtype, out=out)
