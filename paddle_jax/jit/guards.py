"""Guards: what a compiled form rests on, compared at each call."""

import types

import numpy as np

from paddle_jax._core.state import Changes
from paddle_jax._core.tensor import Tensor

MISSING = object()
SCALARS = frozenset({bool, int, float, complex, str, bytes, type(None)})
_FEW = 64  # elements of a NumPy array that are compared; of a larger one only that it is the same object


class Guards:
    """Values that must stay the same: numbers, texts and small NumPy arrays equal ones, other things the same objects.

    values: [(mapping, key, value)]; cells: [(cell, value)]; lists: [(list, items)], MISSING for what may change; sizes: [(dict, number of items)].
    settings, parts: values and sizes of Layers, compared only when an attribute of some Layer has been set.
    """

    def __init__(self):
        self.values, self.cells, self.lists, self.sizes, self.settings, self.parts = [], [], [], [], [], []
        self.changes = Changes.count

    def value(self, store, key, value, settings=False):
        """`store[key]` has to stay the same. Nothing for a Tensor, which is looked up at each call, and for a module."""
        if not isinstance(value, Tensor | types.ModuleType):
            (self.settings if settings else self.values).append((store, key, _kept(value)))

    def cell(self, cell, value):
        """A variable of an enclosing function has to stay the same."""
        if not isinstance(value, Tensor):
            self.cells.append((cell, _kept(value)))

    def items(self, items):
        """The items of a list have to stay the same."""
        self.lists.append((items, [MISSING if isinstance(item, Tensor) else _kept(item) for item in items]))

    def holds(self):
        """Whether everything is as it was."""
        for store, key, value in self.values:
            now = store.get(key, MISSING)
            if now is not value and not equal(now, value):
                return False
        for cell, value in self.cells:
            now = content_of(cell)
            if now is not value and not equal(now, value):
                return False
        for items, value in self.lists:
            if not _same_items(items, value):
                return False
        for store, size in self.sizes:
            if len(store) != size:
                return False
        if self.changes != Changes.count:
            count = Changes.count
            if not all(len(store) == size for store, size in self.parts) or any(map(_changed, self.settings)):
                return False
            self.changes = count
        return True

    def changed(self):
        """What no longer holds, in words."""
        for entry in (*self.values, *self.settings):
            if _changed(entry):
                store, key, value = entry
                now = store.get(key, MISSING)
                return f"{key} was {_text(value)} and is {'gone' if now is MISSING else _text(now)}"
        for cell, value in self.cells:
            now = content_of(cell)
            if now is not value and not equal(now, value):
                return f"a variable of an enclosing function was {_text(value)} and is {_text(now)}"
        for items, value in self.lists:
            if not _same_items(items, value):
                return f"a list of {len(value)} items that the function uses has changed"
        return "a dict or Layer that the function uses has got or lost something"

    def settle(self):
        """Lets go of the lists and dicts that the run itself has changed."""
        self.lists = [entry for entry in self.lists if _same_items(*entry)]
        self.values = [entry for entry in self.values if not (isinstance(entry[0], dict) and _changed(entry))]
        self.sizes = [(store, size) for store, size in self.sizes if len(store) == size]


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
    if isinstance(a, np.ndarray):
        return a.size <= _FEW and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    return type(a) in SCALARS and (a == b or a != a and b != b)


def _kept(value):
    """What to compare with later: what may be changed in place is copied."""
    return value.copy() if type(value) is np.ndarray and value.size <= _FEW else value


def _changed(entry):
    store, key, value = entry
    now = store.get(key, MISSING)
    return now is not value and not equal(now, value)


def _same_items(items, value):
    return len(items) == len(value) and all([v is MISSING or now is v or equal(now, v) for now, v in zip(items, value, strict=True)])


def _text(value):
    return repr(value) if type(value) in SCALARS else f"another {type(value).__name__}"
