"""Objects between processes: pickles whose arrays travel beside them, in memory that both sides map where the
system has that.

The memory has no name and belongs to the descriptor that is handed over, so the system frees it whatever
happens to the processes.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import itertools
import mmap
import operator
import os
import pickle
import socket
import struct
import sys
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.process.forkserver import read

if TYPE_CHECKING:
    import builtins


shared_memory: bool = hasattr(os, "memfd_create")
_HEAD = struct.Struct("!BQI")  # whether a descriptor follows, bytes of the pickle, number of arrays
_SIZE = struct.Struct("!Q")
# all pages at once, since all of them will be read
_AT_ONCE = getattr(mmap, "MAP_SHARED", 0) | getattr(mmap, "MAP_POPULATE", 0)
# bytes of arrays that are not worth a mapping; what XLA wants arrays to begin at
_SMALL = 1 << 15
_ALIGNED = 64
# The second name is that of the program's module in a process that `spawn` or multiprocessing has started.
_MAIN = ("__main__", "__mp_main__")


def by_value() -> types.ModuleType | None:
    """The module that pickles what no module has (code typed in, lambdas): cloudpickle, or None if it
    is not installed."""
    # joblib brings a copy of cloudpickle along.
    for name in ("cloudpickle", "joblib.externals.cloudpickle"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


def _in_main(name: str) -> Any:
    """What the program's main module calls so."""
    return operator.attrgetter(name)(sys.modules["__main__"])


@contextlib.contextmanager
def _main_by_value(cloud: types.ModuleType | None) -> Iterator[None]:
    """Has cloudpickle send what a started process calls `__mp_main__`, since workers have no such module."""
    module = sys.modules.get("__mp_main__")
    name = getattr(module, "__name__", "__main__")
    # In the program that was started first both names are one module, which cloudpickle knows.
    if cloud is None or name == "__main__" or name in cloud.list_registry_pickle_by_value():
        yield
        return
    cloud.register_pickle_by_value(module)
    try:
        yield
    finally:
        cloud.unregister_pickle_by_value(module)


def _code_of_file(
    file: str, make: Callable[..., types.CodeType], arguments: tuple[Any, ...]
) -> types.CodeType:
    """A code object that names its file, for tracebacks."""
    return make(*arguments).replace(co_filename=file)


def _there(cloud: types.ModuleType | None) -> Any:
    """The kind of pickler for what workers need: code keeps the name of its file, which cloudpickle drops."""
    if cloud is None:
        return pickle.Pickler
    reduce_code = cloud.Pickler.dispatch_table[types.CodeType]

    class There(cloud.Pickler):
        def reducer_override(self, thing: Any) -> Any:
            if isinstance(thing, types.CodeType):
                make, arguments = reduce_code(thing)[:2]
                return _code_of_file, (thing.co_filename, make, arguments)
            return super().reducer_override(thing)

    return There


def _back(cloud: types.ModuleType | None) -> Any:
    """The kind of pickler for results: classes and functions of the program's main module are its own again
    when they arrive."""

    class Back(_there(cloud)):
        def reducer_override(self, thing: Any) -> Any:
            # What has `<lambda>` or `<locals>` in its name cannot be found by it.
            if (
                isinstance(thing, type | types.FunctionType)
                and thing.__module__ in _MAIN
                and not set("<>") & set(thing.__qualname__)
            ):
                return _in_main, (thing.__qualname__,)
            # NotImplemented lets pickle go its usual way.
            if cloud is None:
                return NotImplemented
            return super().reducer_override(thing)

    return Back


class Rows(bytearray):
    """Arrays of one shape and dtype that arrive as one array with an axis more: they are copied once, to
    where it will lie."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        super().__init__()
        self.arrays = arrays

    def __reduce_ex__(self, protocol: Any) -> Any:
        first = self.arrays[0]
        # The pickler hands this object to `_parts`, which takes the arrays out of it.
        return _array, (pickle.PickleBuffer(self), first.dtype, (len(self.arrays), *first.shape))


def _array(buffer: Any, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    return np.frombuffer(buffer, np.uint8).view(dtype).reshape(shape)


def _parts(buffer: Any) -> list[Any]:
    """The pieces of memory that an array is made of."""
    whole = buffer.raw()
    if type(whole.obj) is Rows:
        return [a.reshape(-1).view(np.uint8).data for a in whole.obj.arrays]
    return [whole]


class Packed:
    """A pickled object that can be sent, also to several processes.

    Args:
        thing: any object.
        shared: let large arrays travel in shared memory.
        back: it is a result on its way to the program.
    """

    def __init__(self, thing: Any, shared: bool = True, back: bool = False) -> None:
        stream = io.BytesIO()
        buffers = []
        cloud = by_value()
        if back:
            kind = _back(cloud)
        else:
            kind = _there(cloud)
        with _main_by_value(cloud):
            kind(stream, 5, buffer_callback=buffers.append).dump(thing)
        self._data = stream.getbuffer()
        self._parts = [_parts(buffer) for buffer in buffers]
        sizes = [sum(part.nbytes for part in parts) for parts in self._parts]
        # None: arrays follow the pickle
        if shared and shared_memory and sum(sizes) > _SMALL:
            self._file = _filled(self._parts, sizes)
        else:
            self._file = None
        self._head = _HEAD.pack(self._file is not None, len(self._data), len(sizes)) + b"".join(
            map(_SIZE.pack, sizes)
        )

    def send(self, sock: Any) -> None:
        """Sends it."""
        sock.sendall(self._head)
        sock.sendall(self._data)
        if self._file is not None:
            # A descriptor needs a byte to travel with.
            socket.send_fds(sock, [b"F"], [self._file])
        else:
            for part in itertools.chain(*self._parts):
                sock.sendall(part)

    def bytes(self) -> builtins.bytes:
        """What `send` would send, of an object that travels without shared memory."""
        return b"".join([self._head, self._data, *itertools.chain(*self._parts)])

    def close(self) -> None:
        """Lets the memory go on this side."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _begins(sizes: list[int]) -> tuple[list[int], int]:
    """(where each array begins, length of all)"""
    begins = []
    end = 0
    for size in sizes:
        begins.append(end)
        end += -(-size // _ALIGNED) * _ALIGNED
    return begins, end


def _filled(arrays: list[list[Any]], sizes: list[int]) -> int | None:
    """The descriptor of memory that holds the arrays, each given in pieces; None if the system gives
    none, or too little."""
    begins, end = _begins(sizes)
    try:
        file = os.memfd_create("paddle_jax batch", os.MFD_CLOEXEC)
    except OSError:
        return None
    try:
        os.ftruncate(file, end)
        for parts, begin in zip(arrays, begins, strict=True):
            # a third faster than copying into a mapping, whose pages come one by one
            _written(file, parts, begin)
    except BaseException as error:
        os.close(file)
        if isinstance(error, OSError):
            return None
        raise
    return file


def _written(file: int, parts: list[Any], offset: int) -> None:
    for part in parts:
        written = 0
        while written < part.nbytes:
            written += os.pwrite(file, part[written:], offset + written)
        offset += written


def send(sock: Any, thing: Any, shared: bool = True, back: bool = False) -> None:
    """Sends an object."""
    packed = Packed(thing, shared, back)
    try:
        packed.send(sock)
    finally:
        packed.close()


def _begun(take: Callable[[int], Any]) -> tuple[bool, list[int], Any]:
    """(whether arrays come in shared memory, their sizes, the pickle), from a function that
    gives so many bytes"""
    shared, length, count = _HEAD.unpack(take(_HEAD.size))
    return shared, [size for (size,) in _SIZE.iter_unpack(take(_SIZE.size * count))], take(length)


def opened(data: bytes) -> Any:
    """The object that `Packed.bytes` gave the bytes of."""
    stream = io.BytesIO(data)
    _, sizes, pickled = _begun(stream.read)
    # Arrays over a bytearray can be written to.
    return pickle.loads(pickled, buffers=[bytearray(stream.read(size)) for size in sizes])


def _mapped(file: int, size: int, private: bool) -> Any:
    """The memory of a descriptor; a copy of it if the process may not have one more mapping."""
    try:
        if private:
            return mmap.mmap(file, size, access=mmap.ACCESS_COPY)
        return mmap.mmap(file, size, flags=_AT_ONCE)
    except OSError:
        memory = bytearray(size)
        done = 0
        while done < size:
            done += os.preadv(file, [memoryview(memory)[done:]], done)
        return memory


def receive(sock: Any, private: bool = False) -> Any:
    """The next object. Arrays may be written to; with `private` the writing is not seen by others that map
    the same memory.

    Raises:
        EOFError: the other side has ended.
    """
    shared, sizes, data = _begun(lambda size: read(sock, size))
    if not shared:
        return pickle.loads(data, buffers=[read(sock, size) for size in sizes])
    flag, descriptors, _, _ = socket.recv_fds(sock, 1, 1)
    if not flag or not descriptors:
        raise EOFError("the other process has ended")
    begins, end = _begins(sizes)
    try:
        memory = _mapped(descriptors[0], end, private)
    finally:
        os.close(descriptors[0])
    view = memoryview(memory)
    return pickle.loads(
        data, buffers=[view[begin : begin + size] for begin, size in zip(begins, sizes, strict=True)]
    )
