"""Linear maps, similarity, label smoothing; dropout, padding, resizing and unfolding have files of their own."""

import jax.numpy as jnp

from paddle_jax._core.op import op
from paddle_jax.nn.functional.dropout import alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout
from paddle_jax.nn.functional.interpolate import interpolate, upsample
from paddle_jax.nn.functional.pad import pad, zeropad2d


@op("x weight bias", method=False, cases=[
    "f(2,3), f(3,4), f(4)", "f(3), f(3,4), f(4)", "f(2,3), f(3,4)", "d(2,5,3), d(3,4), d(4)", "f(2,3), f(3,4), f(2,4)", "f(2,3), f(4,4)", "f(0,3), f(3,4), f(4)",
    "f(2,0), f(0,4), f(4)", "f(2,3), f(3,4), f(3)", "i(2,3), i(3,4)"])
def linear(x, weight, bias=None, name=None):
    """Computes x @ weight + bias.

    Args:
        x: Tensor [..., in].
        weight: Tensor [in, out].
        bias: Tensor [out], or None.
    Returns:
        Tensor [..., out].
    Raises:
        ValueError: the sizes do not fit.
    Example:
        >>> paddle.nn.functional.linear(paddle.ones([1, 2]), paddle.ones([2, 3]), paddle.ones([3])).tolist()
        [[3.0, 3.0, 3.0]]
    """
    out = jnp.matmul(x, weight)
    return out if bias is None else out + bias
