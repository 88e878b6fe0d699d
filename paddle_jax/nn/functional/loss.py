"""Losses of predictions and targets."""

import jax.numpy as jnp

from paddle_jax._core.op import op
from paddle_jax.nn.functional.classification import cross_entropy
from paddle_jax.nn.functional.reduce_loss import reduced

PAIR = ["f(2,3), f(2,3)", "f(2,3), f(2,3), 'none'", "f(2,3), f(2,3), reduction='sum'", "d(2,3), d(2,3)", "f(), f()", "f(0,3), f(0,3)", "f(2,3), f(2,3), 'x'"]


@op("input label", method=False, promote=True, cases=[*PAIR, "f(2,3), f(3)", "i(2,3), i(2,3)", "f(2,3), f(2,4)"])
def mse_loss(input, label, reduction="mean", name=None):
    """Squared difference of input and label.

    Args:
        input: Tensor [...].
        label: Tensor broadcastable with input.
        reduction: "mean", "sum" or "none".
    Returns:
        Tensor: 0-D, or of the broadcast shape for "none".
    Raises:
        ValueError: reduction is something else.
    Example:
        >>> paddle.nn.functional.mse_loss(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 4.0])).item()
        2.0
    """
    return reduced("mse_loss", jnp.square(input - label), reduction)
