"""Lists and dicts that a branch or loop changes without an assignment, such as `found.append(x)`: their
contents become results of the operation, and afterwards the same list or dict holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from paddle_jax._core.base.errors import Unsupported
from paddle_jax._core.execution.python_state import (
    RowsOrItems,
    content_differs,
    copy_contents,
    members,
    restore_contents,
)

_MAX_RUNS = 16  # containers of one branch or loop, found one run after the other


class ContainersChanged(Unsupported):
    """Code of a branch or loop has changed lists or dicts.

    Attributes:
        containers: list of the Containers, which hold what they held before.
    """

    def __init__(self, text: str, containers: list[Container]) -> None:
        super().__init__(text)
        self.containers = containers


class _SameObject:
    """A list or dict inside another one, which stays the object that it is.

    Attributes:
        value: the list or dict.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Container:
    """A list or dict that code of a branch or loop changes.

    Attributes:
        store: the list or dict.
        name: str, how it is called in messages.
        before: list or dict, a copy of what it held before the code.
        itself: _SameObject for the list or dict.
        inner: dict of the _SameObject for the lists and dicts in it, by id.
    """

    def __init__(self, store: Any, name: str, before: Any) -> None:
        self.store = store
        self.name = name
        self.before = before
        self.itself = _SameObject(store)
        # Inner lists keep their identity: code may hold them under another name.
        self.inner = {id(one): _SameObject(one) for _, one in members(before) if isinstance(one, list | dict)}

    def take(self, store: Any = None) -> Any:
        """What it holds, as a list or dict of its own."""
        held = self.store if store is None else store
        if isinstance(held, dict):
            return {key: self.inner.get(id(one), one) for key, one in held.items()}
        # A list whose items are the rows of a Tensor.
        if isinstance(held, RowsOrItems) and held.rows is not None:
            return held.copy()
        return [self.inner.get(id(one), one) for _, one in members(held)]

    def put(self, values: Any) -> None:
        """Lets it hold other values."""
        if isinstance(values, dict):
            new: Any = {key: _unwrapped(one) for key, one in values.items()}
        elif isinstance(values, RowsOrItems):
            new = values
        else:
            new = [_unwrapped(one) for one in values]
        # In the same object, as others may hold it.
        restore_contents(self.store, [new])


def _unwrapped(value: Any) -> Any:
    if isinstance(value, _SameObject):
        return value.value
    return value


def changed_containers(held: Iterable[tuple[Any, Any, str, Any]]) -> list[Container] | None:
    """The lists and dicts among what a Snapshot holds, of what differs; None where something else differs."""
    found: dict[int, Container] = {}
    for store, before, name, apart in held:
        if id(store) in found:
            # A container in two places is one container.
            continue
        # An attribute of an object, a set or a subclass: what changed has no form as a result. `apart`: it
        # holds Tensors of the trace.
        if (
            not isinstance(store, RowsOrItems)
            and type(store) not in (list, dict)
            or apart
            or not name.startswith("the ")
        ):
            return None
        found[id(store)] = Container(store, name, before)
    return list(found.values())


def copy_of(value: Any) -> Any:
    """What a list or dict holds; None for anything else."""
    if isinstance(value, RowsOrItems) or type(value) in (list, dict):
        return copy_contents(value)[0]
    return None


def changed_in_place(
    before: Sequence[Any],
    given: Sequence[Any],
    copies: Sequence[Any],
    after: Sequence[Any],
    names: Sequence[str],
) -> list[Container]:
    """The lists and dicts among the variables of a loop that a step changes without an assignment.

    Args:
        before: values of the variables before the loop.
        given: values at the beginning of the step, lists of its own in place of lists.
        copies: `copy_of` those values at that time.
        after: values at the end of the step.
        names: of the variables.
    """
    changed = []
    for old, value, copy, new, name in zip(before, given, copies, after, names, strict=False):
        # A list of the step's own, that the step has kept under its name and changed.
        is_other = copy is not None and value is not old and new is value
        if is_other and content_differs(value, copy) and copy_of(old) is not None:
            changed.append(Container(old, f"the {type(old).__name__} {name!r}", copy_of(old)))
    return changed


def with_contents(containers: Sequence[Container], values: Sequence[Any], before: bool = False) -> list:
    """The values, in which a container stays the object that it is, and then the contents of the containers.
    before: whether those are what the containers held before the code."""
    itself = {id(container.store): container.itself for container in containers}
    contents = [container.take(container.before if before else None) for container in containers]
    # A container that is also a variable stays that object; its contents are a value of their own.
    return [*[itself.get(id(value), value) for value in values], *contents]


def put_contents(containers: Sequence[Container], values: Sequence[Any]) -> list:
    """Takes apart what `with_contents` gave: the containers hold their contents; returns the values."""
    count = len(values) - len(containers)
    for container, content in zip(containers, values[count:], strict=True):
        container.put(content)
    return list(map(_unwrapped, values[:count]))


def run_with_contents(
    run: Callable[[Sequence[Container]], Any], containers: list[Container] | None = None
) -> Any:
    """`run(containers)`, again for as long as it finds further containers that its code changes.

    Args:
        run: function of the containers that are known; it raises ContainersChanged for others.
        containers: list to which those are added. Default: a new one.
    """
    known: list[Container] = [] if containers is None else containers
    for _ in range(_MAX_RUNS):
        try:
            return run(known)
        except ContainersChanged as change:
            ids = {id(container.store) for container in known}
            new = [one for one in change.containers if id(one.store) not in ids]
            # the inner code has changed what it was not to change
            if not new:
                raise
            known += new
    raise Unsupported("a branch or loop over a tensor changes too many lists and dicts")


__all__ = [
    "Container",
    "ContainersChanged",
    "changed_containers",
    "changed_in_place",
    "copy_of",
    "put_contents",
    "run_with_contents",
    "with_contents",
]
