"""Functions, arguments, results and exceptions as bytes.

Functions go by their name, as pickle has them, so that a call reaches the module of the other process and its
global variables. What has no name (a lambda, a function in a function) goes as code, by cloudpickle. Arrays
are not copied into the pickle: they follow it.
"""

from __future__ import annotations

import io
import pickle
import struct
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from paddle_jax.io.dataloader.exchange import by_value

_COUNT = struct.Struct("!I")
_LENGTH = struct.Struct("!Q")


class RemoteTraceback(Exception):
    """The traceback of the process in which an exception was raised."""

    def __str__(self) -> str:
        return f"\n\n{self.args[0]}"


def dumped(value: Any) -> bytes:
    """A value as bytes.

    Raises:
        TypeError: it cannot be pickled.
    """
    buffers: list[pickle.PickleBuffer] = []
    try:
        head = _pickled(value, buffers)
    except Exception as error:
        raise TypeError(
            f"rpc: {type(value).__name__}: it cannot be sent to another process: {error}"
        ) from error
    pieces = [_COUNT.pack(len(buffers) + 1)]
    for piece in (head, *(buffer.raw() for buffer in buffers)):
        pieces += [_LENGTH.pack(len(piece)), piece]
    return b"".join(pieces)


def _pickled(value: Sequence[Any], buffers: Sequence[Any]) -> bytes:
    try:
        # Arrays go beside the pickle, without a copy into it.
        return pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    except (pickle.PicklingError, AttributeError, TypeError):
        # Lambdas and local functions need cloudpickle. The failed try may have left buffers.
        buffers.clear()
        cloudpickle = by_value()
        if cloudpickle is None:
            raise
    stream = io.BytesIO()
    cloudpickle.Pickler(stream, protocol=5, buffer_callback=buffers.append).dump(value)
    return stream.getvalue()


def loaded(data: bytes) -> Any:
    """The value of bytes that `dumped` gave."""
    view = memoryview(data)
    (count,) = _COUNT.unpack(view[: _COUNT.size])
    position = _COUNT.size
    pieces = []
    for _ in range(count):
        (length,) = _LENGTH.unpack(view[position : position + _LENGTH.size])
        position += _LENGTH.size
        pieces.append(view[position : position + length])
        position += length
    # arrays are made writable: what shows the message itself cannot be changed
    return pickle.loads(pieces[0], buffers=[bytearray(piece) for piece in pieces[1:]])  # noqa: S301


def answer(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[Any, Any]) -> bytes:
    """What a call gives or raises, as bytes."""
    try:
        return dumped((True, function(*args, **kwargs)))
    except BaseException as error:
        # `SystemExit`, too, belongs to the caller and not to this process.
        text = traceback.format_exc()
        try:
            data = dumped((False, (error, text)))
            loaded(data)  # some exceptions can be pickled and not be made again
            return data
        except Exception:
            return dumped((False, (RuntimeError(f"{type(error).__name__}: {error}"), text)))


def result(data: bytes) -> Any:
    """What a call has given; raises what it has raised, caused by the traceback of the other process."""
    succeeded, value = loaded(data)
    if succeeded:
        return value
    error, text = value
    raise error from RemoteTraceback(text)
