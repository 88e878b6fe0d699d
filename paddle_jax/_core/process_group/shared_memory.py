"""Large arrays between processes of one machine, through memory that all of them see.

Sent through the network interface an array is copied by the kernel into and out of sockets, in small pieces;
here each process writes what the others need into a file in memory, and reads what they have written for it.
For a sum it adds up one piece of the whole in between. Bytes that a process moves for one: for two processes
2 1/2 times the array, for many 4 times. The waits are the ordinary exchange of a few bytes, so what watches
those watches this.
"""

import contextlib
import mmap
import os
import secrets
from pathlib import Path

import numpy as np

from paddle_jax._core.lazy.device_put import empty_aligned
from paddle_jax._core.process_group import group_flags, small_messages

LEAST = small_messages.ROOM + 1  # bytes from which on it pays: what does not travel in a packet
_MOST = 1 << 26  # bytes that go at once
_FIRST = 1 << 20  # bytes of memory to begin with
_FOLDER = "/dev/shm"
_LINE = 64  # bytes: pieces begin at a multiple


def fits(x) -> bool:
    """Whether an array is large enough."""
    return x.nbytes >= LEAST


class Host:
    """The memory of the processes of a group. exchange: function (bytes) that gives the bytes of all of them,
    in the order of their places."""

    def __init__(self, place, size, exchange):
        self.place, self.size, self.exchange = place, size, exchange
        self.capacity, self.parts, self.able = 0, [], True
        self.most = _MOST  # bytes that go at once; less where there is no room for so many

    def needs_more(self, nbytes) -> bool:
        """Whether there is too little memory for arrays of a size; `open` gets more."""
        return min(nbytes, self.most) > self.capacity

    def open(self, nbytes) -> bool:
        """Gets memory for arrays of a size, or for pieces of them where there is little, and says whether all
        processes see that of the others; they find out together."""
        self.able = self._opened(nbytes)
        while not self.able and self.most > _FIRST:
            self.most //= 2
            self.able = self._opened(nbytes)
        return self.able

    def _opened(self, nbytes):
        self.parts, self.capacity, name = [], min(max(1 << (nbytes - 1).bit_length(), _FIRST), self.most), b""
        if group_flags.uses_shared_memory():
            with contextlib.suppress(OSError):  # no such folder, no room
                path = f"{_FOLDER}/paddle-{secrets.token_hex(12)}"
                _make(path, self._room)
                name = path.encode()
        found = []
        names = self.exchange(name)
        with contextlib.suppress(OSError, ValueError):  # another machine
            if all(names):
                found = [_mapped(each.decode(), self._room) for each in names]
        able = all(told == b"yes" for told in self.exchange(b"yes" if found else b"no"))
        if name:
            Path(name.decode()).unlink()  # the memory stays as long as somebody has it mapped
        self.parts = found if able else []
        return able

    @property
    def _room(self):
        """Bytes that a process shares: those of an array that the others need, and those of the piece
        that it adds up."""
        return self.capacity + -(-self.capacity // self.size) + _LINE

    def all_reduce(self, x, reduce, begin):
        """The elements of all processes brought together, a NumPy array.

        Args:
            x: NumPy array of one axis.
            reduce: function (arrays, out) that brings arrays of equal length together.
            begin: function that comes back when all processes have called it, and raises when they do not
                make the same call.
        """
        out, step = empty_aligned(x.shape, x.dtype), self.capacity // x.dtype.itemsize
        for start in range(0, x.size, step):
            self._part(x[start : start + step], out[start : start + step], reduce, begin)
        return out

    def all_gather(self, x, begin):
        """The bytes of all processes, [size, n]. x: bytes [n]."""
        out = empty_aligned((self.size, x.size), x.dtype)

        def write(piece):
            self._given(self.place, x[piece])

        def read(piece):
            for place in range(self.size):
                out[place, piece] = x[piece] if place == self.place else self._taken(place, piece)

        self._rounds(x.size, self.capacity, begin, write, read)
        return out

    def broadcast(self, x, source, begin):
        """The bytes of the process at the place `source`. x: bytes [n]; as many on all."""
        out = x if source == self.place else empty_aligned(x.shape, x.dtype)

        def write(piece):
            if source == self.place:
                self._given(source, x[piece])

        def read(piece):
            if source != self.place:
                out[piece] = self._taken(source, piece)

        self._rounds(x.size, self.capacity, begin, write, read)
        return out

    def scatter(self, x, source, begin):
        """Row number `place` of the bytes [size, n] of the process at the place `source`; as many on all."""
        out, step = empty_aligned(x.shape[1:], x.dtype), self._share(1)

        def write(piece):
            if source == self.place:
                self._rows(x, piece, step)

        def read(piece):
            out[piece] = (
                x[source, piece] if source == self.place else self._taken(source, piece, self.place * step)
            )

        self._rounds(out.size, step, begin, write, read)
        return out

    def all_to_all(self, x, begin):
        """Of the bytes [size, n] of every process the row for this one."""
        out, step = empty_aligned(x.shape, x.dtype), self._share(1)

        def read(piece):
            for place in range(self.size):
                out[place, piece] = (
                    x[place, piece] if place == self.place else self._taken(place, piece, self.place * step)
                )

        self._rounds(x.shape[1], step, begin, lambda piece: self._rows(x, piece, step), read)
        return out

    def reduce_scatter(self, x, reduce, begin):
        """Row number `place` of what the arrays [size, n] of all processes give, brought together by `reduce`
        as in all_reduce."""
        out, step, width = (
            empty_aligned(x.shape[1:], x.dtype),
            self._share(x.dtype.itemsize),
            x.dtype.itemsize,
        )
        flat = x.view(np.uint8).reshape(self.size, -1)

        def read(piece):
            length = slice(piece.start * width, piece.stop * width)
            rows = [
                x[place, piece]
                if place == self.place
                else self._taken(place, length, self.place * step * width).view(x.dtype)
                for place in range(self.size)
            ]
            reduce(rows, out[piece])

        def write(piece):
            self._rows(flat, slice(piece.start * width, piece.stop * width), step * width)

        self._rounds(out.size, step, begin, write, read)
        return out

    def _rounds(self, length, step, begin, write, read):
        """Hands over a length in pieces for which there is room."""
        for start in range(0, length, step):
            piece = slice(start, min(start + step, length))
            write(piece)
            begin()
            read(piece)
            self.exchange(b"read")  # the next piece may be written

    def _share(self, width):
        """Elements of some bytes for which there is room where each process gets others."""
        return self.capacity // self.size // (_LINE * width) * _LINE

    def _given(self, place, data, first=0):
        self.parts[place][first : first + data.size] = data

    def _taken(self, place, piece, first=0):
        return self.parts[place][first : first + piece.stop - piece.start]

    def _rows(self, x, piece, step):
        for place in range(self.size):
            if place != self.place:
                self._given(self.place, x[place, piece], place * step)

    def _part(self, x, out, reduce, begin):
        bounds = _bounds(x.size, self.size, max(_LINE // x.dtype.itemsize, 1))
        given = [part[: self.capacity].view(x.dtype) for part in self.parts]
        added = [
            part[self.capacity : self.capacity + (self._room - self.capacity) // _LINE * _LINE].view(x.dtype)
            for part in self.parts
        ]
        mine = bounds[self.place]
        for place, piece in enumerate(bounds):
            if place != self.place:
                given[self.place][piece] = x[piece]
        begin()
        reduce(
            [x[mine] if place == self.place else each[mine] for place, each in enumerate(given)], out[mine]
        )
        added[self.place][: mine.stop - mine.start] = out[mine]
        self.exchange(b"added")  # what was given has been read: the next call may write there
        for place, piece in enumerate(bounds):
            if place != self.place:
                out[piece] = added[place][: piece.stop - piece.start]


def _make(path, size):
    file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    try:
        os.posix_fallocate(file, 0, size)  # a write beyond what there is room for would end the process
    except OSError:
        Path(path).unlink()
        raise
    finally:
        os.close(file)


def _mapped(path, size):
    file = os.open(path, os.O_RDWR)
    try:
        return np.frombuffer(mmap.mmap(file, size), np.uint8)
    finally:
        os.close(file)


def _bounds(length, count, unit):
    """`count` slices that make up a length, each a multiple of `unit` but the last ones."""
    piece = -(-length // (count * unit)) * unit
    return [slice(min(i * piece, length), min((i + 1) * piece, length)) for i in range(count)]
