"""What all losses share: the reduction argument."""

import jax.numpy as jnp


def check_reduction(op_name, reduction):
    """Raises unless reduction is one of Paddle's three names."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{op_name}: reduction: got {reduction!r}; allowed are 'none', 'mean' and 'sum'")


def check_shapes(op_name, name, label, shape, kind="(InvalidArgument) "):
    """Raises unless a label, or whatever else is compared with the scores, has their shape: [N, 1] and [N]
    would give N x N losses."""
    if label.shape != shape:
        raise ValueError(
            f"{kind}{op_name}: {name}: got shape {list(label.shape)}; "
            f"it must be that of the scores, {list(shape)}"
        )


def reduced(op_name, loss, reduction):
    """Sums or averages a loss, or leaves it."""
    check_reduction(op_name, reduction)
    if reduction == "none":
        return loss
    if reduction == "sum":
        return jnp.sum(loss)
    if jnp.issubdtype(loss.dtype, jnp.integer):
        return jnp.sum(loss) // loss.size
    return jnp.mean(loss)
