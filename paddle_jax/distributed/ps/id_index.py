"""From int64 ids to indices in an array, for many ids at once."""

import numpy as np

_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio: spreads ids that follow each other
_EMPTY = -1
# a power of 2, as `_resize` and the masks of searches need
_FIRST_SIZE = 1024


def mixed(values: np.ndarray) -> np.ndarray:
    """Evenly distributed uint64 numbers made of others (splitmix64).

    Args:
        values: uint64 [...].
    """
    # Overflow is meant: the arithmetic is modulo 2**64.
    with np.errstate(over="ignore"):
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


class IdIndex:
    """A hash table with linear probing; ids get the indices 0, 1, ... in the order in which they come.

    Attributes:
        count: int, how many ids there are.
        keys: int64 [size], the id at each slot.
        indices: int64 [size], its index, or -1 for an empty slot.
    """

    def __init__(self) -> None:
        self.count = 0
        self._resize(_FIRST_SIZE)

    def _resize(self, size: int) -> None:
        self.keys = np.zeros(size, np.int64)
        self.indices = np.full(size, _EMPTY, np.int64)
        # The top bits of the product are the slot: they depend on all bits of the id.
        self._shift = np.uint64(64 - (size.bit_length() - 1))

    def _slots(self, ids: np.ndarray) -> np.ndarray:
        """The slot at which the search for each id begins."""
        with np.errstate(over="ignore"):
            return (ids.view(np.uint64) * _FACTOR >> self._shift).astype(np.int64)

    def find(self, ids: np.ndarray) -> np.ndarray:
        """The index of each id, or -1.

        Args:
            ids: int64 [n].
        """
        return self.indices[self._find_slots(ids)]

    def _find_slots(self, ids: np.ndarray) -> np.ndarray:
        """The slot of each id, or the empty one where it would be."""
        slots = self._slots(ids)
        last = len(self.keys) - 1
        wrong = np.flatnonzero((self.keys[slots] != ids) & (self.indices[slots] != _EMPTY))
        # All searches that have not ended go on by a slot together.
        while wrong.size:
            slots[wrong] = (slots[wrong] + 1) & last
            at = slots[wrong]
            wrong = wrong[(self.keys[at] != ids[wrong]) & (self.indices[at] != _EMPTY)]
        return slots

    def add(self, ids: np.ndarray) -> np.ndarray:
        """The index of each id; ids that are not there get new ones.

        Args:
            ids: int64 [n], each one once.
        """
        indices = self.find(ids)
        missing = np.flatnonzero(indices == _EMPTY)
        if missing.size:
            fresh = np.arange(self.count, self.count + missing.size)
            self._make_room(self.count + missing.size)
            self._insert(ids[missing], fresh)
            self.count += missing.size
            indices[missing] = fresh
        return indices

    def _make_room(self, count: int) -> None:
        size = len(self.keys)
        # At most half full, so that searches stay short.
        if 2 * count <= size:
            return
        while size < 2 * count:
            size *= 2
        used = np.flatnonzero(self.indices != _EMPTY)
        keys = self.keys[used]
        indices = self.indices[used]
        self._resize(size)
        self._insert(keys, indices)

    def _insert(self, ids: np.ndarray, indices: np.ndarray) -> None:
        """Puts ids that are not there into empty slots."""
        last = len(self.keys) - 1
        slots = self._slots(ids)
        left = np.arange(len(ids))
        while left.size:
            at = slots[left]
            free = self.indices[at] == _EMPTY
            # several ids may want one slot: what was written last has it
            self.keys[at[free]] = ids[left[free]]
            self.indices[at[free]] = indices[left[free]]
            # The ids that lost their slot to another one look further.
            left = left[self.indices[at] != indices[left]]
            slots[left] = (slots[left] + 1) & last

    def ids(self) -> np.ndarray:
        """All ids, by index."""
        used = np.flatnonzero(self.indices != _EMPTY)
        found = np.zeros(self.count, np.int64)
        found[self.indices[used]] = self.keys[used]
        return found
