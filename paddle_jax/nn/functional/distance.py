"""Norms and distances of vectors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import jax.numpy as jnp

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import op
from paddle_jax.tensor.inner import magnitude

if TYPE_CHECKING:
    import jax


def p_norm(x: jax.Array, p: float, axis: int | None, keepdims: bool = False) -> jax.Array:
    """The p-norm of real x along an axis. Where all elements are 0 its gradient is 0."""
    # |x| with the gradient 0 at 0.
    size = magnitude(x)
    if p == math.inf:
        return jnp.max(size, axis, keepdims=keepdims)
    if p == -math.inf:
        return jnp.min(size, axis, keepdims=keepdims)
    if p == 0:
        return jnp.sum((x != 0).astype(x.dtype), axis, keepdims=keepdims)
    if p == 1:
        return jnp.sum(size, axis, keepdims=keepdims)
    total = jnp.sum(jnp.square(x) if p == 2 else jnp.power(size, p), axis, keepdims=keepdims)
    # The root has an infinite slope at 0, and gets 0. NaN stays NaN.
    some = total != 0
    root = jnp.sqrt if p == 2 else lambda v: jnp.power(v, 1 / p)
    return jnp.where(some, root(jnp.where(some, total, 1)), 0)


@known_as(amp="pnorm", code="reductions:pairwise_distance")
@op(
    "x y",
    method=False,
    promote=True,
    alias={"x1": "x", "x2": "y", "eps": "epsilon"},
    cases=[
        "f(2,3), f(2,3)",
        "f(2,3), f(2,3), 1.0",
        "f(2,3), f(2,3), float('inf'), keepdim=True",
        "f(3), f(3)",
        "f(2,3), f(3)",
        "f(2,3), f(2,3), 0.0",
        "f(2,3), f(2,3), 3.0, 0.1",
        "d(0,3), d(0,3)",
        "f(2,3), f(2,4)",
        "f(), f()",
        "f(), f(), 1.0",
    ],
)
def pairwise_distance(
    x: jax.Array,
    y: jax.Array,
    p: float = 2.0,
    epsilon: float = 1e-6,
    keepdim: bool = False,
    name: str | None = None,
) -> jax.Array:
    """The p-norm of x - y + epsilon along the last axis.

    Args:
        x, y: Tensors [N, D], [D] or []. `x1` and `x2` are accepted as names.
        p: number, which norm.
        epsilon: added to the difference. `eps` is accepted as a name.
        keepdim: keep the last axis with length 1.
    Returns:
        Tensor [N] or 0-D.
    Example:
        >>> paddle.nn.functional.pairwise_distance(paddle.to_tensor([[0.0, 3.0]]),
        ...                                        paddle.to_tensor([[4.0, 0.0]]), epsilon=0.0).tolist()
        [5.0]
    """
    # epsilon keeps equal vectors away from that place.
    difference = x - y + epsilon if epsilon else x - y
    # Vectors without an axis are numbers.
    if not difference.ndim:
        return p_norm(difference, p, None, False)
    return p_norm(difference, p, -1, keepdim)
