"""Facts and switches that programs take from Paddle's C++ module (`paddle.base.core`,
`paddle.framework.core`)."""

from __future__ import annotations

import enum
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.dtype import DType as DataType
from paddle_jax._core.base.errors import EnforceNotMet
from paddle_jax._core.base.flags import get_flags, set_flags
from paddle_jax._core.base.size import Size
from paddle_jax._core.base.state import local
from paddle_jax._core.base.vlog import set_vlog_level
from paddle_jax._core.ops.prim_switches import Prim
from paddle_jax._core.process_group.tcp_store import TCPStore
from paddle_jax._core.tensors import random as _random
from paddle_jax._core.tensors.place import CPUPlace, CUDAPinnedPlace, CUDAPlace, CustomPlace, Place, XPUPlace
from paddle_jax._core.tensors.random import Generator
from paddle_jax._core.tensors.var_type import VarType
from paddle_jax.base.libpaddle import eager
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
from paddle_jax.tensor.attribute import broadcast_shape as _broadcast_shape
from paddle_jax.tensor.dense_tensor import DenseTensor

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.tensors.tensor import Tensor


LoDTensor = DenseTensor
Tensor: Any = DenseTensor

__all__ = [
    "AttrType",
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "CustomPlace",
    "DataType",
    "DenseTensor",
    "EOFException",
    "EnforceNotMet",
    "Generator",
    "LoDTensor",
    "Place",
    "Size",
    "TCPStore",
    "Tensor",
    "VarDesc",
    "XPUPlace",
    "broadcast_shape",
    "default_cpu_generator",
    "default_cuda_generator",
    "default_custom_device_generator",
    "default_xpu_generator",
    "eager",
    "eager_assign_group_by_size",
    "get_all_custom_device_type",
    "get_all_device_type",
    "get_cublas_switch",
    "get_cuda_device_count",
    "get_cudnn_switch",
    "is_bfloat16_supported",
    "is_compiled_with_cinn",
    "is_compiled_with_cuda",
    "is_compiled_with_custom_device",
    "is_compiled_with_distribute",
    "is_compiled_with_ipu",
    "is_compiled_with_rocm",
    "is_compiled_with_xpu",
    "is_float16_supported",
    "set_cublas_switch",
    "set_cudnn_switch",
    "set_prim_eager_enabled",
    "set_vlog_level",
]


class EOFException(Exception):  # noqa: N818  Paddle's name
    """Raised by readers of old programs at the end of the data; programs catch it."""


class VarDesc:
    """Holds the enumeration of dtypes and kinds of variables: `VarDesc.VarType.FP32`."""

    VarType = VarType


class AttrType(enum.Enum):
    """Kinds of attributes of operations."""

    (
        INT,
        FLOAT,
        STRING,
        INTS,
        FLOATS,
        STRINGS,
        BOOL,
        BOOLS,
        BLOCK,
        LONG,
        BLOCKS,
        LONGS,
        FLOAT64S,
        VAR,
        VARS,
        FLOAT64,
        SCALAR,
        SCALARS,
    ) = range(18)


class AmpLevel(enum.Enum):
    """How much mixed precision there is."""

    OD = -1
    O0 = 0
    O1 = 1
    O2 = 2
    O3 = 3


class op_proto_and_checker_maker:  # noqa: N801  a module in Paddle
    """Holds the roles of operations of a training program: `op_proto_and_checker_maker.OpRole.Backward`."""

    class OpRole(enum.IntFlag):
        """What an operation is part of."""

        Forward = 0
        Backward = 1
        Optimize = 2
        RPC = 4
        Dist = 8
        LRSched = 16
        Loss = 256


class globals:  # noqa: A001, N801  Paddle's name
    """All flags as a mapping: `core.globals()["FLAGS_check_nan_inf"]`.

    Example:
        >>> paddle.base.core.globals()["FLAGS_check_nan_inf"]
        False
    """

    def __getitem__(self, name: Any) -> Any:
        return get_flags(name)[name]

    def __setitem__(self, name: Any, value: Any) -> None:
        set_flags({name: value})

    def __contains__(self, name: Any) -> bool:
        try:
            return name in get_flags(name)
        except ValueError:
            return False

    is_public = __contains__


def is_compiled_with_dist() -> bool:
    """The same as `is_compiled_with_distribute`."""
    return is_compiled_with_distribute()


def is_compiled_with_nccl() -> bool:
    """Whether there is NCCL: with a GPU."""
    return is_compiled_with_cuda()


def is_compiled_with_avx() -> bool:
    """True: XLA uses what the CPU has."""
    return True


def is_compiled_with_onednn() -> bool:
    """False: CPU kernels are XLA's."""
    return False


is_compiled_with_mkldnn = is_compiled_with_onednn


def supports_bfloat16() -> bool:
    """True: XLA computes in bfloat16 on every CPU."""
    return True


def broadcast_shape(x_shape: Any, y_shape: Any) -> list[Any]:
    """The shape of a result of two operands. See `paddle.broadcast_shape`.

    Example:
        >>> paddle.base.core.broadcast_shape([2, 1], [3])
        [2, 3]
    """
    return list(_broadcast_shape(x_shape, y_shape))


def size_of_dtype(dtype: DTypeLike) -> int:
    """The bytes of an element.

    Example:
        >>> paddle.base.core.size_of_dtype(paddle.bfloat16)
        2
    """
    return dtypes.convert(dtype).np.itemsize


def grad_var_suffix() -> str:
    """What follows the name of a variable in that of its gradient."""
    return "@GRAD"


def _has_grad() -> bool:
    return local.ctx.grad


def _set_has_grad(value: Any) -> None:
    local.ctx.grad = bool(value)


def default_cpu_generator() -> Generator:
    """The generator all random operations draw from."""
    return _random.default_generator()


def default_cuda_generator(device_id: Any = 0) -> Generator:
    """The generator all random operations draw from; it is the same on every device."""
    return _random.default_generator()


default_xpu_generator = default_cuda_generator
default_custom_device_generator = default_cuda_generator


def is_float16_supported(place: Any = None) -> bool:
    """Whether float16 is worth computing in: on accelerators. On a CPU it works, slowly."""
    return (
        jax.default_backend() if place is None else "cpu" if isinstance(place, CPUPlace) else "gpu"
    ) != "cpu"


def is_bfloat16_supported(place: Any = None) -> bool:
    """True: XLA computes in bfloat16 everywhere."""
    return True


def eager_assign_group_by_size(
    tensors: Sequence[Any],
    is_sparse_gradient: Any,
    group_size_limits: Sequence[int] = (26214400,),
    tensor_indices: Sequence[int] = (),
) -> list[Any]:
    """Puts Tensors into groups of one dtype, each closed when it has so many bytes.

    Args:
        tensors: list of Tensors.
        is_sparse_gradient: list of bool, by number; a Tensor with a sparse gradient is a group of its own.
        group_size_limits: list of int, bytes of the first groups of a dtype; the last one is for the rest.
        tensor_indices: list of int, the numbers of the Tensors. Default: 0, 1, ...
    Returns:
        list of lists of numbers, in the order of their first ones; with `tensor_indices` in the order in
        which the groups were closed.
    Raises:
        RuntimeError: the lists have other lengths.
    Example:
        >>> tensors = [paddle.ones([2]) for _ in range(3)]
        >>> paddle.base.core.eager_assign_group_by_size(tensors, [False] * 3, [16])
        [[0, 1], [2]]
    """
    if len(tensors) != len(is_sparse_gradient):
        raise RuntimeError(
            f"(PreconditionNotMet) eager_assign_group_by_size: is_sparse_gradient: got "
            f"{len(is_sparse_gradient)} for {len(tensors)} tensors; one for each is needed"
        )
    closed = []
    open_groups = {}
    sizes = {}
    limits = {}
    for number, tensor in zip(tensor_indices or range(len(tensors)), tensors, strict=True):
        key = tensor.dtype
        # A sparse gradient has rows of its own, so nothing is put together with it.
        if is_sparse_gradient[number]:
            closed.append([number])
            continue
        open_groups.setdefault(key, []).append(number)
        sizes[key] = sizes.get(key, 0) + tensor.size * tensor.element_size()
        limit = limits.setdefault(key, 0)
        if sizes[key] >= group_size_limits[limit]:
            closed.append(open_groups.pop(key))
            # The next group of this dtype has the next limit; the last limit holds for all later ones.
            sizes[key], limits[key] = 0, min(limit + 1, len(group_size_limits) - 1)
    closed += open_groups.values()
    if tensor_indices:
        return closed
    # In the order of their first Tensors, as gradients become ready.
    return sorted(closed)


def set_prim_eager_enabled(value: bool) -> None:
    """Keeps the switch for eager operations. Nothing changes: gradients are always made of
    primitive operations."""
    Prim.eager = bool(value)


def _set_prim_forward_enabled(value: Any) -> None:
    """Keeps the switch for the forward part of static programs."""
    Prim.forward = bool(value)


def _set_prim_backward_enabled(value: Any) -> None:
    """Keeps the switch for the backward part of static programs."""
    Prim.backward = bool(value)


def _set_prim_all_enabled(value: bool) -> None:
    """Keeps both switches of static programs."""
    Prim.forward = Prim.backward = bool(value)


def _set_prim_forward_blacklist(*names: Any) -> None:
    """Keeps names of operations whose forward part Paddle keeps whole. Nothing changes."""
    Prim.forward_excluded.update(names)


def _set_prim_backward_blacklist(*names: Any) -> None:
    """Keeps names of operations whose gradient Paddle keeps whole. Nothing changes."""
    Prim.backward_excluded.update(names)


prim_config: dict[str, Any] = {
    "forward_blacklist": Prim.forward_excluded,
    "composite_ops_record": set(),
    "backward_blacklist": Prim.backward_excluded,
}


def _prim_return_log() -> bool:
    """Whether the environment asks for a log of the operations that are made of primitive ones
    (FLAGS_prim_log). There is none here."""
    return os.environ.get("FLAGS_prim_log", "").lower() in ("1", "true")


def _is_eager_prim_enabled() -> bool:
    return Prim.eager


def _is_fwd_prim_enabled() -> bool:
    return Prim.forward


def _is_bwd_prim_enabled() -> bool:
    return Prim.backward


def _is_all_prim_enabled() -> bool:
    return Prim.forward and Prim.backward


def get_cublas_switch() -> bool:
    """Whether float32 matrix products may use TF32 on GPUs (FLAGS_allow_tf32_cublas)."""
    return get_flags("FLAGS_allow_tf32_cublas")["FLAGS_allow_tf32_cublas"]


def set_cublas_switch(active: bool) -> None:
    """Lets float32 matrix products use TF32 on GPUs, or forbids it."""
    set_flags({"FLAGS_allow_tf32_cublas": bool(active)})


def get_cudnn_switch() -> bool:
    """Whether float32 convolutions may use TF32 on GPUs (FLAGS_allow_tf32_cudnn)."""
    return get_flags("FLAGS_allow_tf32_cudnn")["FLAGS_allow_tf32_cudnn"]


def set_cudnn_switch(active: bool) -> None:
    """Lets float32 convolutions use TF32 on GPUs, or forbids it."""
    set_flags({"FLAGS_allow_tf32_cudnn": bool(active)})
