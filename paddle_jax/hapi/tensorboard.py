"""Results in TensorBoard's files: records of length, its checksum, event, its checksum; an event is a
protocol buffer."""

from __future__ import annotations

import os
import socket
import struct
import time
from pathlib import Path

from paddle_jax.hapi.writing import _Writer

_POLYNOMIAL = 0x82F63B78  # of CRC-32C, bits reversed


def _table() -> list[int]:
    found = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (_POLYNOMIAL if number & 1 else 0)
        found.append(number)
    return found


_TABLE = _table()


def _checksum(data: bytes) -> int:
    """The masked CRC-32C of TensorFlow's records."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _varint(number: int) -> bytes:
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*data, number])


def _text(field: int, data: bytes) -> bytes:
    """A field of bytes, text or a message."""
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _event(moment: float, step: int, what: bytes) -> bytes:
    return b"\x09" + struct.pack("<d", moment) + b"\x10" + _varint(step) + what


def _record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", _checksum(length)) + data + struct.pack("<I", _checksum(data))


class TensorBoard(_Writer):
    """Writes losses and metrics for TensorBoard (`tensorboard --logdir logs` shows them); nothing has to be
    installed to write.

    Curves are named as by `VisualDL`: `train/loss` over steps, `eval/loss` over epochs.

    Args:
        log_dir: str or path, folder to write to; each training writes a file of its own.
    Differs from Paddle: which has none.
    Example:
        >>> paddle.callbacks.TensorBoard("logs").log_dir
        'logs'
    """

    def __init__(self, log_dir: str = "logs") -> None:
        super().__init__()
        self.log_dir = log_dir
        self.epochs = self.steps = None
        self.epoch = 0
        self._file = None

    def _write(self, tag: str, value: float, step: int) -> None:
        if self._file is None:
            folder = Path(self.log_dir)
            folder.mkdir(parents=True, exist_ok=True)
            now = time.time()
            name = f"events.out.tfevents.{now:.6f}.{socket.gethostname()}.{os.getpid()}"
            # a program that is killed leaves whole records
            self._file = (folder / name).open("ab", buffering=0)
            self._file.write(_record(_event(now, 0, _text(3, b"brain.Event:2"))))
        scalar = _text(1, tag.encode()) + b"\x15" + struct.pack("<f", float(value))
        self._file.write(_record(_event(time.time(), int(step), _text(5, _text(1, scalar)))))

    def _finish(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
