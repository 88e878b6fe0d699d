"""paddle.finfo and paddle.iinfo: the limits of number types."""

import ml_dtypes
import numpy as np

from paddle_jax._core.base import dtype as dtypes


class finfo:
    """Limits of a floating (or complex: those of its parts) dtype.

    Args:
        dtype: floating or complex dtype in any spelling; None means float64.
        type: another name for dtype.
    Attributes: min, max, eps, resolution, smallest_normal, tiny (floats), bits (int), dtype (str).
    Raises:
        ValueError: the dtype is not floating.
    Example:
        >>> paddle.finfo(paddle.float32).eps
        1.1920928955078125e-07
    """

    def __init__(self, dtype=None, *, type=None):
        d = dtypes.convert(dtype or type or dtypes.float64)
        if not (d.is_floating or d.is_complex):
            raise ValueError(f"finfo: dtype: got {d}; it must be a floating or complex dtype")
        real = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}.get(d, d)
        info = ml_dtypes.finfo(real.np)
        self.min, self.max, self.eps = float(info.min), float(info.max), float(info.eps)
        self.resolution = 10.0**-info.precision if info.bits > 8 else 1.0
        self.smallest_normal = self.tiny = float(info.smallest_normal)
        self.bits, self.dtype = info.bits, str(real)[7:]

    def __repr__(self):
        return (
            f"paddle.finfo(min={self.min:.6g}, max={self.max:.6g}, eps={self.eps:.6g}, "
            f"resolution={self.resolution:.6g}, smallest_normal={self.smallest_normal:.6g}, "
            f"tiny={self.tiny:.6g}, bits={self.bits}, dtype={self.dtype})"
        )


class iinfo:
    """Limits of an integer dtype.

    Args:
        dtype: int8, int16, int32, int64 or uint8, in any spelling.
    Attributes: min, max, bits (ints), dtype (str).
    Raises:
        ValueError: the dtype is not one of these.
    Example:
        >>> paddle.iinfo("int8").max
        127
    """

    def __init__(self, dtype):
        d = dtypes.convert(dtype)
        if not d.is_integer:
            raise ValueError(f"iinfo: dtype: got {d}; it must be an integer dtype")
        info = np.iinfo(d.np)
        self.min, self.max, self.bits, self.dtype = int(info.min), int(info.max), info.bits, str(d)[7:]

    def __repr__(self):
        return f"paddle.iinfo(min={self.min}, max={self.max}, bits={self.bits}, dtype={self.dtype})"


finfo.__module__ = iinfo.__module__ = "paddle"
