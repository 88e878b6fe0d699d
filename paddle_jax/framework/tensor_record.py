"""Paddle's binary tensor record: what `save(..., use_binary_format=True)` and parameter files of inference
models consist of.

uint32 0 | uint64 number of level-of-detail tables, per table uint64 bytes + data | uint32 0 | int32 n | n
bytes of protobuf {1: dtype, 2: dimensions} | the elements, little-endian.
"""

from __future__ import annotations

import struct
from typing import Any

import ml_dtypes
import numpy as np

from paddle_jax.framework.pickle_names import CorruptFileError

_CODES = {
    0: np.bool_,
    1: np.int16,
    2: np.int32,
    3: np.int64,
    4: np.float16,
    5: np.float32,
    6: np.float64,
    20: np.uint8,
    21: np.int8,
}
_CODES |= {
    22: ml_dtypes.bfloat16,
    23: np.complex64,
    24: np.complex128,
    32: ml_dtypes.float8_e4m3fn,
    33: ml_dtypes.float8_e5m2,
}
_CODE_OF = {np.dtype(dtype): code for code, dtype in _CODES.items()}


def _varint(number: int) -> bytes:
    out = bytearray()
    # Protobuf: seven bits a byte, the lowest first, the highest bit says that more follow.
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def write_record(array: Any, stream: Any) -> None:
    """Writes one array as a record.

    Raises:
        TypeError: the dtype has no code in the format.
    """
    code = _CODE_OF.get(array.dtype)
    if code is None:
        allowed = ", ".join(str(dtype) for dtype in _CODE_OF)
        raise TypeError(f"save: obj: {array.dtype} has no form in the binary format; allowed are {allowed}.")
    # Tag 8: field 1, a number. Tag 16: field 2, a number, repeated for each axis.
    description = b"\x08" + _varint(code) + b"".join(b"\x10" + _varint(n) for n in array.shape)
    stream.write(struct.pack("<IQIi", 0, 0, 0, len(description)) + description)
    stream.write(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes())


def _take(stream: Any, count: int) -> bytes:
    """Exactly `count` bytes; memory is asked for only when the stream has them."""
    # Asked for only when the stream has them: a damaged length must not take memory.
    if count > 1 << 16:
        position = stream.tell()
        left = stream.seek(0, 2) - stream.seek(position)
        data = stream.read(count) if count <= left else b""
    else:
        data = stream.read(count)
    if len(data) != count:
        raise CorruptFileError("a tensor record is cut short")
    return data


def _number(stream: Any, form: str) -> int:
    return struct.unpack(form, _take(stream, struct.calcsize(form)))[0]


def read_record(stream: Any) -> np.ndarray:
    """Reads one record from a binary stream as an ndarray.

    Raises:
        CorruptFileError: there is no whole record.
    """
    if _number(stream, "<I") != 0:
        raise CorruptFileError("there is no tensor record")
    # Level-of-detail tables belong to sequences of older versions of Paddle: they are skipped.
    for _ in range(_number(stream, "<Q")):
        _take(stream, _number(stream, "<Q"))
    if _number(stream, "<I") != 0:
        raise CorruptFileError("a tensor record has an unknown version")
    dtype, shape = _describe(_take(stream, _bounded(_number(stream, "<i"))))
    # In Python's whole numbers, which do not overflow.
    count = 1
    for n in shape:
        count *= n
    flat = np.frombuffer(_take(stream, count * dtype.itemsize), dtype)
    try:
        return flat.reshape(shape)
    except ValueError as error:
        raise CorruptFileError(f"a tensor record has a shape that no array can have ({error})") from error


def _bounded(length: int) -> int:
    # A description of an array of 64 axes has less than 1 KB.
    if not 0 <= length <= 1 << 16:
        raise CorruptFileError("a tensor record has no valid description")
    return length


def _describe(data: bytes) -> Any:
    """The dtype and shape from the protobuf message."""
    numbers = []
    position = 0
    # Pairs of tag and number; nothing else occurs in such a message.
    while position < len(data):
        tag, position = _read_varint(data, position)
        value, position = _read_varint(data, position)
        numbers.append((tag, value))
    code = [value for tag, value in numbers if tag == 8]
    shape = tuple(value for tag, value in numbers if tag == 16)
    if len(code) != 1 or code[0] not in _CODES or len(shape) != len(numbers) - 1:
        raise CorruptFileError("a tensor record has no valid description")
    return np.dtype(_CODES[code[0]]), shape


def _read_varint(data: bytes, position: int) -> tuple[Any, Any]:
    number = shift = 0
    # 64 bits at most.
    while position < len(data) and shift < 64:
        byte = data[position]
        number |= (byte & 0x7F) << shift
        position = position + 1
        shift = shift + 7
        if byte < 0x80:
            return number, position
    raise CorruptFileError("a tensor record has no valid description")
