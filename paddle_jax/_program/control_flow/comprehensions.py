"""List comprehensions of converted code, over a number of items that only the running program knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.control_flow.growing_lists import GrowingList, is_open
from paddle_jax._program.control_flow.statements import Range, Rows, for_stmt, if_stmt

_NAMES = ("the list of a comprehension",)


def list_of(
    over: Any,
    plain: Callable[[Any], list[Any]],
    item: Callable[[Any], Any],
    test: Callable[[Any], Any] | None,
) -> list[Any]:
    """`[item(one) for one in over if test(one)]`.

    Args:
        over: what the comprehension loops over.
        plain: function of `over` that is the comprehension as Python runs it.
        item: function of one element that gives the item.
        test: function of one element that is the condition, or None.
    """
    if not local.ctx.frame.symbolic or not _has_open_length(over):
        return plain(over)
    found: list[Any] = [GrowingList()]

    def get() -> tuple[Any, ...]:
        return (found[0],)

    def put(values: tuple[Any, ...]) -> None:
        found[0] = values[0]

    def add(one: Any) -> None:
        found[0].append(item(one))

    def body(one: Any) -> None:
        if test is None:
            add(one)
        else:
            if_stmt(test(one), lambda: add(one), lambda: None, get, put, _NAMES, 0)

    for_stmt(over, None, body, get, put, _NAMES, {})
    return found[0]


def _has_open_length(over: Any) -> bool:
    """Whether the number of items is known only when the program runs."""
    if isinstance(over, Rows):
        return any(is_length(tensor.shape[0]) for tensor in over.tensors)
    if isinstance(over, Tensor):
        return bool(over.ndim) and is_length(over.shape[0])
    return isinstance(over, Range) or is_open(over)


__all__ = ["list_of"]
