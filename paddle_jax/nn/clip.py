"""Gradient clipping. Optimizers run these rules inside their compiled update; calling an object does the same
to a list of pairs."""

from __future__ import annotations

import functools as ft
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import wrap

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


class ClipGradBase:
    """The base class of gradient clipping. A subclass defines `_dygraph_clip(params_grads)` or `__call__`,
    which returns the clipped pairs."""

    _in_place = False  # whether the given gradients themselves become the clipped ones

    def __call__(self, params_grads: Sequence[tuple[Tensor, Tensor | None]]) -> list[tuple[Tensor, Tensor]]:
        """Returns the pairs with clipped gradients. Pairs without a gradient are left out; `need_clip=False`
        leaves one as it is."""
        return self._dygraph_clip(params_grads)

    def _dygraph_clip(
        self, params_grads: Sequence[tuple[Tensor, Tensor | None]]
    ) -> list[tuple[Tensor, Tensor]]:
        pairs = [(param, grad) for param, grad in params_grads if grad is not None]
        chosen = [grad._value for param, grad in pairs if getattr(param, "need_clip", True)]
        # Parameters that need no clipping keep their gradients.
        clipped = iter(clip_all(self.rule(), chosen) if chosen else ())
        return [
            (param, self._clipped(grad, next(clipped)) if getattr(param, "need_clip", True) else grad)
            for param, grad in pairs
        ]

    def _clipped(self, grad: Any, value: Any) -> Tensor:
        if not self._in_place:
            return wrap(value)
        grad._rebind(value)
        return grad


@ft.partial(jax.jit, static_argnums=0)
def clip_all(rule: tuple[Any, ...], grads: Any) -> list[jax.Array]:
    """Clips gradients by a rule. By "global_norm" they get one factor, by "norm" and "value" each its own."""
    kind, *limits = rule
    if kind == "global_norm":
        # One factor for all gradients.
        scale = global_scale(sum(square_sum(g) for g in grads), limits[0])
        return [(g * scale.astype(g.dtype)) for g in grads]
    return [clip_stack(rule, g[None])[0] for g in grads]


def square_sum(grad: Any) -> jax.Array:
    """The sum of the squares, in float32 at least."""
    # Squares of half precision overflow.
    wide = grad.astype(jnp.promote_types(grad.dtype, jnp.float32))
    return jnp.sum(wide * wide)


def _squared_l2_norm(x: Tensor) -> Tensor:
    """The sum of the squares of a Tensor [1], in its dtype, float32 for float16 and bfloat16. For code that
    clips by itself.

    Example:
        >>> paddle.nn.clip._squared_l2_norm(paddle.ones([2, 3])).item()
        6.0
    """
    if str(numpy_dtype(x)) in ("float16", "bfloat16"):
        # Sums of squares lose their digits in half precision.
        wide = x.astype("float32")
    else:
        wide = x
    return (wide * wide).sum().reshape([1])


def global_scale(total: jax.Array, clip_norm: float) -> jax.Array:
    """The factor on all gradients for their common sum of squares: clip_norm / max(norm, clip_norm)."""
    # 1 where the norm is below the limit.
    return clip_norm / jnp.maximum(jnp.sqrt(total), clip_norm)


def clip_stack(rule: tuple[Any, ...], grads: jax.Array) -> jax.Array:
    """Clips a stack [k, ...] of gradients each for itself, by value or by norm."""
    kind, *limits = rule
    if kind == "value":
        return jnp.clip(grads, limits[0], limits[1])
    wide = grads.astype(jnp.promote_types(grads.dtype, jnp.float32))
    norm = jnp.sqrt(jnp.sum(wide * wide, axis=tuple(range(1, grads.ndim)), keepdims=True))
    # Only gradients that are too long become shorter.
    return jnp.where(norm > limits[0], wide * (limits[0] / norm), wide).astype(grads.dtype)


class ClipGradByValue(ClipGradBase):
    """Limits every element of every gradient to [min, max].

    Args:
        max: float, the upper limit.
        min: float, the lower limit. Default None: `-max`, and `max` must be positive then.
    Raises:
        AssertionError: `min` is None and `max` not positive.
    Example:
        >>> weight = paddle.nn.Linear(1, 2).weight
        >>> clip = paddle.nn.ClipGradByValue(1.0)
        >>> clip([(weight, paddle.to_tensor([[3.0, -0.5]]))])[0][1].tolist()
        [[1.0, -0.5]]
    """

    def __init__(self, max: float, min: float | None = None) -> None:
        if min is None:
            # A limit alone holds on both sides of zero, so it must be positive.
            if not max > 0.0:
                raise AssertionError(f"ClipGradByValue: max: got {max}; without min it must be positive.")
            min = -max
        self.max: float = float(max)
        self.min: float = float(min)

    def __str__(self) -> str:
        return f"Clip Gradient By Value, min = {self.min:f}, max={self.max:f}"

    def rule(self) -> tuple[Any, ...]:
        """The rule as a hashable tuple."""
        return "value", self.min, self.max


class ClipGradByNorm(ClipGradBase):
    """Scales every gradient whose L2 norm is larger than `clip_norm` down to it, each for itself.

    Args:
        clip_norm: float, the largest norm.
    Example:
        >>> weight = paddle.nn.Linear(1, 2).weight
        >>> clip = paddle.nn.ClipGradByNorm(5.0)
        >>> clip([(weight, paddle.to_tensor([[6.0, 8.0]]))])[0][1].tolist()
        [[3.0, 4.0]]
    """

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm: float = float(clip_norm)

    def __str__(self) -> str:
        return f"Gradient Clip By Norm, clip_norm={self.clip_norm:f}"

    def rule(self) -> tuple[Any, ...]:
        """The rule as a hashable tuple."""
        return "norm", self.clip_norm


class ClipGradByGlobalNorm(ClipGradBase):
    """Scales all gradients by one factor so that their common L2 norm is at most `clip_norm`. The gradients
    themselves change: after `optimizer.step()` every `p.grad` is the clipped one.

    Args:
        clip_norm: float, the largest common norm.
        group_name: str, accepted. Default 'default_group'.
        auto_skip_clip: accepted; a factor of one is free in the compiled update. Default False.
    Raises:
        AssertionError: auto_skip_clip is no bool.
    Example:
        >>> weight = paddle.nn.Linear(1, 2).weight
        >>> clip = paddle.nn.ClipGradByGlobalNorm(5.0)
        >>> clip([(weight, paddle.to_tensor([[6.0, 8.0]]))])[0][1].tolist()
        [[3.0, 4.0]]
    """

    # Paddle's rule of this kind writes into the gradients.
    _in_place = True

    def __init__(
        self, clip_norm: float, group_name: str = "default_group", auto_skip_clip: bool = False
    ) -> None:
        self.clip_norm: float = float(clip_norm)
        self.group_name = group_name
        if not isinstance(auto_skip_clip, bool):
            raise AssertionError(
                f"ClipGradByGlobalNorm: auto_skip_clip: got {auto_skip_clip!r}; pass True or False."
            )
        self.auto_skip_clip = auto_skip_clip

    def __str__(self) -> str:
        return f"Gradient Clip By GlobalNorm, global_norm={self.clip_norm:f}"

    def rule(self) -> tuple[Any, ...]:
        """The rule as a hashable tuple."""
        return "global_norm", self.clip_norm
