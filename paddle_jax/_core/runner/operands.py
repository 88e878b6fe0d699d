"""The operands of recorded operations, while a segment runs."""

from __future__ import annotations

import functools as ft
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.lazy.lazy_array import is_unread
from paddle_jax._core.lazy.positions import OP_MASK, select_result
from paddle_jax._core.lazy.transfer import to_array

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddle_jax._core.lazy.aval import Aval
    from paddle_jax._core.lazy.lazy_array import LazyArray

_ZERO = bytes(16)  # one element of any dtype


def operands_at(
    positions: Sequence[int],
    leaves: Sequence[LazyArray],
    env: Any,
    read_leaf: Callable[[LazyArray], Any],
) -> list[Any]:
    """The arrays at the positions of operands.

    Args:
        positions: the positions.
        leaves: the leaves of the segment.
        env: what the operations before have given, by their index.
        read_leaf: `materialize` or `to_array`.
    """
    found = []
    for position in positions:
        if position < 0:
            leaf = leaves[-1 - position]
            array = leaf.array
            # Most leaves are results of the interpreter, which only the device wants in another form.
            if read_leaf is to_array or type(array) is not np.ndarray:
                array = unread_array(leaf.aval) if is_unread(leaf) else read_leaf(leaf)
        elif position <= OP_MASK:
            array = env[position]
        else:
            array = select_result(env[position & OP_MASK], position)
        found.append(array)
    return found


@ft.lru_cache(maxsize=256)
def unread_array(aval: Aval) -> np.ndarray:
    """An array without memory for an operand whose values nothing reads."""
    return np.ndarray(aval.shape, aval.dtype, _ZERO, 0, (0,) * aval.ndim)
