"""Functions whose results have a size given beforehand: for compiled functions, where a shape cannot hang on values. Ours; Paddle has none.

What is more than `size` is left out, what is missing is filled up, so the shape is known without the values.

    >>> paddle.bounded.nonzero(paddle.to_tensor([0, 3, 4]), size=3).tolist()
    [[1], [2], [0]]
"""

import jax.numpy as jnp

from paddle_jax._core.op import op

__all__ = ["masked_select", "nonzero", "unique"]


def _checked(name, size):
    if size < 0:
        raise ValueError(f"bounded.{name}: size: got {size}; it must be at least 0")
    return size


@op(method=False, register=False, nondiff=True)
def nonzero(x, size, fill_value=0):
    """The indices of the first `size` elements that are not zero.

    Args:
        x: Tensor of at least one axis.
        size: int, the number of rows of the result.
        fill_value: int, what rows without an element hold.
    Returns:
        int64 Tensor [size, x.ndim].
    Raises:
        ValueError: size is negative or x is 0-D.
    Example:
        >>> paddle.bounded.nonzero(paddle.to_tensor([0, 3, 4]), 3, fill_value=-1).tolist()
        [[1], [2], [-1]]
    """
    if x.ndim == 0:
        raise ValueError("bounded.nonzero: x: got a 0-D tensor; it needs at least one axis")
    return jnp.stack(jnp.nonzero(x, size=_checked("nonzero", size), fill_value=fill_value), 1)


@op("x mask", method=False, register=False)
def masked_select(x, mask, size, fill_value=0):
    """The first `size` elements where a mask is True.

    Args:
        x: Tensor.
        mask: bool Tensor that broadcasts with x.
        size: int, the number of elements of the result.
        fill_value: number, what stands where no element is left.
    Returns:
        Tensor [size], dtype of x.
    Raises:
        ValueError: size is negative or the shapes do not broadcast.
    Example:
        >>> x = paddle.to_tensor([1.0, -2.0, 3.0])
        >>> paddle.bounded.masked_select(x, x > 0, 3).tolist()
        [1.0, 3.0, 0.0]
    """
    x, mask = jnp.broadcast_arrays(x, mask)
    places = jnp.flatnonzero(mask, size=_checked("masked_select", size), fill_value=x.size)
    return x.ravel().at[places].get(mode="fill", fill_value=0) + jnp.where(places == x.size, fill_value, 0).astype(x.dtype)


@op(method=False, register=False, nondiff=True)
def unique(x, size, fill_value=None):
    """The first `size` distinct elements in ascending order, and how often each occurs.

    Args:
        x: Tensor.
        size: int, the number of elements of the result.
        fill_value: number, what stands where no element is left. Default: the least element.
    Returns:
        (Tensor [size] of the dtype of x, int64 Tensor [size] of counts; 0 where no element is left).
    Raises:
        ValueError: size is negative.
    Example:
        >>> values, counts = paddle.bounded.unique(paddle.to_tensor([3, 1, 3]), 3, fill_value=0)
        >>> values.tolist(), counts.tolist()
        ([1, 3, 0], [1, 2, 0])
    """
    return tuple(jnp.unique(x.ravel(), size=_checked("unique", size), fill_value=fill_value, return_counts=True))
