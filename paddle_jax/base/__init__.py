"""Names that programs take from Paddle's inside."""

from paddle_jax._core.base.flags import get_flags, set_flags
from paddle_jax._core.tensors.place import CPUPlace, CUDAPinnedPlace, CUDAPlace, CustomPlace, XPUPlace
from paddle_jax.base import core, framework
from paddle_jax.base.core import DenseTensor, Tensor
from paddle_jax.base.param_attr import ParamAttr

__all__ = [
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "CustomPlace",
    "DenseTensor",
    "ParamAttr",
    "Tensor",
    "XPUPlace",
    "core",
    "framework",
    "get_flags",
    "set_flags",
]
