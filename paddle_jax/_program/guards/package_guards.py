"""Guards: what code of this package reads of Layers and optimizers, compared at each call of
a compiled form."""

from paddle_jax._core.base.state import LayerVersion
from paddle_jax._core.execution.python_state import same_objects
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.guards.guard_set import ReadTable, entries, items
from paddle_jax._program.guards.messages import change_text


class PackageGuards:
    """Values that must stay the same: numbers and texts equal ones, other things the same objects.

    fixed: places of optimizers. settings: those of Layers, compared only when an attribute of some Layer was
    set. parts: [(dict of a Layer, number of items)]. own: the `forward` that Layers have of their own,
    compared like settings. lists: [(list of an optimizer, what was in it)].
    """

    def __init__(self):
        self.fixed, self.settings, self.changes, self.parts, self.lists = (
            ReadTable(items),
            ReadTable(entries),
            LayerVersion.count,
            [],
            [],
        )
        self.own = ReadTable(entries)

    def add(self, table, store, key, value, shared=False):
        """`store[key]` has to stay the same. Nothing for a Tensor, which is looked up at each call, unless it
        is `shared`: known by another place, too, where it is looked up."""
        if shared or not isinstance(value, Tensor):
            table.add(store, key, value, "?")

    def own_settings(self):
        """Begins a run: a fresh table for what it reads of Layers' own attributes."""
        self.own = ReadTable(entries)
        return self.own

    def holds(self):
        """Whether everything is as it was."""
        if not self.fixed.holds() or not self._lists_hold():
            return False
        if self.changes != LayerVersion.count:
            count = LayerVersion.count
            if (
                not all(len(store) == size for store, size in self.parts)
                or not self.settings.holds()
                or not self.own.holds()
            ):
                return False
            self.changes = count
        return True

    def describe_change(self):
        """What no longer holds, in words."""
        for table in (self.fixed, self.settings):
            if (row := table.first_change()) is not None:
                store, key, value, now, _ = row
                return change_text(f"{key}{_of_layer(store)}", value, now)
        if not self._lists_hold():
            return "an optimizer has got or lost parameters"
        if (row := self.own.first_change()) is not None:
            return f"{row[1]}{_of_layer(row[0])} is another one"
        return "a Layer that the function uses has got or lost something"

    def _lists_hold(self):
        return all([same_objects(now, before) for now, before in self.lists])


def _of_layer(store):
    """Whose attributes a dict holds, as far as it is a Layer."""
    name = store.get("_full_name") if isinstance(store, dict) else None
    return f" of the Layer {name}" if type(name) is str else ""
