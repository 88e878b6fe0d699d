"""Guards for the parts of Layers and optimizers that this package reads.

They are compared again before each call of a compiled form.
"""

from __future__ import annotations

from typing import Any

from paddle_jax._core.base.state import LayerVersion
from paddle_jax._core.execution.python_state import same_objects
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.guards.guard_set import Reason
from paddle_jax._program.guards.messages import change_text
from paddle_jax._program.guards.read_guards import ReadTable, entries, items


class PackageGuards:
    """The StateGuard for values that must stay the same.

    Numbers and texts must be equal, other things must be the same objects.

    Attributes:
        optimizer_settings: ReadTable of settings of optimizers, compared at each call.
        layer_settings: ReadTable of settings of Layers, compared when an attribute of a Layer was set.
        forwards: ReadTable of the `forward` that Layers have of their own, compared like layer_settings.
        store_sizes: list of (store of a Layer, number of its items).
        lists: list of (list of an optimizer, copy of it).
        version: the LayerVersion at the last comparison.
    """

    def __init__(self) -> None:
        self.optimizer_settings = ReadTable(items)
        self.layer_settings = ReadTable(entries)
        self.forwards = ReadTable(entries)
        self.store_sizes: list[tuple[dict[Any, Any], int]] = []
        self.lists: list[tuple[list[Any], list[Any]]] = []
        self.version = LayerVersion.count

    def add(
        self,
        table: ReadTable,
        store: dict[Any, Any] | list[Any],
        key: Any,
        value: Any,
        has_other_slot: bool = False,
    ) -> None:
        """Guards `store[key]`.

        Tensors need no guard, since each call looks them up there. A Tensor that has another slot, where it
        is looked up, needs none either.
        """
        if has_other_slot or not isinstance(value, Tensor):
            table.add(store, key, value, "?")

    def new_forwards(self) -> ReadTable:
        """Begins a run: returns an empty table for the `forward` of Layers."""
        self.forwards = ReadTable(entries)
        return self.forwards

    def check(self) -> Reason | None:
        """None while everything is as it was. Layers are compared when an attribute of one was set."""
        version = LayerVersion.count
        # a function without an optimizer has neither of the two
        # Optimizers are compared at each call: their settings count no changes.
        settings_hold = not self.optimizer_settings.owners or self.optimizer_settings.holds()
        if settings_hold and (not self.lists or self._lists_hold()):
            # No attribute of any Layer was set since.
            if self.version == version:
                return None
            if self._layers_hold():
                self.version = version
                return None
        return Reason("Layers and optimizers", self._describe_change())

    def _layers_hold(self) -> bool:
        if not all(len(store) == size for store, size in self.store_sizes):
            return False
        return self.layer_settings.holds() and self.forwards.holds()

    def _describe_change(self) -> str:
        """A text about the first value that is another one."""
        for table in (self.optimizer_settings, self.layer_settings):
            change = table.first_change()
            if change is not None:
                name = f"{change.key}{_layer_suffix(change.owner)}"
                return change_text(name, change.before, change.now)
        if not self._lists_hold():
            return "an optimizer has got or lost parameters"
        change = self.forwards.first_change()
        if change is not None:
            return f"{change.key}{_layer_suffix(change.owner)} is another one"
        return "a Layer that the function uses has got or lost something"

    def _lists_hold(self) -> bool:
        return all([same_objects(now, before) for now, before in self.lists])


def _layer_suffix(store: Any) -> str:
    """The name of the Layer whose attributes a dict holds, for a message; "" for other containers."""
    if isinstance(store, dict):
        name = store.get("_full_name")
    else:
        name = None
    if type(name) is str:
        return f" of the Layer {name}"
    return ""
