"""Flat stacks: parameters of any shapes one behind the other, for rules that treat each element for itself.

The update of a small network is dozens of kernels of a microsecond, one or more for each shape, and each
array that goes in or out costs another. With everything in one row [1, elements] it is one kernel per state.
What is one number per parameter (the powers of Adam's betas) is one number for all, [1, 1], as long as all of
them are updated together, and a column [parameters, 1] from the first step on in which some have no gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.tensors.held_values import element_count, plain_shape

if TYPE_CHECKING:
    from paddle_jax._annotations import Slots
    from paddle_jax._core.tensors.tensor import Tensor


FLAT = "flat"  # the form of such a stack, where others have a layout or None
ROWS = "rows"  # that of a table whose gradient is one of some rows


def rows(params: Sequence[Tensor], flat: bool) -> tuple[int, tuple[int, ...]]:
    """(rows, shape of one) of the state of a stack."""
    if flat:
        return 1, (sum(element_count(p) for p in params),)
    return len(params), plain_shape(params[0])


def joined(arrays: Sequence[jax.Array], flat: bool) -> jax.Array:
    """One array for those of the parameters of a stack, with an axis of rows in front."""
    if flat:
        return jax.lax.concatenate([jax.lax.reshape(a, (1, a.size)) for a in arrays], 1)
    # as `jnp.stack`, in a tenth of the calls
    return jax.lax.concatenate([jax.lax.expand_dims(a, (0,)) for a in arrays], 0)


def split(whole: jax.Array, like: Sequence[jax.Array], flat: bool) -> list[jax.Array]:
    """What `joined` has joined, in the shapes of `like`."""
    if not flat:
        return [jax.lax.index_in_dim(whole, i, keepdims=False) for i in range(len(like))]
    return [
        jax.lax.reshape(part, a.shape)
        for part, a in zip(jax.lax.split(whole, [a.size for a in like], axis=1), like, strict=True)
    ]


def parameter_state(value: Any, params: Sequence[Tensor], row: int) -> Any:
    """The state of one parameter in that of its flat stack, which is a jax array or a NumPy array."""
    if value.shape[1] == 1:
        # One number for all parameters, or one for each.
        if len(value) == 1:
            return value[0]
        return value[row]
    # The place of the parameter is the sum of those before.
    start = sum(element_count(p) for p in params[:row])
    return value[0, start : start + element_count(params[row])].reshape(plain_shape(params[row]))


def gathered(values: Sequence[Any], single: bool, array_module: Any) -> Any:
    """The states of the parameters of a flat stack as one array. single: whether there is one
    number per parameter. array_module: `jax.numpy` or `numpy`, by the kind of the values."""
    if not single:
        return array_module.concatenate([v.reshape(1, -1) for v in values], 1)
    column = array_module.stack(values)
    # One number for all: the update then needs no column.
    if bool((column == column[0]).all()):
        return column[:1]
    return column


def even(mask: np.ndarray) -> np.ndarray:
    """Which parameters of a flat stack are updated: one value if all are or none is."""
    # Equal marks are one number, for which a program is compiled already.
    if (mask == mask[0]).all():
        return mask[:1]
    return mask


def is_uneven(state: Slots, extra: dict[str, jax.Array]) -> bool:
    """Whether the parameters of a flat stack have numbers of their own, or get some in this step."""
    return len(extra.get("mask", ())) > 1 or any(len(value) > 1 for value in state.values())


def per_element(column: jax.Array, like: Sequence[jax.Array]) -> jax.Array:
    """Numbers for each parameter (or one for all) as numbers for each element: [1, elements]."""
    column = jnp.broadcast_to(column.reshape(-1), (len(like),))
    parts = [jnp.broadcast_to(column[i], (1, a.size)) for i, a in enumerate(like)]
    return jax.lax.concatenate(parts, 1)


def columns(state: Slots, names: Sequence[str], like: Sequence[jax.Array]) -> Slots:
    """The states with those that are one number per parameter taken back from numbers for each element."""
    starts = np.cumsum([0, *[a.size for a in like[:-1]]])
    return {name: value[0, starts][:, None] if name in names else value for name, value in state.items()}
