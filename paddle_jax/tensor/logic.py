"""Comparisons, logical and bitwise operations, tests for values."""

import jax.numpy as jnp

from paddle_jax._core.op import op
from paddle_jax.tensor.math import X_Y

COMPARE = ["f(2,3), f(2,3)", "i_(2,3), i_(3)", "f(), f(2)", "f(0,3), f(1,3)", "b(3), b(3)", "f(2,3), f(2,4)", "f(2), i(2)", "i(3), 1"]


@op("x y", promote=True, scalars=True, nondiff=True, inplace=True, out=True, alias=X_Y, cases=[*COMPARE, "c(3), c(3)"])
def equal(x, y, name=None):
    """Tells elementwise whether x equals y, with broadcasting.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        y: Tensor broadcastable with x, or a number. `other` is accepted as a name.
    Returns:
        bool Tensor of the broadcast shape.
    Example:
        >>> paddle.equal(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 3])).tolist()
        [True, False]
    """
    return jnp.equal(x, y)


@op("x y", promote=True, scalars=True, nondiff=True, inplace=True, out=True, alias=X_Y, cases=[*COMPARE, "c(3), c(3)"])
def not_equal(x, y, name=None):
    """Tells elementwise whether x differs from y. Arguments as for `equal`.

    Example:
        >>> paddle.not_equal(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 3])).tolist()
        [False, True]
    """
    return jnp.not_equal(x, y)


@op("x y", promote=True, scalars=True, nondiff=True, inplace=True, out=True, alias=X_Y, cases=COMPARE)
def less_than(x, y, name=None):
    """Tells elementwise whether x < y. Arguments as for `equal`.

    Example:
        >>> paddle.less_than(paddle.to_tensor([1, 2]), paddle.to_tensor([2, 2])).tolist()
        [True, False]
    """
    return jnp.less(x, y)


@op("x y", promote=True, scalars=True, nondiff=True, inplace=True, out=True, alias=X_Y, cases=COMPARE)
def less_equal(x, y, name=None):
    """Tells elementwise whether x <= y. Arguments as for `equal`.

    Example:
        >>> paddle.less_equal(paddle.to_tensor([1, 3]), paddle.to_tensor([2, 2])).tolist()
        [True, False]
    """
    return jnp.less_equal(x, y)


@op("x y", promote=True, scalars=True, nondiff=True, inplace=True, out=True, alias=X_Y, cases=COMPARE)
def greater_than(x, y, name=None):
    """Tells elementwise whether x > y. Arguments as for `equal`.

    Example:
        >>> paddle.greater_than(paddle.to_tensor([1, 3]), paddle.to_tensor([2, 2])).tolist()
        [False, True]
    """
    return jnp.greater(x, y)


@op("x y", promote=True, scalars=True, nondiff=True, inplace=True, out=True, alias=X_Y, cases=COMPARE)
def greater_equal(x, y, name=None):
    """Tells elementwise whether x >= y. Arguments as for `equal`.

    Example:
        >>> paddle.greater_equal(paddle.to_tensor([1, 3]), paddle.to_tensor([2, 2])).tolist()
        [False, True]
    """
    return jnp.greater_equal(x, y)
