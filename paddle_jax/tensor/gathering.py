"""Taking elements at indices."""

import jax.numpy as jnp

from paddle_jax._core.op import composite, op
from paddle_jax.tensor.axes import check_index, check_index_dtype, number, one_axis

X_DIM = {"input": "x", "dim": "axis"}


@op("x index", register=False, method=False)
def take_rows(x, index, axis):
    """The slices of x at `index` along `axis`; negative indices count from the end."""
    return jnp.take(x, index, axis=axis, mode="wrap" if x.shape[axis] else "clip")


@composite(out=True, alias={"input": "x", "dim": "axis"},
           cases=["f(4), idx(4,3)", "f(4,2), idx(4,3)", "f(4,2), idx(2,3), 1", "f(4,2), const([1, -1], 'int64')", "f(4,2), const([1, 4], 'int64')", "f(4,2), idx(4)", "f(4,2), idx(4,3,1)", "f(4,2), idx(2,1,2)",
                  "f(4,2), f(2)", "f(4,2), idx(2,1), const(1, 'int64')", "f(4,2), const([], 'int64')", "f(), idx(1,1)", "f(4,2), idx(1,1), 2", "f(4,2,3), idx32(4,6), -3", "i(4), idx(4,2)", "f(3), const([1, 1, 1], 'int64')"])
def gather(x, index, axis=None, name=None):
    """Takes the slices of x at the indices along an axis.

    Args:
        x: Tensor [...].
        index: int32 or int64 Tensor: 0-D, 1-D or [n, 1]. Negative indices count from the end.
        axis: int or Tensor of one int. Default: 0.
    Returns:
        Tensor whose `axis` has the length of the index (and vanishes for a 0-D index).
    Raises:
        IndexError: an index or the axis is out of range.
        ValueError: the index has another dtype or shape.
    Example:
        >>> paddle.gather(paddle.to_tensor([[1, 2], [3, 4], [5, 6]]), paddle.to_tensor([2, 0])).tolist()
        [[5, 6], [1, 2]]
    """
    axis = one_axis("gather", 0 if axis is None else number("gather", axis, "axis"), x.ndim, error=IndexError)
    check_index_dtype("gather", index)
    if index.ndim > 2 or (index.ndim == 2 and index.shape[1] != 1):
        raise ValueError(f"gather: index: got shape {list(index.shape)}; allowed are [], [n], [n, 1]")
    check_index("gather", index, x.shape[axis])
    return take_rows(x, index.reshape([-1]) if index.ndim == 2 else index, axis)
