"""What all losses share: the reduction argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

if TYPE_CHECKING:
    import jax


def check_reduction(op_name: str, reduction: str) -> None:
    """Raises unless reduction is one of Paddle's three names."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{op_name}: reduction: got {reduction!r}; allowed are 'none', 'mean' and 'sum'")


def check_shapes(op_name: str, name: str, label: Any, shape: Any, kind: str = "(InvalidArgument) ") -> None:
    """Raises unless a label, or whatever else is compared with the scores, has their shape: [N, 1] and [N]
    would give N x N losses."""
    if label.shape != shape:
        raise ValueError(
            f"{kind}{op_name}: {name}: got shape {list(label.shape)}; "
            f"it must be that of the scores, {list(shape)}"
        )


def reduced(op_name: str, loss: jax.Array, reduction: str) -> jax.Array:
    """Sums or averages a loss, or leaves it."""
    check_reduction(op_name, reduction)
    if reduction == "none":
        return loss
    if reduction == "sum":
        return jnp.sum(loss)
    # Whole numbers are divided towards minus infinity.
    if jnp.issubdtype(loss.dtype, jnp.integer):
        return jnp.sum(loss) // loss.size
    return jnp.mean(loss)
