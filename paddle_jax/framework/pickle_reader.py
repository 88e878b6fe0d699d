"""Reading pickled checkpoints without running code from them, in memory and time that go with the
size of the file.

A pickle is a program for a small stack machine. This one knows the few names that checkpoints use
(`pickle_names.py`) and refuses all others; what a file makes of containers and arrays is counted
against a Budget.
"""

from __future__ import annotations

import argparse
import collections
import gc
import pickle
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.framework.pickle_names import CorruptFileError, ForbiddenError, Name, Unfinished, find

if TYPE_CHECKING:
    from paddle_jax.framework.pickle_names import Budget


_MARKS = 5000  # containers that are open at a time
_LARGE = 1 << 16  # bytes; what is shorter is read without asking first whether the file has as much


class _Reader(pickle._Unpickler):
    """Reads one object and looks at each opcode before it happens.

    Attributes:
        _stream, _budget: as given.
        _end: int, the length of the file.
        _memo: list of what opcodes refer to by number.
        _far: dict of such objects at numbers far beyond the others.
        _names: dict of the types and functions that were named.
        _open: WeakSet of names and arrays that have no content yet.
        readline, append: methods of the stream and of the present stack.
        stack, metastack: lists, as in `pickle`.
        proto: int, the protocol of the file.
    """

    # The Python version of the unpickler: that in C makes room for a damaged index or length before it looks,
    # and lets no opcode be changed.

    def __init__(self, stream: Any, budget: Budget) -> None:
        # As NumPy asks for it: arrays of Python 2 have their bytes as texts.
        super().__init__(stream, encoding="latin1")
        self._stream = stream
        self._budget = budget
        position = stream.tell()
        self._end = stream.seek(0, 2)
        stream.seek(position)
        self._memo, self._far, self._names, self._open = [], {}, {}, weakref.WeakSet()

    def load(self) -> Any:
        """The object, when everything in it is finished."""
        self.readline = self._stream.readline
        self.metastack = []
        self.stack = []
        self.proto = 0
        self.append = self.stack.append
        # Bound once, as the loop runs for every opcode.
        one = self._stream.read
        table = _TABLE
        # "." is STOP.
        while (key := one(1)) != b".":
            table[key](self)
        found = self.stack.pop()
        if self.stack or self.metastack:
            raise CorruptFileError("it ends in the middle of an object")
        # The unpickler keeps all objects in its memo, which would live as long as it does.
        for kept in (self.stack, self.metastack, self._memo, self._far, self._names):
            kept.clear()
        if len(self._open):
            raise CorruptFileError("it holds a bare type or function, or an array without content")
        return found

    def read(self, count: Any) -> bytes:
        """Exactly `count` bytes; memory is asked for only when the file has them."""
        # Short reads are checked afterwards, which is faster.
        if count > _LARGE and count > self._end - self._stream.tell():
            raise EOFError("it is cut short")
        data = self._stream.read(count)
        if len(data) != count:
            raise EOFError("it is cut short")
        return data

    # names and calls ----------------------------------------------------------------------------------------

    def find_class(self, module: str, name: str) -> Name:
        # One object per name: pickle memoizes it.
        """The Name behind a global, the same object each time."""
        key = module, name
        if key not in self._names:
            self._names[key] = find(module, name)
            self._open.add(self._names[key])
        return self._names[key]

    def _called(self, name: Name, args: Sequence[Any]) -> Any:
        # Only names of the table are called, never an object of the file.
        if type(name) is not Name or name.make is None:
            raise ForbiddenError(f"it calls a {type(name).__name__}")
        made = name.make(self._budget, *args)
        if isinstance(made, Unfinished):
            self._open.add(made)
        return made

    def load_reduce(self) -> None:
        """Calls what lies below the arguments."""
        args = self.stack.pop()
        self.stack[-1] = self._called(self.stack[-1], args)

    def load_newobj_ex(self) -> None:
        """As `load_reduce`, without keyword arguments, which no type of a checkpoint takes."""
        if self.stack.pop():
            raise ForbiddenError("it calls a type with keyword arguments")
        self.load_reduce()

    def _instantiate(self, klass: Any, args: Any) -> None:
        self.append(self._called(klass, args))

    def load_build(self) -> None:
        """Gives an object its state: only what is under construction here, never a function or class."""
        state = self.stack.pop()
        target = self.stack[-1]
        if isinstance(target, Unfinished):
            self.stack[-1] = made = target.finished(state, self._budget)
            for i in target.positions:
                # Whatever has noted the unfinished object down gets the finished one.
                (self._memo if i < len(self._memo) else self._far)[i] = made
        elif type(target) is argparse.Namespace and type(state) is dict:
            vars(target).update({str(key): value for key, value in state.items()})
        else:
            raise ForbiddenError(f"it sets the state of a {type(target).__name__}")

    # containers ---------------------------------------------------------------------------------------------

    def load_mark(self) -> None:
        """Opens a container."""
        # Each mark takes memory, and a file of marks would take a hundred times its size.
        if len(self.metastack) > _MARKS:
            raise CorruptFileError("it is nested too deeply")
        super().load_mark()

    def load_tuple(self) -> None:
        """A tuple of what was put down since the mark."""
        items = self.pop_mark()
        self._budget.take(40 + 8 * len(items))
        # A pair of name and array: this is how Tensors outside state dicts are written.
        if len(items) == 2 and type(items[1]) is np.ndarray:
            self._budget.named = self._budget.named or isinstance(items[0], str)
        self.append(tuple(items))

    def load_list(self) -> None:
        """A list of what was put down since the mark."""
        items = self.pop_mark()
        self._budget.take(56 + 8 * len(items))
        self.append(items)

    def load_dict(self) -> None:
        """A dict of the keys and values since the mark."""
        items = self.pop_mark()
        made = {}
        self._budget.take(64)
        self._set(made, items)
        self.append(made)

    def load_frozenset(self) -> None:
        """A frozenset of what was put down since the mark."""
        items = self.pop_mark()
        self.append(find("builtins", "frozenset").make(self._budget, items))

    def load_append(self) -> None:
        """Adds one item to a list."""
        item = self.stack.pop()
        self._extend([item])

    def load_appends(self) -> None:
        """Adds what was put down since the mark to a list."""
        self._extend(self.pop_mark())

    def _extend(self, items: Sequence[Any]) -> None:
        if not isinstance(self.stack[-1], list | collections.deque):
            raise CorruptFileError(f"it adds items to a {type(self.stack[-1]).__name__}")
        self.stack[-1].extend(items)

    def load_setitem(self) -> None:
        """Puts one value into a dict."""
        value = self.stack.pop()
        key = self.stack.pop()
        self._set(self.stack[-1], (key, value))

    def load_setitems(self) -> None:
        """Puts the keys and values since the mark into a dict."""
        items = self.pop_mark()
        self._set(self.stack[-1], items)

    def _set(self, target: dict[Any, Any] | dict[str, Any], items: Sequence[Any]) -> None:
        if not isinstance(target, dict):
            raise CorruptFileError(f"it puts keys into a {type(target).__name__}")
        # Before they are hashed.
        self._budget.check_keys(target, items[::2])
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[key] = value

    def load_additems(self) -> None:
        """Adds what was put down since the mark to a set."""
        items = self.pop_mark()
        if type(self.stack[-1]) is not set:
            raise CorruptFileError(f"it adds elements to a {type(self.stack[-1]).__name__}")
        self._budget.check_keys(self.stack[-1], items)
        self.stack[-1].update(items)

    def load_bytearray8(self) -> None:
        """A bytearray; its memory is asked for after its content has been read."""
        self.append(bytearray(self.read(int.from_bytes(self.read(8), "little"))))

    # the memo: a list while numbers come in order, as an entry of a dict takes far more memory than an opcode

    def load_memoize(self) -> None:
        """Notes the top of the stack down at the next index."""
        self._note(len(self._memo) + len(self._far))

    # Numbers of a damaged file may be far apart.
    def _note(self, i: int) -> None:
        top = self.stack[-1]
        if isinstance(top, Unfinished):
            top.positions.append(i)
        if i == len(self._memo) and i not in self._far:
            self._memo.append(top)
        elif 0 <= i < len(self._memo):
            self._memo[i] = top
        else:
            self._budget.take(150)
            self._far[i] = top

    def _push_memo(self, i: int) -> None:
        self.append(self._memo[i] if 0 <= i < len(self._memo) else self._far[i])

    def load_frame(self) -> None:
        """The length of a part that a reader may fetch at once: of no use here."""
        self.read(8)

    def end(self) -> Any:
        """No opcode where one should be."""
        raise EOFError("it is cut short")

    def refuse(self) -> Any:
        """An opcode that stands for objects which the file does not hold."""
        raise ForbiddenError("it refers to objects outside the file")


def _sized(size: int, make: type) -> Callable[..., Any]:
    """An opcode that puts a new container of `size` bytes on the stack."""

    def load(self) -> None:
        budget = self._budget
        # Inline, and `take` only for its error: these opcodes are as frequent as objects.
        budget.left -= size
        if budget.left < 0:
            budget.take(0)
        self.append(make())

    return load


def _short_tuple(count: int) -> Callable[..., Any]:
    """An opcode that makes a tuple of the top of the stack."""

    def load(self) -> None:
        budget = self._budget
        stack = self.stack
        budget.left -= 40 + 8 * count
        if budget.left < 0:
            budget.take(0)
        made = tuple(stack[-count:])
        if count == 2 and type(made[1]) is np.ndarray:
            budget.named = budget.named or isinstance(made[0], str)
        stack[-count:] = (made,)

    return load


_NAMES = (
    "REDUCE",
    "NEWOBJ_EX",
    "BUILD",
    "MARK",
    "TUPLE",
    "LIST",
    "DICT",
    "FROZENSET",
    "APPEND",
    "APPENDS",
    "SETITEM",
    "SETITEMS",
    "ADDITEMS",
)
# Opcodes of the table that do something else than in `pickle`.
_OWN = {
    name: getattr(_Reader, "load_" + name.lower()) for name in (*_NAMES, "BYTEARRAY8", "MEMOIZE", "FRAME")
}
_OWN |= {
    name: _Reader.refuse
    for name in ("EXT1", "EXT2", "EXT4", "PERSID", "BINPERSID", "NEXT_BUFFER", "READONLY_BUFFER")
}
_OWN |= {"NEWOBJ": _Reader.load_reduce}
_OWN |= {
    "BINPUT": lambda self: self._note(self.read(1)[0]),
    "LONG_BINPUT": lambda self: self._note(int.from_bytes(self.read(4), "little")),
}
_OWN |= {
    "BINGET": lambda self: self._push_memo(self.read(1)[0]),
    "LONG_BINGET": lambda self: self._push_memo(int.from_bytes(self.read(4), "little")),
}
_OWN |= {
    "PUT": lambda self: self._note(int(self.readline())),
    "GET": lambda self: self._push_memo(int(self.readline())),
}
_OWN |= {"EMPTY_LIST": _sized(56, list), "EMPTY_DICT": _sized(64, dict), "EMPTY_SET": _sized(216, set)}
_OWN |= {"TUPLE1": _short_tuple(1), "TUPLE2": _short_tuple(2), "TUPLE3": _short_tuple(3)}
# Others, such as those of numbers and texts, take no more memory than the file.
_TABLE = {bytes([code]): load for code, load in pickle._Unpickler.dispatch.items()} | {
    getattr(pickle, name): load for name, load in _OWN.items()
}
# At the end of the file `read(1)` gives b"".
_TABLE[b""] = _Reader.end


def read(stream: Any, budget: Budget, allow_pickle: bool = False) -> Any:
    """Reads one pickled object from a binary stream; arrays come as ndarrays.

    Raises:
        CorruptFileError: the stream is not a pickle, is damaged, or asks for a type that is not allowed or
            for very much memory.
    """
    # Asked for by the user, who trusts the file.
    if allow_pickle:
        return pickle.load(stream, encoding="latin1")
    collecting = gc.isenabled()
    gc.disable()  # it would look at the growing object again and again
    try:
        return _Reader(stream, budget).load()
    finally:
        if collecting:
            gc.enable()
