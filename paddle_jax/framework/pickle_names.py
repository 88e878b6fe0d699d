"""What the names in a checkpoint's pickle stand for: functions that make the few types a checkpoint needs, of
checked parts and within a Budget.

Nothing here trusts its arguments. Arrays and dtypes are rebuilt from checked parts, because
`ndarray.__setstate__` and `dtype.__setstate__` trust what they are given; containers are made of containers
that the file itself holds, never of a `range`, and the keys of dicts and sets are looked at before they are
hashed, since 100 KB of keys with one hash would take minutes.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import pickle
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.size import size_of
from paddle_jax._core.tensors import place as places

if TYPE_CHECKING:
    from paddle_jax._core.base.dtype import DType


# Small files may hold many small objects.
ROOM = 40 << 20  # bytes that a file may take besides four times its size
_KEYS = 32  # keys with one hash in a container
_PARTS = 1000  # parts of a key, counted along every path, since the hash of a tuple goes along all of them
# Python hashes whole numbers modulo 2**61 - 1, so larger ones may be chosen to collide.
_WORD = 1 << 64
# hashes that nobody can choose, or that only few keys share
_PLAIN = frozenset((str, bytes, bool, float, type(None)))
_CONTAINERS = (list, tuple, dict, set, frozenset)


class CorruptFileError(ValueError, EOFError):
    """A file that is damaged, cut short, or not a checkpoint. Both ValueError and EOFError, since Paddle
    raises the one or the other."""


class ForbiddenError(CorruptFileError, pickle.UnpicklingError):
    """A file that asks for something a checkpoint does not need, which might be an attack."""


def shortened(what: Any) -> str:
    """An exception or a text in at most 200 characters: what a file says may be long."""
    if isinstance(what, Exception):
        text = f"{type(what).__name__}: {what}"
    else:
        text = what
    if len(text) <= 200:
        return text
    return text[:200] + "..."


class Budget:
    """The memory that what a file says may take: by and large what the file itself takes, so that no few
    bytes ask for gigabytes.

    arrays: how many arrays were made. named: whether one stands in a pair with a name, which is how Tensors
    outside state dicts are written.
    """

    left: Any

    def __init__(self, size: Any) -> None:
        # Objects take more memory than their bytes in a file.
        self.left = 4 * size + ROOM
        self.arrays = 0
        self.named = False
        self._hashes = {}

    def take(self, count: Any) -> None:
        """Counts bytes.

        Raises:
            CorruptFileError: they are more than a file of this size may ask for.
        """
        self.left -= count
        if self.left < 0:
            raise CorruptFileError(
                "it asks for far more memory than it takes itself; "
                "if you trust who wrote it, pass allow_pickle=True"
            )

    def check_keys(self, container: Any, keys: Any) -> None:
        """Looks at keys before they go into a dict or set, which stays alive.

        Raises:
            CorruptFileError: hashing them, or telling them apart, could take very long.
        """
        for key in keys:
            kind = type(key)
            # Most keys are texts: the quick way.
            if kind in _PLAIN or kind is int and -_WORD < key < _WORD:
                continue
            if not isinstance(key, np.generic) or key.dtype.kind not in "biufSU":
                self._check_hash(container, key)

    def _check_hash(self, container: Sequence[Any] | dict[str, Any], key: Sequence[int]) -> None:
        _weigh(key, [_PARTS])
        self.take(200)
        # The container is kept with its counts, so that its id stays its own.
        _, counts = self._hashes.setdefault(id(container), (container, collections.Counter()))
        counts[hash(key)] += 1
        if counts[hash(key)] > _KEYS:
            raise CorruptFileError("its keys are made so that they collide")


def _weigh(key: Sequence[int] | int, left: Sequence[int]) -> None:
    """Raises unless a key has few parts, all of types whose hash takes a bounded time."""
    left[0] -= 1
    if left[0] < 0:
        raise CorruptFileError("it has a key of very many parts")
    if type(key) in (tuple, frozenset):
        for part in key:
            # A hash of a tuple goes through its parts each time, so a nested one could take exponential
            # time.
            _weigh(part, left)
    elif not (
        type(key) in _PLAIN
        or type(key) is int
        and -_WORD < key < _WORD
        or isinstance(
            key,
            (
                complex
                | np.generic
                | dtypes.DType
                | datetime.date
                | datetime.time
                | datetime.timedelta
                | datetime.timezone
            ),
        )
    ):
        raise CorruptFileError(f"it has a {type(key).__name__} as a key")


# what is under construction: made by a call, filled by its state --------------------------------------------


class Unfinished:
    """Something under construction; `positions` are where the reader has noted it down."""

    __slots__ = ("__weakref__", "positions")

    def __init__(self) -> None:
        self.positions: list[Any] = []


class _Dtype(Unfinished):
    __slots__ = ("dtype",)

    def finished(self, state: Any, budget: Budget) -> np.dtype:
        """The NumPy dtype."""
        if state[1] in ("<", ">"):
            self.dtype = self.dtype.newbyteorder(state[1])
        # NumPy's state of such dtypes is a nest of its own.
        if self.dtype.kind in "Mm" and isinstance(state[-1], dict | tuple):
            raise CorruptFileError("dates with units are not supported")
        return self.dtype


class _Array(Unfinished):
    __slots__ = ()

    def finished(self, state: Any, budget: Budget) -> np.ndarray:
        """The ndarray."""
        _, shape, dtype, fortran, data = state
        return _build_array(budget, data, dtype, shape, "F" if fortran else "C")


class _PaddleDtype(Unfinished):
    """Paddle's own pickled dtype object, known by its number."""

    __slots__ = ()

    def finished(self, state: Any, budget: Budget) -> DType:
        """The DType."""
        return next(d for d in dtypes.ALL if d.value == state)


def _dtype(budget: Budget, code: str, align: Any = False, copy: Any = True) -> _Dtype:
    if not isinstance(code, str):
        code = code.name
    if len(code) > 32:
        raise CorruptFileError("a dtype has a long name")
    made = _Dtype()
    made.dtype = np.dtype(code)
    # Records and subarrays have parts whose sizes nobody has counted.
    if made.dtype.names or made.dtype.subdtype or made.dtype.kind not in "biufcSUMmO":
        raise CorruptFileError(f"dtype {code!r} is not one of a plain array")
    return made


def _build_array(
    budget: Budget,
    data: bytes,
    dtype: np.dtype,
    shape: Sequence[int],
    order: str,
    # A number alone is NumPy's form of a shape of one axis.
) -> np.ndarray:
    budget.arrays += 1
    if isinstance(shape, int):
        shape = (shape,)
    else:
        shape = tuple([int(n) for n in shape])
    if any(n < 0 for n in shape):
        raise CorruptFileError(f"array of shape {shape}")
    # Objects are in the file themselves; the array has one pointer for each.
    if dtype.kind == "O":
        budget.take(8 * len(data))
        flat = np.empty(len(data), object)
        flat[:] = data
    else:
        # Protocol 2 has bytes as texts in latin1.
        flat = np.frombuffer(_encode(budget, data) if isinstance(data, str) else data, dtype)
        budget.take(flat.nbytes + 200)
    return flat.reshape(shape, order=order)


def _reconstruct(budget: Budget, cls, shape: Sequence[int], code: bytes) -> _Array:
    return _Array()


def _scalar(budget: Any, dtype: Any, data: Any) -> Any:
    return _build_array(budget, data, dtype, (1,), "C")[0]


# plain types ------------------------------------------------------------------------------------------------


def _encode(budget: Budget, text: str, encoding: str = "latin1") -> bytes:
    if encoding not in ("latin1", "latin-1"):
        raise CorruptFileError(f"bytes encoded as {str(encoding)[:50]!r}")
    budget.take(len(text))
    return text.encode("latin1")


def _buffer(cls) -> Callable[..., Any]:
    def make(budget: Budget, data: Any = b"", encoding: str = "latin1") -> Any:
        # A number: `bytes(10**9)`.
        # never a number, which would ask for memory
        if isinstance(data, str):
            data = _encode(budget, data, encoding)
        else:
            data = memoryview(data)
        budget.take(len(data))
        return cls(data)

    return make


def _number(cls) -> Callable[..., Any]:
    # `range` and `complex` of numbers take no memory; a text would be parsed.
    def make(budget: Budget, *parts: Any) -> Any:
        if not all(type(part) in (int, float, bool) for part in parts):
            raise CorruptFileError(f"it makes a {cls.__name__} of something else than numbers")
        return cls(*parts)

    return make


def _plain(cls) -> Callable[..., Any]:
    def make(budget: Budget, *args: Any) -> Any:
        budget.take(100)
        return cls(*args)

    return make


def _container(cls, size: int) -> Callable[..., Any]:
    """Makes a container of the parts of another one; `size` is what an empty one takes in bytes."""

    def make(budget: Budget, parts: Any = (), *more: Any) -> Any:
        if not isinstance(parts, _CONTAINERS):
            raise CorruptFileError(f"it makes a {cls.__name__} of a {type(parts).__name__}")
        # What CPython's containers take per item, about.
        budget.take(size + (100 if issubclass(cls, dict | set | frozenset) else 8) * len(parts))
        # Pairs of keys and values, as OrderedDict writes them.
        if issubclass(cls, dict) and not isinstance(parts, dict) and cls is not collections.Counter:
            budget.check_keys([], [key for key, _ in parts])
        elif issubclass(cls, dict | set | frozenset):
            budget.check_keys([], parts)
        return cls(parts, *more)

    return make


def _defaultdict(budget: Budget, factory: Name | None = None, *parts: Any) -> Any:
    # Its class is called for each missing key later, outside of any budget.
    if factory is not None and getattr(factory, "factory", None) is None:
        raise CorruptFileError("a defaultdict has no plain type to make its values with")
    return collections.defaultdict(factory and factory.factory, _container(dict, 100)(budget, *parts))


def _deque(budget: Budget, parts: Sequence[Any] = (), maxlen: int | None = None) -> Any:
    return _container(collections.deque, 700)(budget, parts, maxlen)


def _namespace(budget: Any) -> Any:
    budget.take(200)
    return argparse.Namespace()


def _static_tensor(budget: Any, source: Any, names: Any) -> Any:
    """Stands for `eval('data', {'data': array})`, which is how Paddle writes tensors of static programs
    in nested objects."""
    # Anything else in `eval` would be code.
    if source != "data" or set(names) != {"data"}:
        raise ForbiddenError("eval of anything but a stored array")
    return names["data"]


class Name:
    """An allowed name in a file. make: what calling it does, a function of the Budget and the arguments.
    factory: a type that a defaultdict may use."""

    __slots__ = ("__weakref__", "factory", "make")

    def __init__(self, make: Callable[..., Any] | None, factory: Any = None) -> None:
        self.make: (Callable[..., Any]) | None = make
        self.factory: Any = factory


def _names() -> dict[tuple[str, str], Any]:
    table = {
        ("numpy", "dtype"): _dtype,
        ("numpy", "ndarray"): None,
        ("_codecs", "encode"): _encode,
        ("argparse", "Namespace"): _namespace,
    }
    # NumPy 1 and 2 have these functions in different modules.
    for core in ("numpy.core", "numpy._core"):
        table |= {
            (core + ".multiarray", "_reconstruct"): _reconstruct,
            (core + ".multiarray", "scalar"): _scalar,
        }
        table[core + ".numeric", "_frombuffer"] = _build_array
    plain = {
        "tuple": _container(tuple, 40),
        "list": _container(list, 56),
        "dict": _container(dict, 64),
        "set": _container(set, 216),
    }
    plain |= {
        "frozenset": _container(frozenset, 216),
        "complex": _number(complex),
        "int": _number(int),
        "float": _number(float),
    }
    plain |= {"range": _number(range), "xrange": _number(range), "slice": _plain(slice)}
    plain |= {"bytes": _buffer(bytes), "bytearray": _buffer(bytearray), "eval": _static_tensor}
    # `__builtin__` is Python 2's name, which protocol 2 writes.
    table |= {(module, name): make for module in ("builtins", "__builtin__") for name, make in plain.items()}
    ordered, counter = (_container(cls, 400) for cls in (collections.OrderedDict, collections.Counter))
    more = {"OrderedDict": ordered, "Counter": counter, "deque": _deque, "defaultdict": _defaultdict}
    table |= {("collections", name): make for name, make in more.items()}
    for cls in (datetime.datetime, datetime.date, datetime.time, datetime.timedelta, datetime.timezone):
        table["datetime", cls.__name__] = _plain(cls)
    table["paddle", "dtype"] = lambda budget: _PaddleDtype()
    # older versions had these modules one folder higher
    for module in ("paddle_jax._core.dtype", "paddle_jax._core.base.dtype"):
        table[module, "convert"] = _plain(dtypes.convert)
    for module in ("paddle_jax._core.place", "paddle_jax._core.tensors.place"):
        table[module, "restored"] = _plain(places.restored)
    table["paddle.base.libpaddle", "Size"] = lambda budget, lengths: size_of(
        _container(list, 56)(budget, lengths)
    )
    return table


_ALLOWED = _names()
_FACTORIES = {"list": list, "dict": dict, "set": set, "int": int, "float": float, "tuple": tuple}


def find(module: str, name: str) -> Name:
    """The Name of a global in a file.

    Raises:
        ForbiddenError: a checkpoint does not need it.
    """
    try:
        # An allow-list: what is not in it is refused, whatever it does.
        make = _ALLOWED[module, name]
    except KeyError:
        text = f"it needs {shortened(f'{module}.{name}')}, which is not among the types of a checkpoint"
        raise ForbiddenError(text + "; if you trust who wrote it, pass allow_pickle=True") from None
    return Name(make, _FACTORIES.get(name) if module in ("builtins", "__builtin__") else None)
