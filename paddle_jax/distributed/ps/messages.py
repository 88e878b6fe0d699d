"""Requests of workers as bytes: a head of 64 bytes, ids and values.

The same bytes go into the journal of a server, so that replaying it is the same as being asked again.
"""

import struct
import zlib
from typing import NamedTuple

import numpy as np

MAGIC = b"PJPS"
VERSION = 1
PULL = 1
PUSH = 2
ASSIGN = 3
BEGIN = 4
MARK = 5
COMMIT = 6
STOP = 7
GATHER = 8
SHRINK = 9
DAY = 10
_HEAD = struct.Struct("<4sHHIIQQQIIIfI")  # see Message; the last field is the checksum
_PAD = bytes(64 - _HEAD.size)
_HEAD_LENGTH = 64
_PIECE = 20  # bits of a sequence number that count the messages of one step
FLAG_TRAINING = 1  # a pull that may make rows and counts them
FLAG_STATISTICS = 2  # the last two columns of a push are shows and clicks
FLAG_DELTA = 4  # a push of differences, which are added as they are
LARGEST = 1 << 28  # bytes of a message that a server takes


class Message(NamedTuple):
    """A request.

    Attributes:
        kind: int, one of the constants of this module.
        table: int, number of the table.
        worker: int.
        incarnation: int, larger for each process that has had this worker's number.
        sequence: int, larger for each message that changes something; see `sequence_of`.
        round: int, the step that the worker is in.
        flags: int.
        rate: float, the learning rate.
        ids: int64 [n].
        values: float32 [n, width], or None.
    """

    kind: int
    table: int
    worker: int
    incarnation: int
    sequence: int
    round: int
    flags: int
    rate: float
    ids: np.ndarray
    values: np.ndarray | None


def message(
    kind: int,
    worker: int,
    incarnation: int,
    round: int,
    *,
    table: int = 0,
    sequence: int = 0,
    flags: int = 0,
    rate: float = 0.0,
    ids: np.ndarray | None = None,
    values: np.ndarray | None = None,
) -> bytes:
    """A request as bytes; arguments as the attributes of `Message`."""
    ids = np.zeros(0, np.int64) if ids is None else np.ascontiguousarray(ids, np.int64)
    width = 0
    body = [ids.data]
    if values is not None:
        values = np.ascontiguousarray(values, np.float32)
        width = values.shape[1]
        body.append(values.data)
    fields = [MAGIC, VERSION, kind, table, worker, incarnation, sequence, round, len(ids), width, flags, rate]
    # The head counts with a checksum of 0 in it.
    checksum = zlib.crc32(_HEAD.pack(*fields, 0))
    for part in body:
        checksum = zlib.crc32(part, checksum)
    return b"".join([_HEAD.pack(*fields, checksum), _PAD, *body])


def parsed(data: bytes | memoryview) -> Message:
    """The request of some bytes.

    Raises:
        ValueError: they are none, or were changed on the way.
    """
    view = memoryview(data)
    if not _HEAD_LENGTH <= len(view) <= LARGEST:
        raise ValueError(f"parameter server: got a message of {len(view)} bytes; it must have 64 to 2**28")
    *fields, checksum = _HEAD.unpack(view[: _HEAD.size])
    magic, version, kind, table, worker, incarnation, sequence, round, count, width, flags, rate = fields
    if magic != MAGIC or version != VERSION:
        raise ValueError(f"parameter server: got version {version} of messages; this one has {VERSION}")
    # Before anything is read: counts from outside must not lead behind the message.
    if len(view) != _HEAD_LENGTH + count * (8 + 4 * width):
        raise ValueError(f"parameter server: got {len(view)} bytes for {count} ids of {width} values")
    body = view[_HEAD_LENGTH:]
    if checksum != zlib.crc32(body, zlib.crc32(_HEAD.pack(*fields, 0))):
        raise ValueError("parameter server: got a message whose checksum does not fit; it was changed")
    ids = np.frombuffer(body[: 8 * count], np.int64)
    values = None
    if width:
        values = np.frombuffer(body[8 * count :], np.float32).reshape(count, width)
    return Message(kind, table, worker, incarnation, sequence, round, flags, rate, ids, values)


def sequence_of(round: int, piece: int) -> int:
    """The sequence number of a message: a process that starts again gives the same ones for a step."""
    return (round << _PIECE) | piece


def round_of(sequence: int) -> int:
    """The step of a sequence number."""
    return sequence >> _PIECE


def server_of(ids: np.ndarray, shards: int, servers: int) -> np.ndarray:
    """The number of the server of each id: `id % shards % servers`, with ids as unsigned numbers."""
    return (ids.view(np.uint64) % np.uint64(shards) % np.uint64(servers)).astype(np.int64)
