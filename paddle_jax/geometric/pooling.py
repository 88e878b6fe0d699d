"""Rows added up, averaged or compared by the number of the row of the result that each belongs to."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.errors import ArgumentError
from paddle_jax._core.op import op
from paddle_jax._core.tensor import Tensor
from paddle_jax.tensor.axes import concrete


@op("x index", register=False, method=False)
def pooled(x, index, count, how):
    """`count` rows: row i is the sum, mean, max or min of the rows of x where index is i; 0 where there are none.

    As in Paddle the gradient of a largest value goes in full to every row that has it.
    """
    if how == "sum":
        return jax.ops.segment_sum(x, index, count)
    sizes = jax.ops.segment_sum(jnp.ones(index.shape, jnp.int32), index, count).reshape(-1, *[1] * (x.ndim - 1))
    if how == "mean":
        total, sizes = jax.ops.segment_sum(x, index, count), jnp.maximum(sizes, 1)
        return total // sizes.astype(x.dtype) if jnp.issubdtype(x.dtype, jnp.integer) else total / sizes.astype(x.dtype)
    still = lax.stop_gradient(x)
    best = jnp.where(sizes > 0, (jax.ops.segment_max if how == "max" else jax.ops.segment_min)(still, index, count), 0)
    if jnp.issubdtype(x.dtype, jnp.integer):
        return best
    return best + jax.ops.segment_sum(jnp.where(still == best[index], x - still, 0), index, count)


def need_tensors(name, **arguments):
    """Refuses what is no Tensor."""
    for argument, value in arguments.items():
        if not isinstance(value, Tensor):
            raise ArgumentError(f"{name}: {argument}: got {type(value).__name__}; give a Tensor")


def need_numbers(name, **arguments):
    """Refuses Tensors of rows, nodes or edges that are not int32 or int64, or of two dtypes."""
    need_tensors(name, **arguments)
    kinds = {argument: value._raw.dtype.name for argument, value in arguments.items()}
    if not set(kinds.values()) <= {"int32", "int64"} or len(set(kinds.values())) > 1:
        raise ArgumentError(f"{name}: got {', '.join(f'{a} of dtype {k}' for a, k in kinds.items())}; they must all be int32 or all int64")


def within(name, argument, index, count):
    """Refuses row numbers outside 0..count - 1, if the values are known."""
    values = concrete(index)
    if values is not None and values.size and not (values.min() >= 0 and values.max() < count):
        raise IndexError(f"{name}: {argument}: got numbers from {values.min()} to {values.max()}; there are {count} rows, use 0..{count - 1}")
    return values


def host(name, **arguments):
    """The values of Tensors that are needed on the host, as NumPy arrays of one axis."""
    need_tensors(name, **arguments)
    return [np.asarray(value.numpy()).reshape(-1) for value in arguments.values()]
