"""Guards for what a run has read of Python state.

A guard is a place and the value that was read there. All are compared again before each call of the compiled
form.
"""

from __future__ import annotations

import itertools
import operator
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from paddle_jax._core.base.caller_info import user_line
from paddle_jax._core.execution.python_state import MISSING, same_value
from paddle_jax._program.guards.guard_set import Reason
from paddle_jax._program.guards.messages import content_change, value_change

_COMPARED_BY_CONTENT = frozenset(
    {tuple, list, dict}
)  # an equal container is as good as the one that was read
# a read raises one of these where its place is gone; other exceptions come from code of the user
_GONE_ERRORS = (AttributeError, LookupError, ReferenceError, TypeError, ValueError)
_MAX_ARRAY_BYTES = 1 << 18  # of an array that is compared at each call

Changed = dict[int, tuple[Any, Any]]  # id -> (container that the run has changed, copy of it before)


def elements_of(array: np.ndarray) -> tuple[Any, ...]:
    """The elements of an array with objects: a record becomes the tuple of its fields, since a record of
    NumPy is a view that changes with the array."""
    return tuple(np.asarray(array).reshape(-1).tolist())


class TooLarge(Exception):
    """An array has too many elements to be compared at each call."""


class Read(NamedTuple):
    """One read that has another value now.

    Attributes:
        owner: the container or object that was read.
        key: the key or name in it.
        before: the value that was read.
        now: the present value.
        line: `file:line` of the read, "?" where it is unknown.
    """

    owner: Any
    key: Any
    before: Any
    now: Any
    line: str


class ReadTable:
    """Reads of one kind, in parallel lists, so that comparing them runs in C.

    Attributes:
        read: function (owners, keys) that yields the present values.
        owners: containers or objects that were read.
        keys: the key or name of each read.
        values: the value of each read.
        lines: `file:line` of each read.
        seen: set of (id of the owner, key).
    """

    def __init__(self, read: Callable[[Sequence[Any], Sequence[Any]], Iterable[Any]]) -> None:
        self.read = read
        self.owners: list[Any] = []
        self.keys: list[Any] = []
        self.values: list[Any] = []
        self.lines: list[str] = []
        self.seen: set[tuple[int, Any]] = set()

    def add(self, owner: Any, key: Any, value: Any, line: str | None = None) -> None:
        """Adds a read unless its place was read before: the first value is the one from before the run.

        Args:
            owner: container or object.
            key: key or name in it.
            value: the value that was read.
            line: `file:line` of the read. Default: the line of the user that runs.
        """
        place = id(owner), key
        if place in self.seen:
            return
        self.seen.add(place)
        self.owners.append(owner)
        self.keys.append(key)
        self.values.append(value)
        self.lines.append(user_line() if line is None else line)

    def holds(self) -> bool:
        """Whether all values are as they were.

        Equal numbers take the place of those that were read: next time they are the same objects. Equal
        containers do not, since other guards are about the containers that were read.
        """
        # In C, and by identity: nearly all reads give the same object.
        if all(map(operator.is_, self.read(self.owners, self.keys), self.values)):
            return True
        present = list(self.read(self.owners, self.keys))
        # Equal numbers and texts are as good.
        if not all(map(same_value, present, self.values)):
            return False
        self.values = [
            old if type(old) in _COMPARED_BY_CONTENT else new
            for old, new in zip(self.values, present, strict=True)
        ]
        return True

    def drop_changed(self, changed: Changed) -> set[int]:
        """Drops reads of items that the run itself has changed.

        A container that replaces a changed one counts as that one if it equals the copy from before.

        Returns:
            The ids of the containers whose copies are compared from now on.
        """
        owners = self.owners
        keys = self.keys
        values = self.values
        lines = self.lines
        present = list(self.read(owners, keys))
        self.owners = []
        self.keys = []
        self.values = []
        self.lines = []
        copied = set()
        for owner, key, old, line, now in zip(owners, keys, values, lines, present, strict=True):
            # The run sets the item itself, so each call reads what it set.
            if id(owner) in changed and not same_value(old, now):
                continue
            # The container is a new one of equal content at each call: the copy is compared.
            if id(old) in changed and same_value(changed[id(old)][1], now):
                copied.add(id(old))
                old = changed[id(old)][1]
            self.owners.append(owner)
            self.keys.append(key)
            self.values.append(old)
            self.lines.append(line)
        return copied

    def first_change(self) -> Read | None:
        """The first read whose value has changed, or None."""
        present = self.read(self.owners, self.keys)
        for row in zip(self.owners, self.keys, self.values, present, self.lines, strict=True):
            change = Read(*row)
            if not same_value(change.before, change.now):
                return change
        return None


def entries(stores: Sequence[dict[Any, Any]], keys: Sequence[Any]) -> Iterable[Any]:
    """Items of dicts, MISSING where there is none."""
    return map(dict.get, stores, keys, itertools.repeat(MISSING))


def _members(proxies: Sequence[types.MappingProxyType], keys: Sequence[Any]) -> Iterable[Any]:
    return map(types.MappingProxyType.get, proxies, keys, itertools.repeat(MISSING))


def _attributes(owners: Sequence[Any], names: Sequence[str]) -> Iterable[Any]:
    return map(getattr, owners, names, itertools.repeat(MISSING))


def _cells(cells: Sequence[types.CellType], names: Sequence[str]) -> Iterable[Any]:
    return map(getattr, cells, itertools.repeat("cell_contents"), itertools.repeat(MISSING))


def items(containers: Sequence[dict[Any, Any] | list[Any]], keys: Sequence[Any]) -> list[Any]:
    """Items of dicts and lists, MISSING where there is none."""
    try:
        return list(map(operator.getitem, containers, keys))
    # One of them is gone: item by item, to say which.
    except LookupError:
        return [_item(container, key) for container, key in zip(containers, keys, strict=True)]


def _item(container: dict[Any, Any] | list[Any], key: Any) -> Any:
    if isinstance(container, dict):
        return container.get(key, MISSING)
    if -len(container) <= key < len(container):
        return container[key]
    return MISSING


class ResultGuard(NamedTuple):
    """A call that must return the same as in the run.

    Attributes:
        call: function without arguments, which changes nothing.
        value: its result in the run.
        description: what the result is, for messages.
        owner: the object that the result is about, or None.
        line: `file:line` of the read.
    """

    call: Callable[[], Any]
    value: Any
    description: str
    owner: Any
    line: str


class ReadGuards:
    """The StateGuard for all reads of a run.

    Attributes:
        entries: ReadTable of items of dicts.
        members: ReadTable of members of classes.
        attributes: ReadTable of attributes of objects without a dict.
        cells: ReadTable of variables of enclosing functions.
        items: ReadTable of items of lists.
        tables: the ReadTables in the order of their checks.
        absent: {class: (names that it does not have, its dict)}.
        class_dicts: {class: its dict}.
        results: list of ResultGuard.
    """

    def __init__(self) -> None:
        self.entries = ReadTable(entries)
        self.members = ReadTable(_members)
        self.attributes = ReadTable(_attributes)
        self.cells = ReadTable(_cells)
        self.items = ReadTable(items)
        self.tables = [self.entries, self.cells, self.members, self.items, self.attributes]
        self.absent: dict[type, tuple[set[str], types.MappingProxyType]] = {}
        self.class_dicts: dict[type, types.MappingProxyType] = {}
        self.results: list[ResultGuard] = []
        self._result_keys: set[Any] = set()

    def class_member(self, cls: type, name: str) -> Any:
        """Returns and guards what a class itself has under a name, MISSING for nothing."""
        # `cls.__dict__` is a new proxy at each call, and reads are known by the id of their owner.
        members = self.class_dicts.setdefault(cls, cls.__dict__)  # `__dict__` is another object each time
        value = members.get(name, MISSING)
        if value is MISSING:
            # A class may get the name later, as by a monkey patch.
            self.absent.setdefault(cls, (set(), members))[0].add(name)
        else:
            self.members.add(members, name, value)
        return value

    def guard_content(self, container: Any, read: Callable[[], Any], description: str) -> None:
        """Guards the content of a container, of which `read()` is a copy."""
        self.guard_result(read, description, id(container), container)

    def guard_array(self, array: np.ndarray) -> None:
        """Guards the elements of a NumPy array.

        Raises:
            TooLarge: comparing it would take long.
        """
        if array.nbytes > _MAX_ARRAY_BYTES:
            raise TooLarge

        def content() -> tuple[Any, ...]:
            # the observer guards the objects in an array where they are read
            if array.dtype.hasobject:
                elements = elements_of(array)
            else:
                elements = array.tobytes()
            return array.shape, array.dtype, array.strides, elements

        self.guard_content(array, content, "a NumPy array")

    def guard_result(
        self,
        call: Callable[[], Any],
        description: str,
        key: Any = None,
        owner: Any = None,
        value: Any = MISSING,
    ) -> None:
        """Guards the result of a call.

        Args:
            call: function without arguments, which changes nothing.
            description: what the result is, for messages.
            key: hashable; of calls with the same key the first one counts. Default: each call counts.
            owner: the object that the result is about.
            value: the result, where it is known.
        """
        if key is not None and key in self._result_keys:
            return
        self._result_keys.add(key)
        result = call() if value is MISSING else value
        self.results.append(ResultGuard(call, result, description, owner, user_line()))

    def is_in_place(self, container: Any) -> bool:
        """Whether a container is still in one of the places where it was read, or was read nowhere."""
        present = [
            now
            for table in self.tables
            for before, now in zip(table.values, table.read(table.owners, table.keys), strict=True)
            if before is container
        ]
        # Read nowhere: it came as an argument or was made.
        return not present or any(value is container for value in present)

    def drop_changed(self, changed: Changed) -> None:
        """Ends the run: what the run has changed in containers needs no guard."""
        if changed:
            copied = set()
            for table in (self.entries, self.items, self.attributes, self.cells):
                copied |= table.drop_changed(changed)
            # Guards of containers that are compared as copies, or that the run has changed, are dropped.
            self.results = [
                guard
                for guard in self.results
                if id(guard.owner) not in copied and same_value(guard.call(), guard.value)
            ]
        self.tables = [table for table in self.tables if table.owners]

    def check(self) -> Reason | None:
        """None while everything that was read is as it was."""
        if self._hold():
            return None
        return Reason("Python state", self._describe_change())

    def _hold(self) -> bool:
        try:
            return (
                all(map(ReadTable.holds, self.tables))
                # Names that a class did not have: one operation on sets for each class.
                and all([names.isdisjoint(members) for names, members in self.absent.values()])
                and all([same_value(guard[0](), guard[1]) for guard in self.results])
            )
        except _GONE_ERRORS:
            return False

    def _describe_change(self) -> str:
        """A text about the first read that gives something else."""
        try:
            for table in self.tables:
                change = table.first_change()
                if change is not None:
                    return value_change(self, *change)
            for cls, (names, members) in self.absent.items():
                if not names.isdisjoint(members):
                    return f"the class {cls.__name__} has got {sorted(names & set(members))[0]}"
            for guard in self.results:
                now = guard.call()
                if not same_value(guard.value, now):
                    return content_change(self, guard.owner, guard.description, guard.value, now, guard.line)
            return "something it read"
        except _GONE_ERRORS as error:
            return f"something it read is gone ({type(error).__name__})"

    def __len__(self) -> int:
        return sum(len(table.owners) for table in self.tables) + len(self.results) + len(self.absent)
