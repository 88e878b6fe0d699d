"""paddle.finfo and paddle.iinfo: the limits of number types."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from paddle_jax._core.base import dtype as dtypes


class finfo:
    """Limits of a floating (or complex: those of its parts) dtype.

    Args:
        dtype: floating or complex dtype in any spelling; None means float64.
        type: another name for dtype.
    Attributes:
        min: float.
        max: float.
        eps: float, the difference between 1 and the next larger number.
        resolution: float.
        smallest_normal: float.
        tiny: float, the same as smallest_normal.
        bits: int.
        dtype: str.
    Raises:
        ValueError: the dtype is not floating.
    Example:
        >>> paddle.finfo(paddle.float32).eps
        1.1920928955078125e-07
    """

    def __init__(self, dtype: Any = None, *, type: Any = None) -> None:
        d = dtypes.convert(dtype or type or dtypes.float64)
        if not (d.is_floating or d.is_complex):
            raise ValueError(f"finfo: dtype: got {d}; it must be a floating or complex dtype")
        # A complex dtype has the limits of its parts.
        real = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}.get(d, d)
        info = ml_dtypes.finfo(real.np)
        self.min: float = float(info.min)
        self.max: float = float(info.max)
        self.eps: float = float(info.eps)
        self.resolution: float = 1.0
        # Paddle gives 1.0 for dtypes of 8 bits.
        if info.bits > 8:
            self.resolution = 10.0**-info.precision
        self.smallest_normal: float = float(info.smallest_normal)
        self.tiny: float = self.smallest_normal
        self.bits: int = info.bits
        self.dtype: str = str(real).removeprefix("paddle.")

    def __repr__(self) -> str:
        return (
            f"paddle.finfo(min={self.min:.6g}, max={self.max:.6g}, eps={self.eps:.6g}, "
            f"resolution={self.resolution:.6g}, smallest_normal={self.smallest_normal:.6g}, "
            f"tiny={self.tiny:.6g}, bits={self.bits}, dtype={self.dtype})"
        )


class iinfo:
    """Limits of an integer dtype.

    Args:
        dtype: int8, int16, int32, int64 or uint8, in any spelling.
    Attributes:
        min: int.
        max: int.
        bits: int.
        dtype: str.
    Raises:
        ValueError: the dtype is not one of these.
    Example:
        >>> paddle.iinfo("int8").max
        127
    """

    def __init__(self, dtype: Any) -> None:
        d = dtypes.convert(dtype)
        if not d.is_integer:
            raise ValueError(f"iinfo: dtype: got {d}; it must be an integer dtype")
        info = np.iinfo(d.np)
        self.min: int = int(info.min)
        self.max: int = int(info.max)
        self.bits: int = info.bits
        self.dtype: str = str(d).removeprefix("paddle.")

    def __repr__(self) -> str:
        return f"paddle.iinfo(min={self.min}, max={self.max}, bits={self.bits}, dtype={self.dtype})"


finfo.__module__ = iinfo.__module__ = "paddle"
