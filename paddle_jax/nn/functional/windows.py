"""Window geometry shared by convolution, pooling and unfolding: sizes, strides, data formats and the many
forms of a padding argument."""

from __future__ import annotations

from typing import Any

from paddle_jax._core.base.errors import ArgumentError

FORMATS = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def channel_last(op_name: str, n: int, data_format: str) -> bool:
    """Whether a data format has channels on the last axis."""
    if data_format not in FORMATS[n]:
        raise ValueError(
            f"{op_name}: data_format: got {data_format!r}; allowed are {' and '.join(FORMATS[n])}"
        )
    return data_format == FORMATS[n][1]


def check_ndim(op_name: str, x: Any, *allowed: int) -> None:
    """Raises unless x has one of the allowed numbers of axes."""
    if x.ndim not in allowed:
        raise ValueError(
            f"{op_name}: x: got shape {list(x.shape)}; it must have {' or '.join(map(str, allowed))} axes"
        )


def ints(op_name: str, what: str, value: Any, n: int, least: int = 1) -> tuple[int, ...]:
    """A size argument as n ints: one number for all axes or one for each."""
    if isinstance(value, int):
        values = (value,) * n
    elif isinstance(value, tuple | list):
        values = tuple(value)
    else:
        values = None
    # One number in a list holds for all axes.
    if values is not None and len(values) == 1:
        values *= n
    if values is None or len(values) != n or not all(isinstance(v, int) for v in values):
        raise ArgumentError(f"{op_name}: {what}: got {value!r}; it must be an int or a list of {n} ints")
    if any(v < least for v in values):
        raise ValueError(f"{op_name}: {what}: got {value!r}; each must be at least {least}")
    return values


def paddings(op_name: str, value: Any, n: int, last: bool) -> Any:
    """A padding argument as n pairs (before, after), or "SAME" or "VALID".

    Allowed are a name, one int, n ints, 2n ints (before and after for each axis), or n + 2 pairs that cover
    batch and channel with zeros.
    """
    if isinstance(value, str):
        if value.upper() not in ("SAME", "VALID"):
            raise ValueError(f"{op_name}: padding: got {value!r}; allowed names are 'SAME' and 'VALID'")
        return value.upper()
    if isinstance(value, int):
        return ((value, value),) * n
    value = tuple(value)
    # Pairs for each axis.
    if value and all(isinstance(v, tuple | list) for v in value):
        value = _pairs(op_name, value, n, last)
    # Two numbers for each axis: before and behind.
    elif len(value) == 2 * n:
        value = tuple(zip(value[::2], value[1::2], strict=True))
    # One number for each axis, or one for all.
    elif len(value) in (1, n):
        value = tuple((v, v) for v in value) * (n // len(value))
    else:
        raise ValueError(
            f"{op_name}: padding: got {value}; it must be an int, {n} ints, {2 * n} ints or {n + 2} pairs"
        )
    return tuple((int(a), int(b)) for a, b in value)


def _pairs(op_name: str, value: Any, n: int, last: bool) -> Any:
    if len(value) == n:
        return value
    outer = (value[0], value[-1] if last else value[1])
    inner = value[1:-1] if last else value[2:]
    # Batch and channels cannot be padded.
    if len(value) != n + 2 or any(len(v) != 2 for v in value) or any(any(v) for v in outer):
        raise ValueError(
            f"{op_name}: padding: got {value}; give {n + 2} pairs with zeros for batch and channel"
        )
    return inner


def same_pads(sizes: Any, kernel: Any, strides: Any) -> tuple[tuple[int, int], ...]:
    """The pairs that make the output ceil(size / stride) long, the odd one at the end."""
    # As TensorFlow's SAME: the result has the length n / stride, rounded up.
    totals = [max((-(-s // t) - 1) * t + k - s, 0) for s, k, t in zip(sizes, kernel, strides, strict=True)]
    return tuple((t // 2, t - t // 2) for t in totals)
