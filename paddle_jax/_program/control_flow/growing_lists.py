"""Lists that grow in a loop while a Program is recorded: their length is known only when it runs.

`found = []` of converted code makes a GrowingList. A loop that makes it longer carries one Tensor of all
items in its place. Reading it gives operations on that Tensor; what no operation can do is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from paddle_jax._core.base.caller_info import is_ours
from paddle_jax._core.base.errors import Unsupported
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.python_state import RowsOrItems
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.lazy.lengths import expression_of, values_of
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.control_flow.cond import cond
from paddle_jax._program.control_flow.region import Leaf
from paddle_jax.tensor.attribute import shape
from paddle_jax.tensor.creation import full
from paddle_jax.tensor.joining import concat, stack

_SOME_ROWS = 7  # two counts of rows, for the two values of a length that is not known
_OTHER_ROWS = 11


class GrowingList(RowsOrItems):
    """A list of converted code that may grow in a loop."""

    def append(self, item: Any) -> None:
        if self.rows is None:
            return super().append(item)
        self._add_row(item, lambda rows, new: [rows, new])
        return None

    def insert(self, index: Any, item: Any) -> None:
        if self.rows is None:
            return super().insert(index, item)
        # Other positions are known to the program alone.
        if index != 0:
            raise _refusal("insert() at another index than 0")
        self._add_row(item, lambda rows, new: [new, rows])
        return None

    def _add_row(self, item: Any, ordered: Callable[[Tensor, Tensor], list[Tensor]]) -> None:
        """Adds an item. ordered: gives the rows and the new row in their order."""
        rows = _rows_of(self)
        if not isinstance(item, Tensor) or numpy_dtype(item) != numpy_dtype(rows):
            raise Unsupported(
                "a list that grows in a loop holds Tensors of one dtype; cast what is appended to it"
            )
        new = item.unsqueeze(0)
        if not _are_alike(rows.shape[1:], item.shape):
            raise _refusal("items of other lengths")
        if self.may_lack_lengths:
            # the first item gives the lengths
            self.rows = cond(shape(rows)[0] == 0, lambda: new, lambda: concat(ordered(rows, new)))
        else:
            self.rows = concat(ordered(rows, new))

    def extend(self, items: Any) -> None:
        # A list of open length: its rows are appended, and the items of this list become rows first.
        if is_open(items):
            self.rows = self._joined_rows(items)
            self.may_lack_lengths = False
            list.clear(self)
            return None
        if self.rows is None:
            return super().extend(items)
        for item in items:
            self.append(item)
        return None

    def _joined_rows(self, others: GrowingList) -> Tensor:
        """The rows of this list, and then those of another one that has rows."""
        if self.may_lack_lengths or others.may_lack_lengths:
            raise _refusal("joining it with others before the lengths of its items are known")
        more = _rows_of(others)
        # Empty so far: the rows of the other list are those of this one.
        if self.rows is None and not super().__len__():
            return more
        rows = stack(list.copy(self)) if self.rows is None else self.rows
        if numpy_dtype(rows) != numpy_dtype(more):
            raise _refusal("joining it with items of another dtype; cast them")
        return concat([rows, more])

    def __iadd__(self, items: Any) -> GrowingList:
        self.extend(items)
        return self

    def __add__(self, items: Any) -> Any:
        # Lists give a new list for `+`, and change for `+=`.
        new = self.copy()
        new.extend(items)
        return new

    def __radd__(self, items: Any) -> Any:
        new = GrowingList(items)
        new.extend(self)
        return new

    def copy(self) -> Any:
        new = GrowingList(list.copy(self))
        new.rows = self.rows
        new.may_lack_lengths = self.may_lack_lengths
        return new

    def pop(self, index: Any = -1) -> Any:
        if self.rows is None:
            return super().pop(index)
        # An item in the middle is at an index that only the program knows.
        if index not in (-1, 0):
            raise _refusal("pop() of an item in the middle")
        rows = self.rows
        self.rows = rows[:-1] if index == -1 else rows[1:]
        return rows[index]

    def reverse(self) -> None:
        if self.rows is None:
            return super().reverse()
        self.rows = self.rows[::-1]
        return None

    def __getitem__(self, index: Any) -> Any:
        if self.rows is None:
            return super().__getitem__(index)
        if not isinstance(index, slice):
            return self.rows[index]
        # Rows that are cut are a list again.
        new = self.copy()
        new.rows = self.rows[index]
        return new

    def __len__(self) -> int:
        if self.rows is None:
            return super().__len__()
        raise _refusal("its length as a plain number")

    def __iter__(self) -> Any:
        if self.rows is None:
            return super().__iter__()
        raise _refusal("iterating outside of a plain `for item in items`")

    def __reversed__(self) -> Any:
        if self.rows is None:
            return super().__reversed__()
        raise _refusal("reversed(); write items[::-1]")

    # An empty list is false, and whether it is empty only the program knows.
    def __bool__(self) -> bool:
        if self.rows is None:
            return bool(super().__len__())
        raise _refusal("its truth; compare len(items)")

    __hash__ = None  # pyright: ignore[reportAssignmentType]


def _refused(name: str) -> Callable[..., Any]:
    """A method of lists that no operation does."""

    def method(self: GrowingList, *args: Any, **kwargs: Any) -> Any:
        if self.rows is None:
            return getattr(list, name)(self, *args, **kwargs)
        raise _refusal(f"{name.strip('_')}()")

    method.__name__ = name
    return method


# Defined in the class and not inherited, as Python looks up dunder methods there.
_OTHERS = "remove sort index count clear __setitem__ __delitem__ __contains__ __eq__ __ne__ "
_OTHERS += "__lt__ __le__ __gt__ __ge__ __mul__ __rmul__ __imul__ __reduce_ex__"
for _name in _OTHERS.split():
    setattr(GrowingList, _name, _refused(_name))


def _refusal(what: str) -> Unsupported:
    return Unsupported(
        "a list that grew in a loop has a length that only the running program knows, which excludes "
        f"{what}; use paddle.stack or paddle.concat of it, an item, a slice, append, or len()"
    )


def new_list(items: Any) -> Any:
    """A list of converted code: one that may grow in a loop, where a model is saved."""
    # Elsewhere loops are compiled for one number of steps, or their lists are refused.
    if type(items) is list and local.ctx.frame.symbolic:
        return GrowingList(items)
    return items


def is_open(value: Any) -> bool:
    """Whether a value is a list whose length only the running program knows."""
    return isinstance(value, GrowingList) and value.rows is not None


def rows_of_items(rows: Tensor, may_lack_lengths: bool) -> GrowingList:
    """The list whose items are the rows of a Tensor."""
    new = GrowingList()
    new.rows = rows
    new.may_lack_lengths = may_lack_lengths
    return new


def started(before: list, after: Any) -> tuple[GrowingList, tuple, bool] | None:
    """For a list that a step makes longer: (its items before the loop as rows, the avals of the rows in all
    steps, whether no gradient flows to them).

    Args:
        before: list of what it held before the loop.
        after: list of what it holds after a step, with Leafs in place of Tensors.
    Returns:
        None where its items are no rows of a Tensor.
    """
    # A loop inside has made it open before.
    if is_open(after):
        leaves = [after.rows]
        shapes = [tuple(aval.shape[1:]) for aval in leaves[0].avals]
        recorded = leaves[0].shape[1:]
    # A step that makes it longer by Tensors alone.
    elif len(after) > len(before) and all(isinstance(one, Leaf) for one in after):
        leaves = list(after)
        shapes = [tuple(aval.shape) for aval in leaves[-1].avals]
        recorded = leaves[-1].shape
    else:
        return None
    # Rows have one number of axes and one dtype.
    kinds = {(len(leaf.shape), leaf.dtype) for leaf in leaves}
    if len(kinds) != 1 or not all(isinstance(one, Tensor) for one in before):
        return None
    dtype = leaves[-1].dtype
    if before:
        rows = stack(list(before))
    else:
        # No items yet: no rows, of the lengths that this recording sees.
        rows = full([0, *recorded], 0, np.dtype(dtype).name)
    if numpy_dtype(rows) != dtype:
        return None
    stop_gradient = rows.stop_gradient and all(leaf.stop_gradient for leaf in leaves)
    # The number of rows varies, so the avals have two.
    counts = (_SOME_ROWS, _OTHER_ROWS)
    avals = tuple([aval_of((count, *shape), dtype) for count, shape in zip(counts, shapes, strict=True)])
    # Without items the lengths of the first row decide, which may be unknown.
    return rows_of_items(rows, not before and shapes[0] != shapes[1]), avals, stop_gradient


def opened(items: GrowingList, before: list, contents: list) -> bool:
    """Lets a list hold rows, because a branch makes it longer or shorter; returns whether it can.

    Args:
        items: the list.
        before: list of what it held before the branches.
        contents: list of what it holds after each branch, with Leafs in place of Tensors.
    """
    # The longest shows which items are appended.
    longest = max(contents, key=lambda held: -1 if is_open(held) else list.__len__(held))
    if is_open(longest):
        return False
    if len(longest) <= len(before):
        # The branches only take items away.
        rows = _stacked_alike(before)
    else:
        rows = _rows_before_growth(before, longest)
    if rows is None:
        return False
    list.clear(items)
    items.rows = rows
    return True


def _stacked_alike(items: list) -> Tensor | None:
    """The items as the rows of a Tensor; None where they are no Tensors of one shape and dtype."""
    if not items or not all(isinstance(one, Tensor) for one in items):
        return None
    if len({(numpy_dtype(one), tuple(map(expression_of, one.shape))) for one in items}) != 1:
        return None
    return stack(list(items))


def _rows_before_growth(before: list, after: list) -> Tensor | None:
    """The items before a branch that appends some, as the rows of a Tensor; None where that cannot be."""
    start = started(before, after)
    # Without items the lengths are unknown: Paddle's engine refuses the branch that such an `append` needs.
    if start is None or start[0].may_lack_lengths:
        return None
    return start[0].rows


def stacked(items: GrowingList, axis: int = 0, name: Any = None) -> Any:
    """`paddle.stack` of such a list."""
    # The first axis has the items, and `stack` may put them elsewhere.
    return _rows_of(items).moveaxis(0, axis)


def concatenated(items: GrowingList, axis: int = 0, name: Any = None) -> Any:
    """`paddle.concat` of such a list."""
    rows = _rows_of(items)
    # A negative axis counts among the axes of an item, without that of the rows.
    at = axis + rows.ndim - 1 if axis < 0 else axis
    return rows.moveaxis(0, at).flatten(at, at + 1)


def _are_alike(lengths: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether two shapes have the same values while the code is recorded."""
    return list(map(values_of, lengths)) == list(map(values_of, others))


def _sum(items: GrowingList, start: Any = 0) -> Any:
    """Python's `sum` of such a list; of no items, zeros of the lengths of an item."""
    rows = _rows_of(items)
    # Bools become numbers at the first addition, and the first item is added to a number, too.
    if numpy_dtype(rows).kind == "b" or items.may_lack_lengths:
        raise _refusal("sum(); use paddle.stack(items).sum(axis=0)")
    return rows.sum(axis=0, dtype=numpy_dtype(rows).name) + start


def _rows_of(items: GrowingList) -> Tensor:
    if items.rows is None:
        raise ValueError("a list as any other has no rows; ask is_open(items) first")
    return items.rows


def call_with_open_list(function: Any, args: Sequence[Any], kwargs: Any) -> Any:
    """A call with a list whose length only the running program knows; NotImplemented for functions of the
    user, and for those that ask the list themselves."""
    if function is len:
        # The number of rows is a Length.
        return _rows_of(args[0]).shape[0]
    if function is sum and is_open(args[0]):
        return _sum(*args, **kwargs)
    if function is list:
        return args[0].copy()
    # A list in place of Python's iterator: loops over it are recorded.
    if function is reversed:
        return args[0][::-1]
    if not is_ours(getattr(function, "__globals__", {})):
        return NotImplemented
    way = {"stack": stacked, "concat": concatenated}.get(function.__name__)
    given = dict(zip(("items", "axis", "name"), args, strict=False)) | kwargs
    # Both functions call the list by names of their own.
    given = {"items" if key in ("x", "tensors") else key: value for key, value in given.items()}
    if way is None or not isinstance(given.get("axis", 0), int) or set(given) - {"items", "axis", "name"}:
        raise _refusal(f"{function.__name__}()")
    return way(**given)


def _flatten(items: GrowingList) -> tuple[Any, Any]:
    if items.rows is None:
        return list.copy(items), None
    return [items.rows], items.may_lack_lengths


def _unflatten(rows_setting: Any, parts: Any) -> Any:
    if rows_setting is None:
        return list(parts)
    return rows_of_items(parts[0], rows_setting)


jax.tree_util.register_pytree_node(GrowingList, _flatten, _unflatten)

__all__ = [
    "GrowingList",
    "call_with_open_list",
    "is_open",
    "new_list",
    "rows_of_items",
    "started",
]
