"""Where a Layer keeps what it has."""

import collections

from paddle_jax._core.base.state import Changes


class Store(collections.OrderedDict):
    """Parameters, buffers, sublayers or hooks by name. Counts as a change of the Layer when one is put
    in or taken out."""

    def __setitem__(self, key, value):
        Changes.count += 1
        super().__setitem__(key, value)

    def __delitem__(self, key):
        Changes.count += 1
        super().__delitem__(key)

    def pop(self, *args):
        """Takes out an item and returns it."""
        Changes.count += 1
        return super().pop(*args)

    def clear(self):
        """Takes out everything."""
        Changes.count += 1
        super().clear()
