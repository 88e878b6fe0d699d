"""Guards: what a compiled form rests on, compared at each call."""

import operator
import types

import numpy as np

from paddle_jax._core.state import Changes
from paddle_jax._core.tensor import Tensor

MISSING = object()
SCALARS = frozenset({bool, int, float, complex, str, bytes, type(None)})
_FEW = 64  # elements of a NumPy array that are compared; of a larger one only that it is the same object


class Guards:
    """Values that must stay the same: numbers, texts and small NumPy arrays equal ones, other things the same objects.

    values: Places; fixed: those that count whatever they are called; settings, traits: those of Layers, the latter of the user's own, compared only
    when an attribute of some Layer was set. cells: [(cell, value)]. arrays: [(function that gives it, copy, name)]. lists: [(list, items, name)],
    MISSING for what may change. sizes: [(dict, number of items, name)]; parts: the same of Layers, without names.
    """

    def __init__(self):
        self.values, self.fixed, self.settings, self.traits, self.changes = _Places(), _Places(), _Places(), _Places(), Changes.count
        self.cells, self.arrays, self.lists, self.sizes, self.parts = [], [], [], [], []

    def value(self, store, key, value, kind="values"):
        """`store[key]` has to stay the same. Nothing for a Tensor, which is looked up at each call, and for a module."""
        if _is_small(value):
            self.arrays.append((lambda: store.get(key), value.copy(), None if kind in ("fixed", "settings") else key))
        elif not isinstance(value, Tensor | types.ModuleType):
            getattr(self, kind).add(store, key, value)

    def cell(self, cell, value):
        """A variable of an enclosing function has to stay the same."""
        if _is_small(value):
            self.arrays.append((lambda: content_of(cell), value.copy(), None))
        elif not isinstance(value, Tensor):
            self.cells.append((cell, value))

    def items(self, items, name):
        """The items of a list have to stay the same."""
        self.lists.append((items, [MISSING if isinstance(item, Tensor) else item.copy() if _is_small(item) else item for item in items], name))

    def holds(self):
        """Whether everything is as it was."""
        if not self.values.hold() or not self.fixed.hold() or next(self._others(), None) is not None:
            return False
        if self.changes != Changes.count:
            count = Changes.count
            if not all(len(store) == size for store, size in self.parts) or not self.settings.hold() or not self.traits.hold():
                return False
            self.changes = count
        return True

    def changed(self):
        """What no longer holds, in words."""
        for places in (self.values, self.fixed, self.settings, self.traits):
            for store, key, value in places.changed():
                return f"{key} was {_text(value)} and is {_text(store[key]) if key in store else 'gone'}"
        return next(self._others(), "a Layer that the function uses has got or lost something")

    def _others(self):
        """What has changed of what is found in no place by name, in words."""
        for cell, value in self.cells:
            now = content_of(cell)
            if now is not value and not equal(now, value):
                yield f"a variable of an enclosing function was {_text(value)} and is {_text(now)}"
        for get, value, name in self.arrays:
            if not equal(get(), value):
                yield f"the NumPy array {name or 'of an enclosing function'} has changed"
        for items, value, _ in self.lists:
            if not _same_items(items, value):
                yield f"a list of {len(value)} items that the function uses has changed"
        for store, size, _ in self.sizes:
            if len(store) != size:
                yield "a dict that the function uses has got or lost something"

    def settle(self, used):
        """Lets go of what the code that ran does not use, as `used(name, value)` tells, and of the lists and dicts that it has changed."""
        self.lists = [entry for entry in self.lists if used(entry[2], entry[0]) and _same_items(*entry[:2])]
        self.sizes = [(store, size, name) for store, size, name in self.sizes if used(name, store) and len(store) == size]
        self.arrays = [entry for entry in self.arrays if used(entry[2], entry[1])]
        self.values.settle(used)
        self.traits.settle(used)
        self.fixed.settle(lambda name, value: True)


class _Places:
    """Values by where they are found: three lists, so that comparing them runs in C."""

    def __init__(self):
        self.stores, self.keys, self.values = [], [], []

    def add(self, store, key, value):
        self.stores.append(store)
        self.keys.append(key)
        self.values.append(value)

    def hold(self):
        """Whether all are the same. Equal ones take the place of those known."""
        try:
            if all(map(operator.is_, map(operator.getitem, self.stores, self.keys), self.values)):
                return True
            now = list(map(operator.getitem, self.stores, self.keys))
        except KeyError:
            return False
        if not all([a is b or equal(a, b) for a, b in zip(now, self.values, strict=True)]):
            return False
        self.values = now
        return True

    def changed(self):
        """The (store, key, value) that are not the same."""
        for store, key, value in zip(self.stores, self.keys, self.values, strict=True):
            now = store.get(key, MISSING)
            if now is not value and not equal(now, value):
                yield store, key, value

    def settle(self, used):
        """Lets go of what is not used, and of what has changed in dicts."""
        gone = {(id(store), key) for store, key, _ in self.changed() if isinstance(store, dict)}
        kept = [(store, key, value) for store, key, value in zip(self.stores, self.keys, self.values, strict=True)
                if (id(store), key) not in gone and used(key, value)]
        self.stores, self.keys, self.values = map(list, zip(*kept, strict=True)) if kept else ([], [], [])


def content_of(cell):
    """What a variable of an enclosing function holds; MISSING before it is set."""
    try:
        return cell.cell_contents
    except ValueError:  # not set yet
        return MISSING


def equal(a, b):
    """Whether two plain values, or small NumPy arrays, are the same."""
    if type(a) is not type(b):
        return False
    if type(a) is np.ndarray:
        return a.size <= _FEW and a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    return type(a) in SCALARS and (a == b or a != a and b != b)


def _is_small(value):
    """Whether it is an array whose elements are compared, since it may be changed in place."""
    return type(value) is np.ndarray and value.size <= _FEW and value.dtype.kind in "biufc"


def _same_items(items, value):
    return len(items) == len(value) and all([v is MISSING or now is v or equal(now, v) for now, v in zip(items, value, strict=True)])


def _text(value):
    return repr(value) if type(value) in SCALARS else f"another {type(value).__name__}"
