"""Clipping of gradients in place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import jax.numpy as jnp

from paddle_jax._core.ops.op import op
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.held_values import assign_from
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    import jax


@op("*grads", method=False, register=False, nondiff=True)
def _total_norm(grads: Sequence[jax.Array], p: float) -> jax.Array:
    """The p-norm of the p-norms of all gradients."""
    norms = jnp.stack([jnp.linalg.norm(g.reshape(-1), p) for g in grads])
    # The norm of norms is the norm of all.
    return jnp.linalg.norm(norms, p)


@op("*grads factor", method=False, register=False, nondiff=True)
def _scaled(grads: Sequence[jax.Array], factor: jax.Array) -> list[jax.Array]:
    """All gradients times a number."""
    return [g * factor.astype(g.dtype) for g in grads]


@op("*grads", method=False, register=False, nondiff=True)
def _clipped(grads: Sequence[jax.Array], limit: float) -> list[jax.Array]:
    """All gradients cut off at -limit and limit."""
    return [jnp.clip(g, -limit, limit) for g in grads]


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    else:
        parameters = list(parameters)
    return [p.grad for p in parameters if p.grad is not None]


@no_grad()
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Tensor:
    """Scales gradients in place so that their common norm is at most max_norm.

    Args:
        parameters: Tensor or iterable of Tensors; those without gradient are skipped.
        max_norm: float.
        norm_type: float, the p of the norm: 0, 1, 2 or inf.
        error_if_nonfinite: bool, raise when the norm is nan or infinite.
    Returns:
        Tensor, the norm before.
    Raises:
        ValueError: norm_type is not allowed, or a number is none.
        RuntimeError: the norm is not finite and error_if_nonfinite is True.
    Example:
        >>> x = paddle.to_tensor([3.0, 4.0], stop_gradient=False); (x * x / 2).sum().backward()
        >>> float(paddle.nn.utils.clip_grad_norm_(x, 1.0)), round(float(x.grad.norm()), 4)
        (5.0, 1.0)
    """
    max_norm = float(max_norm)
    norm_type = float(norm_type)
    if norm_type not in (0.0, 1.0, 2.0, float("inf")):
        raise ValueError(f"clip_grad_norm_: norm_type: got {norm_type}; allowed are 0, 1, 2 and inf")
    grads = _gradients(parameters)
    if not grads:
        return to_tensor(0.0)
    total = _total_norm(grads, norm_type)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(
            f"clip_grad_norm_: the norm of the gradients is {float(total)}; "
            "pass error_if_nonfinite=False to go on with it"
        )
    # The small number is torch's and Paddle's, against a norm of 0.
    factor = (max_norm / (total + 1e-6)).clip(max=1.0)
    for grad, new in zip(grads, _scaled(grads, factor), strict=True):
        assign_from(grad, new)
    return total


@no_grad()
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Cuts gradients off in place at -clip_value and clip_value.

    Args:
        parameters: Tensor or iterable of Tensors; those without gradient are skipped.
        clip_value: float, not negative.
    Raises:
        ValueError: clip_value is negative or not a number.
    Example:
        >>> x = paddle.to_tensor([3.0, -4.0], stop_gradient=False); (x * x / 2).sum().backward()
        >>> paddle.nn.utils.clip_grad_value_(x, 3.5); x.grad.tolist()
        [3.0, -3.5]
    """
    clip_value = float(clip_value)
    if clip_value < 0:
        raise ValueError(f"clip_grad_value_: clip_value: got {clip_value}; it must not be negative")
    grads = _gradients(parameters)
    for grad, new in zip(grads, _clipped(grads, clip_value) if grads else (), strict=True):
        assign_from(grad, new)
