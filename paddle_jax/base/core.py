"""Facts and switches that programs take from Paddle's C++ module (`paddle.base.core`, `paddle.framework.core`)."""

import jax

from paddle_jax._core import dtype as _dtype
from paddle_jax._core import random as _random
from paddle_jax._core.dtype import DType as DataType
from paddle_jax._core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace, CustomPlace, XPUPlace
from paddle_jax._core.prim import Prim
from paddle_jax._core.random import Generator
from paddle_jax.base import eager
from paddle_jax.device import (
    get_all_custom_device_type,
    get_all_device_type,
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_custom_device,
    is_compiled_with_distribute,
    is_compiled_with_ipu,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
)
from paddle_jax.device.cuda import device_count as get_cuda_device_count

__all__ = [
    "CPUPlace", "CUDAPinnedPlace", "CUDAPlace", "CustomPlace", "DataType", "EOFException", "Generator", "VarDesc", "XPUPlace",
    "default_cpu_generator", "default_cuda_generator", "eager", "get_all_custom_device_type", "get_all_device_type", "get_cuda_device_count",
    "is_bfloat16_supported", "is_compiled_with_cinn", "is_compiled_with_cuda", "is_compiled_with_custom_device", "is_compiled_with_distribute",
    "is_compiled_with_ipu", "is_compiled_with_rocm", "is_compiled_with_xpu", "is_float16_supported", "set_prim_eager_enabled",
]


def __getattr__(name):
    if name == "Scope":  # where the values of static programs live; it is made when that package is
        from paddle_jax.static.scope import Scope

        return Scope
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class EOFException(Exception):  # noqa: N818  Paddle's name
    """Raised by readers of old programs at the end of the data; programs catch it."""


class VarDesc:
    """Old names of the dtypes: `VarDesc.VarType.FP32` is `paddle.float32`."""

    class VarType:
        """The dtypes."""

        BOOL, UINT8, INT8, INT16, INT32, INT64 = _dtype.bool_, _dtype.uint8, _dtype.int8, _dtype.int16, _dtype.int32, _dtype.int64
        UINT16, UINT32, UINT64, STRING = _dtype.uint16, _dtype.uint32, _dtype.uint64, _dtype.pstring
        FP16, FP32, FP64, BF16 = _dtype.float16, _dtype.float32, _dtype.float64, _dtype.bfloat16
        FP8_E4M3FN, FP8_E5M2, COMPLEX64, COMPLEX128 = _dtype.float8_e4m3fn, _dtype.float8_e5m2, _dtype.complex64, _dtype.complex128


def default_cpu_generator() -> Generator:
    """The generator all random operations draw from."""
    return _random.default_generator()


def default_cuda_generator(device_id=0) -> Generator:
    """The generator all random operations draw from; it is the same on every device."""
    return _random.default_generator()


def is_float16_supported(place=None) -> bool:
    """Whether float16 is worth computing in: on accelerators. On a CPU it works, slowly."""
    return (jax.default_backend() if place is None else "cpu" if isinstance(place, CPUPlace) else "gpu") != "cpu"


def is_bfloat16_supported(place=None) -> bool:
    """True: XLA computes in bfloat16 everywhere."""
    return True


def set_prim_eager_enabled(value):
    """Keeps the switch for eager operations. Nothing changes: gradients are always made of primitive operations."""
    Prim.eager = bool(value)


def _set_prim_forward_enabled(value):
    """Keeps the switch for the forward part of static programs."""
    Prim.forward = bool(value)


def _set_prim_backward_enabled(value):
    """Keeps the switch for the backward part of static programs."""
    Prim.backward = bool(value)


def _set_prim_all_enabled(value):
    """Keeps both switches of static programs."""
    Prim.forward = Prim.backward = bool(value)


def _is_eager_prim_enabled():
    return Prim.eager


def _is_fwd_prim_enabled():
    return Prim.forward


def _is_bwd_prim_enabled():
    return Prim.backward


def _is_all_prim_enabled():
    return Prim.forward and Prim.backward
