"""Tensors that are changed in place while code runs to be captured or recorded, and how they become
again what they were."""

import operator
import weakref

_fields = operator.attrgetter("_raw", "_node", "_idx", "stop_gradient", "_grad", "_version", "_alias")


class UndoLog:
    """Tensors with what they were before they were changed: {id: (weak reference, state)}, the state begins
    with what the Tensor held."""

    def __init__(self):
        self.entries = {}

    @staticmethod
    def state_of(tensor):
        """What a Tensor is: its value, its place on the tape, and what it shares elements with as
        of which versions."""
        fields = _fields(tensor)
        alias, versions = fields[6], []
        while alias is not None:
            versions.append((alias.version, alias.version[0]))
            alias = alias.parent
        return (*fields, versions, None if fields[6] is None else list(fields[6].family.refs))

    @staticmethod
    def put_back(tensor, state):
        """Makes a Tensor what it was when `state_of` was called."""
        (
            tensor._raw,
            tensor._node,
            tensor._idx,
            tensor.stop_gradient,
            tensor._grad,
            tensor._version,
            tensor._alias,
            versions,
            refs,
        ) = state
        for shared, version in versions:
            shared[0] = version
        if refs is not None:
            # without the views that the run has made, which something may keep alive
            tensor._alias.family.refs = refs

    def save(self, tensor):
        """To be called before a change."""
        entry = self.entries.get(id(tensor))
        if entry is None or entry[0]() is not tensor:
            self.entries[id(tensor)] = weakref.ref(tensor), self.state_of(tensor)

    def saved_state(self, tensor):
        """The state of a Tensor that was noted."""
        return self.entries[id(tensor)][1]

    def changed(self):
        """[(Tensor, state before)] of those that hold something else now."""
        pairs = [(ref(), before) for ref, before in self.entries.values()]
        return [
            (tensor, before)
            for tensor, before in pairs
            if tensor is not None and tensor._raw is not before[0]
        ]

    def undo(self):
        """Puts everything back; [(Tensor, what it held until now, state before)] of those that
        held something else."""
        changed = [(tensor, tensor._raw, before) for tensor, before in self.changed()]
        for ref, before in reversed(self.entries.values()):
            if (tensor := ref()) is not None:
                self.put_back(tensor, before)
        self.entries.clear()
        return changed

    def merge_later(self, later):
        """Takes in what was noted after this."""
        self.entries = {**later.entries, **self.entries}


class ValueLog(UndoLog):
    """Only what the Tensors hold is put back: while a Program is recorded they have no history."""

    @staticmethod
    def state_of(tensor):
        return (tensor._raw,)

    @staticmethod
    def put_back(tensor, state):
        tensor._raw = state[0]
