"""Exchanges large arrays between processes of one machine through memory that all of them see.

The kernel would copy an array that goes through the network interface into and out of sockets, in small
pieces. Here each process writes what the others need into a file in memory, and reads what they have written
for it. For a sum it adds up one piece of the whole in between. Bytes that a process moves for each byte of
the array: 2 1/2 for two processes, 4 for many. Processes wait for each other by the ordinary exchange of a
few bytes, so the failure detector covers these waits.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paddle_jax._core.lazy.device_put import empty_aligned
from paddle_jax._core.process_group import group_flags, small_messages

MIN_BYTES = small_messages.PAYLOAD_BYTES + 1  # smaller arrays travel in a message
_MAX_BYTES = 1 << 26  # in one piece
_FIRST_BYTES = 1 << 20  # of memory to begin with
_FOLDER = "/dev/shm"
_CACHE_LINE = 64  # bytes: pieces begin at a multiple

Begin = Callable[[], None]  # returns when all processes have called it; raises when their calls differ
Reduce = Callable[[Sequence[np.ndarray], np.ndarray], Any]  # reduces arrays of equal length into another


def is_large(x: Any) -> bool:
    """Whether an array is large enough."""
    return x.nbytes >= MIN_BYTES


class SharedMemory:
    """The memory that the processes of a group share: a segment of each, which it writes.

    Attributes:
        index: int, the index of this process in the group.
        size: int, the number of processes.
        exchange: function from the bytes of this process to those of all, in the order of their indices.
        available: bool, whether all processes see the segments of all.
        capacity: int, bytes of an array that a segment has room for.
        segments: list of byte arrays, by index.
        max_bytes: int, bytes of the largest piece; less where there is no room for _MAX_BYTES.
    """

    def __init__(self, index: int, size: int, exchange: Callable[[bytes], Sequence[bytes]]) -> None:
        self.index = index
        self.size = size
        self.exchange = exchange
        self.available = True
        self.capacity = 0
        self.segments: list[np.ndarray] = []
        self.max_bytes = _MAX_BYTES

    def needs_more(self, nbytes: int) -> bool:
        """Whether there is too little memory for arrays of a size; `open` allocates more."""
        return min(nbytes, self.max_bytes) > self.capacity

    def open(self, nbytes: int) -> bool:
        """Allocates memory for arrays of a size, or for pieces of them where there is little.

        Returns:
            Whether all processes see the memory of all, which all know then.
        """
        self.available = self._allocate(nbytes)
        while not self.available and self.max_bytes > _FIRST_BYTES:
            self.max_bytes //= 2
            self.available = self._allocate(nbytes)
        return self.available

    def _allocate(self, nbytes: int) -> bool:
        self.segments = []
        self.capacity = min(max(1 << (nbytes - 1).bit_length(), _FIRST_BYTES), self.max_bytes)
        own_path = b""
        if group_flags.uses_shared_memory():
            with contextlib.suppress(OSError):  # no such folder, no room
                path = f"{_FOLDER}/paddle-{secrets.token_hex(12)}"
                _create_file(path, self._segment_bytes)
                own_path = path.encode()
        segments = []
        paths = self.exchange(own_path)
        with contextlib.suppress(OSError, ValueError):  # another machine
            if all(paths):
                segments = [_map_file(path.decode(), self._segment_bytes) for path in paths]
        answers = self.exchange(b"yes" if segments else b"no")
        if own_path:
            Path(own_path.decode()).unlink()  # the memory stays as long as a process maps it
        if not all(answer == b"yes" for answer in answers):
            return False
        self.segments = segments
        return True

    @property
    def _segment_bytes(self) -> int:
        """Bytes of a segment: an array that the others need, and the piece that the process adds up."""
        return self.capacity + -(-self.capacity // self.size) + _CACHE_LINE

    # collectives --------------------------------------------------------------------------------------------

    def all_reduce(self, x: np.ndarray, reduce: Reduce, begin: Begin) -> np.ndarray:
        """The elements of all processes, reduced. x: array of one axis."""
        out = empty_aligned(x.shape, x.dtype)
        step = self.capacity // x.dtype.itemsize
        for start in range(0, x.size, step):
            self._all_reduce_piece(x[start : start + step], out[start : start + step], reduce, begin)
        return out

    def all_gather(self, x: np.ndarray, begin: Begin) -> np.ndarray:
        """The bytes of all processes, [size, n]. x: bytes [n]."""
        out = empty_aligned((self.size, x.size), x.dtype)

        def write(piece: slice) -> None:
            self._write(x[piece])

        def read(piece: slice) -> None:
            for index in range(self.size):
                out[index, piece] = x[piece] if index == self.index else self._read(index, piece)

        self._transfer(x.size, self.capacity, begin, write, read)
        return out

    def broadcast(self, x: np.ndarray, source: int, begin: Begin) -> np.ndarray:
        """The bytes of the process with index `source`. x: bytes [n]; as many on all."""
        is_source = source == self.index
        out = x if is_source else empty_aligned(x.shape, x.dtype)

        def write(piece: slice) -> None:
            if is_source:
                self._write(x[piece])

        def read(piece: slice) -> None:
            if not is_source:
                out[piece] = self._read(source, piece)

        self._transfer(x.size, self.capacity, begin, write, read)
        return out

    def scatter(self, x: np.ndarray, source: int, begin: Begin) -> np.ndarray:
        """Row `index` of the bytes [size, n] of the process with index `source`; as many on all."""
        is_source = source == self.index
        out = empty_aligned(x.shape[1:], x.dtype)
        step = self._elements_per_process(1)

        def write(piece: slice) -> None:
            if is_source:
                self._write_rows(x, piece, step)

        def read(piece: slice) -> None:
            out[piece] = x[source, piece] if is_source else self._read(source, piece, self.index * step)

        self._transfer(out.size, step, begin, write, read)
        return out

    def all_to_all(self, x: np.ndarray, begin: Begin) -> np.ndarray:
        """Of the bytes [size, n] of every process the row for this one."""
        out = empty_aligned(x.shape, x.dtype)
        step = self._elements_per_process(1)

        def write(piece: slice) -> None:
            self._write_rows(x, piece, step)

        def read(piece: slice) -> None:
            for index in range(self.size):
                is_own = index == self.index
                out[index, piece] = x[index, piece] if is_own else self._read(index, piece, self.index * step)

        self._transfer(x.shape[1], step, begin, write, read)
        return out

    def reduce_scatter(self, x: np.ndarray, reduce: Reduce, begin: Begin) -> np.ndarray:
        """Row `index` of the reduced arrays [size, n] of all processes."""
        width = x.dtype.itemsize
        out = empty_aligned(x.shape[1:], x.dtype)
        step = self._elements_per_process(width)
        x_bytes = x.view(np.uint8).reshape(self.size, -1)

        def write(piece: slice) -> None:
            self._write_rows(x_bytes, slice(piece.start * width, piece.stop * width), step * width)

        def read(piece: slice) -> None:
            piece_bytes = slice(piece.start * width, piece.stop * width)
            offset = self.index * step * width
            rows = [
                x[index, piece]
                if index == self.index
                else self._read(index, piece_bytes, offset).view(x.dtype)
                for index in range(self.size)
            ]
            reduce(rows, out[piece])

        self._transfer(out.size, step, begin, write, read)
        return out

    # pieces -------------------------------------------------------------------------------------------------

    def _transfer(
        self,
        length: int,
        step: int,
        begin: Begin,
        write: Callable[[slice], None],
        read: Callable[[slice], None],
    ) -> None:
        """Transfers a length in pieces for which there is room."""
        for start in range(0, length, step):
            piece = slice(start, min(start + step, length))
            write(piece)
            begin()
            read(piece)
            self.exchange(b"read")  # processes may write the next piece

    def _elements_per_process(self, width: int) -> int:
        """Elements of `width` bytes that have room where each process gets others."""
        return self.capacity // self.size // (_CACHE_LINE * width) * _CACHE_LINE

    def _write(self, data: np.ndarray, offset: int = 0) -> None:
        """Writes bytes into the segment of this process."""
        self.segments[self.index][offset : offset + data.size] = data

    def _write_rows(self, x: np.ndarray, piece: slice, step: int) -> None:
        """Writes the piece of each row that is for another process."""
        for index in range(self.size):
            if index != self.index:
                self._write(x[index, piece], index * step)

    def _read(self, index: int, piece: slice, offset: int = 0) -> np.ndarray:
        """Reads a piece from the segment of a process."""
        return self.segments[index][offset : offset + piece.stop - piece.start]

    def _all_reduce_piece(self, x: np.ndarray, out: np.ndarray, reduce: Reduce, begin: Begin) -> None:
        """Reduces an array for which there is room: each process adds up one part, and reads the others."""
        parts = _split(x.size, self.size, max(_CACHE_LINE // x.dtype.itemsize, 1))
        sums_end = self.capacity + (self._segment_bytes - self.capacity) // _CACHE_LINE * _CACHE_LINE
        inputs = [segment[: self.capacity].view(x.dtype) for segment in self.segments]
        sums = [segment[self.capacity : sums_end].view(x.dtype) for segment in self.segments]
        own_part = parts[self.index]
        for index, part in enumerate(parts):
            if index != self.index:
                inputs[self.index][part] = x[part]
        begin()
        own_inputs = [
            x[own_part] if index == self.index else array[own_part] for index, array in enumerate(inputs)
        ]
        reduce(own_inputs, out[own_part])
        sums[self.index][: own_part.stop - own_part.start] = out[own_part]
        self.exchange(b"added")  # all have read the inputs: the next call may write there
        for index, part in enumerate(parts):
            if index != self.index:
                out[part] = sums[index][: part.stop - part.start]


def _create_file(path: str, size: int) -> None:
    """Creates a file of a size in memory."""
    file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    try:
        os.posix_fallocate(file, 0, size)  # a write beyond the room that there is would end the process
    except OSError:
        Path(path).unlink()
        raise
    finally:
        os.close(file)


def _map_file(path: str, size: int) -> np.ndarray:
    """The bytes of a file as an array."""
    file = os.open(path, os.O_RDWR)
    try:
        return np.frombuffer(mmap.mmap(file, size), np.uint8)
    finally:
        os.close(file)


def _split(length: int, count: int, unit: int) -> list[slice]:
    """`count` slices that make up a length, each a multiple of `unit` but the last ones."""
    step = -(-length // (count * unit)) * unit
    return [slice(min(i * step, length), min((i + 1) * step, length)) for i in range(count)]
