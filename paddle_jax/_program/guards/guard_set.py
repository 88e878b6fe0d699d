"""What a run has read of Python's state: (where, what was there), compared again before each call of
the compiled form."""

import itertools
import operator
import types

from paddle_jax._core.base.caller_info import user_line
from paddle_jax._core.execution.python_state import MISSING, same
from paddle_jax._program.guards.messages import change, content_change

_BY_CONTENT = frozenset({tuple, list, dict})  # containers whose equals are as good
# raised where it was read; other exceptions are somebody's own
_GONE = (AttributeError, LookupError, ReferenceError, TypeError, ValueError)
_MOST = 1 << 18  # bytes of an array that are compared at each call


class TooLarge(Exception):
    """An array has too many elements to be compared at each call."""


class Table:
    """Reads of one kind: two lists that say where, one of what was there, and one of the lines.
    Comparing them runs in C."""

    def __init__(self, read):
        self.read, self.owners, self.keys, self.values, self.lines, self.seen = read, [], [], [], [], set()

    def add(self, owner, key, value, line=None):
        """Notes a read, unless it was seen before: the first one tells what was there before the run. line:
        of the read, by default the user's."""
        place = id(owner), key
        if place not in self.seen:
            self.seen.add(place)
            self.owners.append(owner)
            self.keys.append(key)
            self.values.append(value)
            self.lines.append(user_line() if line is None else line)

    def hold(self):
        """Whether all is as it was. Equal numbers take the place of those known, so that next time they are
        the same objects. Equal containers do not, since the other facts are about those that were read."""
        if all(map(operator.is_, self.read(self.owners, self.keys), self.values)):
            return True
        now = list(self.read(self.owners, self.keys))
        if not all(map(same, now, self.values)):
            return False
        self.values = [
            old if type(old) in _BY_CONTENT else new for old, new in zip(self.values, now, strict=True)
        ]
        return True

    def settle(self, changed):
        """Lets go of the items of changed containers that are not as they were. A container that has been put
        in place of a changed one, and is as that was at first, is as good. changed: (container, copy of it
        before the changes), by id. Returns the ids of those of which the copy is compared."""
        kept, copied, rows = (
            [],
            set(),
            zip(
                self.owners,
                self.keys,
                self.values,
                self.lines,
                self.read(self.owners, self.keys),
                strict=True,
            ),
        )
        for owner, key, old, line, now in rows:
            if id(owner) not in changed or same(old, now):
                replaced = id(old) in changed and same(changed[id(old)][1], now)
                kept.append((owner, key, changed[id(old)][1] if replaced else old, line))
                copied.update([id(old)] if replaced else ())
        self.owners, self.keys, self.values, self.lines = (
            map(list, zip(*kept, strict=True)) if kept else ([], [], [], [])
        )
        return copied

    def changed(self):
        """(owner, key, before, now, line) of the first that is not as it was, or None."""
        rows = zip(
            self.owners, self.keys, self.values, self.read(self.owners, self.keys), self.lines, strict=True
        )
        return next((row for row in rows if not same(*row[2:4])), None)


def entries(stores, keys):
    """Items of dicts, MISSING where there is none."""
    return map(dict.get, stores, keys, itertools.repeat(MISSING))


def _members(proxies, keys):
    return map(types.MappingProxyType.get, proxies, keys, itertools.repeat(MISSING))


def _attributes(owners, names):
    return map(getattr, owners, names, itertools.repeat(MISSING))


def _cells(cells, names):
    return map(getattr, cells, itertools.repeat("cell_contents"), itertools.repeat(MISSING))


def items(containers, keys):
    """What dicts and lists hold, MISSING where there is nothing."""
    try:
        return list(map(operator.getitem, containers, keys))
    except LookupError:
        return [
            each.get(key, MISSING)
            if isinstance(each, dict)
            else each[key]
            if -len(each) <= key < len(each)
            else MISSING
            for each, key in zip(containers, keys, strict=True)
        ]


class Facts:
    """The reads of a run.

    entries: items of dicts; members: of classes; attributes: of objects without a dict; cells: variables of
    enclosing functions; items: of lists. absent: names that classes do not have; own: what they have, by
    class. contents: (function that gives a copy of the content, that copy, in words, what has that content or
    None, line of the read).
    """

    def __init__(self):
        self.entries, self.members, self.attributes = Table(entries), Table(_members), Table(_attributes)
        self.cells, self.items = Table(_cells), Table(items)
        self.absent, self.own, self.contents, self._seen = {}, {}, [], set()
        self.tables = [self.entries, self.cells, self.members, self.items, self.attributes]

    def member(self, cls, name):
        """What a class itself has of a name, MISSING for nothing."""
        own = self.own.setdefault(cls, cls.__dict__)  # which is another object each time
        value = own.get(name, MISSING)
        if value is MISSING:
            self.absent.setdefault(cls, (set(), own))[0].add(name)
        else:
            self.members.add(own, name, value)
        return value

    def content(self, container, read, words):
        """`read()`, a copy of the content of something, has to give the same."""
        self.result(read, words, id(container), container)

    def array(self, array):
        """The elements of a NumPy array have to stay the same.

        Raises:
            TooLarge: comparing it would take long.
        """
        if array.nbytes > _MOST:
            raise TooLarge
        if array.dtype.hasobject:
            # objects that are in it are looked after where they are read
            self.content(
                array, lambda: (array.shape, array.dtype, array.strides, tuple(array.flat)), "a NumPy array"
            )
        else:
            self.content(
                array, lambda: (array.shape, array.dtype, array.strides, array.tobytes()), "a NumPy array"
            )

    def result(self, call, words, key=None, owner=None, value=MISSING):
        """`call()`, which changes nothing, has to give the same. key: what the call is known by, so that it
        is noted once; owner: what it is about; value: what it gives, where that is known."""
        if key is None or key not in self._seen:
            self._seen.add(key)
            self.contents.append((call, call() if value is MISSING else value, words, owner, user_line()))

    def is_held(self, container):
        """Whether a container is still in one of the places where it was read."""
        now = [
            now
            for table in self.tables
            for before, now in zip(table.values, table.read(table.owners, table.keys), strict=True)
            if before is container
        ]
        return not now or any(value is container for value in now)

    def settle(self, changed):
        """At the end of the run, which has set items of some containers: what it has left otherwise there
        does not count. changed: see Table."""
        if changed:
            copied = set().union(
                *[table.settle(changed) for table in (self.entries, self.items, self.attributes, self.cells)]
            )
            self.contents = [
                row for row in self.contents if id(row[3]) not in copied and same(row[0](), row[1])
            ]
        self.tables = [table for table in self.tables if table.owners]

    def hold(self):
        """Whether everything that was read is as it was."""
        try:
            return (
                all(map(Table.hold, self.tables))
                and all([names.isdisjoint(own) for names, own in self.absent.values()])
                and all([same(read(), value) for read, value, *_ in self.contents])
            )
        except _GONE:
            return False

    def changed(self):
        """What is not as it was, in words."""
        try:
            for table in self.tables:
                difference = table.changed()
                if difference is not None:
                    return change(self, *difference)
            for cls, (names, own) in self.absent.items():
                if not names.isdisjoint(own):
                    return f"the class {cls.__name__} has got {sorted(names & set(own))[0]}"
            for read, value, words, owner, line in self.contents:
                if not same(value, now := read()):
                    return content_change(self, owner, words, value, now, line)
            return "something it read"
        except _GONE as error:
            return f"something it read is gone ({type(error).__name__})"

    def __len__(self):
        return sum(len(table.owners) for table in self.tables) + len(self.contents) + len(self.absent)
