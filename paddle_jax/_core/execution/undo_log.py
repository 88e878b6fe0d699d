"""Logs of Tensors that change in place while code is captured or recorded, to restore them."""

from __future__ import annotations

import operator
import weakref
from typing import Any

from paddle_jax._core.tensors.tensor import Tensor

_fields = operator.attrgetter("_raw", "_node", "_idx", "stop_gradient", "_grad", "_version", "_alias")

State = tuple[Any, ...]  # begins with what the Tensor held


class UndoLog:
    """Tensors with their states from before they were changed.

    Attributes:
        entries: {id: (weak reference to the Tensor, its state)}.
    """

    def __init__(self) -> None:
        self.entries: dict[int, tuple[weakref.ref[Tensor], State]] = {}

    @staticmethod
    def state_of(tensor: Tensor) -> State:
        """The value of a Tensor, its place on the tape, and the views that share elements with it."""
        fields = _fields(tensor)
        alias = fields[6]
        if alias is None:
            family_refs = None
        else:
            family_refs = list(alias.family.refs)
        versions = []
        while alias is not None:
            versions.append((alias.version, alias.version[0]))
            alias = alias.parent
        return (*fields, versions, family_refs)

    @staticmethod
    def restore(tensor: Tensor, state: State) -> None:
        """Gives a Tensor a state that `state_of` returned."""
        raw, node, idx, stop_gradient, grad, version, alias, versions, family_refs = state
        tensor._raw = raw
        tensor._node = node
        tensor._idx = idx
        tensor.stop_gradient = stop_gradient
        tensor._grad = grad
        tensor._version = version
        tensor._alias = alias
        for shared, count in versions:
            shared[0] = count
        if family_refs is not None:
            # without the views that the run has made, which something may keep alive
            tensor._alias.family.refs = family_refs

    def save(self, tensor: Tensor) -> None:
        """Saves the state of a Tensor, before its first change."""
        entry = self.entries.get(id(tensor))
        if entry is None or entry[0]() is not tensor:
            self.entries[id(tensor)] = weakref.ref(tensor), self.state_of(tensor)

    def saved_state(self, tensor: Tensor) -> State:
        """The state of a Tensor that was saved."""
        return self.entries[id(tensor)][1]

    def changed(self) -> list[tuple[Tensor, State]]:
        """[(Tensor, saved state)] of those that hold something else now."""
        pairs = [(ref(), before) for ref, before in self.entries.values()]
        return [
            (tensor, before)
            for tensor, before in pairs
            if tensor is not None and tensor._raw is not before[0]
        ]

    def undo(self) -> list[tuple[Tensor, Any, State]]:
        """Restores all Tensors.

        Returns:
            [(Tensor, what it held until now, saved state)] of those that held something else.
        """
        changed = [(tensor, tensor._raw, before) for tensor, before in self.changed()]
        for ref, before in reversed(self.entries.values()):
            tensor = ref()
            if tensor is not None:
                self.restore(tensor, before)
        self.entries.clear()
        return changed

    def merge_later(self, later: UndoLog) -> None:
        """Takes in the entries of a log that was begun after this one."""
        self.entries = {**later.entries, **self.entries}


class ValueLog(UndoLog):
    """A log of values alone: while a Program is recorded, Tensors have no history."""

    @staticmethod
    def state_of(tensor: Tensor) -> State:
        return (tensor._raw,)

    @staticmethod
    def restore(tensor: Tensor, state: State) -> None:
        tensor._raw = state[0]
