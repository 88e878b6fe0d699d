"""Reading pickled checkpoints without running code from them.

A pickle is a program. This reader knows the few names that checkpoints use, gives everything else an error, and lets no opcode reach the inside
of NumPy: arrays and dtypes are rebuilt here from checked parts, because `ndarray.__setstate__` and `dtype.__setstate__` trust what they are given.
"""

import argparse
import collections
import datetime
import pickle

import numpy as np

from paddle_jax._core import dtype as dtypes


class CorruptFileError(ValueError, EOFError):
    """A file that is damaged, cut short, or not a checkpoint. Both ValueError and EOFError, since Paddle raises the one or the other."""


class ForbiddenError(CorruptFileError, pickle.UnpicklingError):
    """A file that asks for something a checkpoint does not need, which might be an attack."""


class _Dtype:
    """A NumPy dtype under construction."""

    def __init__(self, code, align=False, copy=True):
        self.value = np.dtype(code if isinstance(code, str) else code.value)
        if self.value.names or self.value.subdtype or self.value.kind not in "biufcSUMmO":
            raise CorruptFileError(f"dtype {code!r} is not one of a plain array")

    def __setstate__(self, state):
        if state[1] in ("<", ">", "=", "|"):
            self.value = self.value.newbyteorder(state[1]) if state[1] in "<>" else self.value
        if self.value.kind in "Mm" and isinstance(state[-1], dict | tuple):
            raise CorruptFileError("dates with units are not supported")


class _Array:
    """An array under construction; `value` is set when its state has come."""

    value = None

    def __setstate__(self, state):
        _, shape, dtype, fortran, data = state
        self.value = _build_array(data, dtype.value, shape, "F" if fortran else "C")


def _build_array(data, dtype, shape, order):
    shape = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
    if any(n < 0 for n in shape):
        raise CorruptFileError(f"array of shape {shape}")
    if dtype.kind == "O":
        flat = np.empty(len(data), object)
        flat[:] = data
    else:
        flat = np.frombuffer(data.encode("latin1") if isinstance(data, str) else bytes(data), dtype)
    return flat.reshape(shape, order=order)


def _reconstruct(cls, shape, code):
    return _Array()


def _from_buffer(data, dtype, shape, order):
    array = _Array()
    array.value = _build_array(data, dtype.value, shape, order)
    return array


def _scalar(dtype, data):
    return _build_array(data, dtype.value, (1,), "C")[0]


def _encode(text, encoding="latin1"):
    if encoding != "latin1":
        raise CorruptFileError(f"bytes encoded as {encoding!r}")
    return text.encode("latin1")


def _bytearray(data=b"", encoding="latin1"):
    return bytearray(data.encode(encoding) if isinstance(data, str) else memoryview(data))


def _bytes(data=b""):
    return bytes(memoryview(data))  # never bytes(number), which would ask for memory


def _static_tensor(source, names):
    """Stands for `eval('data', {'data': array})`, which is how Paddle writes tensors of static programs in nested objects."""
    if source != "data" or set(names) != {"data"}:
        raise ForbiddenError("eval of anything but a stored array")
    return names["data"]


class _PaddleDtype:
    """Paddle's own pickled dtype object, known by its number."""

    def __setstate__(self, number):
        self.value = next(d for d in dtypes.ALL if d.value == number)


def _names():
    table = {("numpy", "dtype"): _Dtype, ("numpy", "ndarray"): _Array, ("_codecs", "encode"): _encode, ("paddle", "dtype"): _PaddleDtype}
    for core in ("numpy.core", "numpy._core"):
        table[core + ".multiarray", "_reconstruct"] = _reconstruct
        table[core + ".multiarray", "scalar"] = _scalar
        table[core + ".numeric", "_frombuffer"] = _from_buffer
    for module in ("builtins", "__builtin__"):
        plain = {"tuple": tuple, "list": list, "dict": dict, "set": set, "frozenset": frozenset, "complex": complex, "int": int, "float": float}
        plain |= {"slice": slice, "range": range, "xrange": range, "bytes": _bytes, "bytearray": _bytearray, "eval": _static_tensor}
        table |= {(module, name): value for name, value in plain.items()}
    for cls in (collections.OrderedDict, collections.defaultdict, collections.Counter, collections.deque, argparse.Namespace):
        table[cls.__module__, cls.__name__] = cls
    for cls in (datetime.datetime, datetime.date, datetime.time, datetime.timedelta, datetime.timezone):
        table["datetime", cls.__name__] = cls
    table["paddle_jax._core.dtype", "convert"] = dtypes.convert
    return table


_ALLOWED = _names()
_STATEFUL = (_Dtype, _Array, _PaddleDtype)


class _Reader(pickle._Unpickler):
    # The Python version of the unpickler: its memo is a dict, so that a damaged index cannot ask for gigabytes, and single opcodes can be changed.

    dispatch = dict(pickle._Unpickler.dispatch)

    def find_class(self, module, name):
        """The object behind a global name, from the list of allowed ones."""
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise ForbiddenError(
                f"it needs {module}.{name}, which is not among the types of a checkpoint; if you trust who wrote it, pass allow_pickle=True"
            ) from None

    def load_build(self):
        """Sets an object's state: only for what is under construction here, never for a function or class."""
        state = self.stack.pop()
        target = self.stack[-1]
        if type(target) in _STATEFUL:
            target.__setstate__(state)
        elif type(target) is argparse.Namespace and isinstance(state, dict):
            vars(target).update({str(key): value for key, value in state.items()})
        else:
            raise ForbiddenError(f"it sets the state of a {type(target).__name__}")

    def load_bytearray8(self):
        """A bytearray; its memory is asked for after its content has been read."""
        length = int.from_bytes(self.read(8), "little")
        self.append(bytearray(self.read(length)))

    dispatch[pickle.BUILD[0]] = load_build
    dispatch[pickle.BYTEARRAY8[0]] = load_bytearray8


class _Bounded:
    """A stream that refuses to read more than it holds, before memory for it is asked for."""

    def __init__(self, stream):
        self._stream = stream
        position = stream.tell()
        self._end = stream.seek(0, 2)
        stream.seek(position)
        self.readline = stream.readline

    def read(self, count=-1):
        if count > self._end - self._stream.tell():
            raise EOFError("it is cut short")
        return self._stream.read(count)

    def readinto(self, buffer):
        return self._stream.readinto(buffer)


def read(stream, allow_pickle=False):
    """Reads one pickled object from a binary stream; arrays come as ndarrays.

    Raises:
        CorruptFileError: the stream is not a pickle, is damaged, or asks for a type that is not allowed.
    """
    if allow_pickle:
        return pickle.load(stream, encoding="latin1")
    try:
        return _finish(_Reader(_Bounded(stream), encoding="latin1").load(), {})
    except CorruptFileError:
        raise
    except Exception as error:  # a damaged pickle fails in as many ways as there are opcodes
        raise CorruptFileError(f"it is damaged or not a checkpoint ({type(error).__name__}: {error})") from error


def _finish(item, seen):
    """Replaces what was under construction by the result, in place where the container allows it."""
    if type(item) in _STATEFUL:
        if getattr(item, "value", None) is None:
            raise CorruptFileError("it holds an array without content")
        return item.value
    if isinstance(item, type) or callable(item):
        raise CorruptFileError("it holds a bare type or function")
    if isinstance(item, set | frozenset) and any(type(part) in _STATEFUL for part in item):
        raise CorruptFileError("it holds a set of arrays")
    if not isinstance(item, dict | list | tuple | collections.deque | argparse.Namespace):
        return item
    if id(item) in seen:
        return seen[id(item)][1]
    seen[id(item)] = item, item
    if isinstance(item, tuple):
        done = tuple(_finish(part, seen) for part in item)
        result = item if all(a is b for a, b in zip(item, done, strict=True)) else done
    else:
        result = _finish_mutable(item, seen)
    seen[id(item)] = item, result
    return result


def _finish_mutable(item, seen):
    content = vars(item) if isinstance(item, argparse.Namespace) else item
    for key in list(content) if isinstance(content, dict) else range(len(content)):
        if type(key) in _STATEFUL:
            raise CorruptFileError("it has an array as a key")
        content[key] = _finish(content[key], seen)
    return item
