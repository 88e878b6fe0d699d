"""Parameters in groups of a size, for exchanges of many gradients at once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from paddle_jax._core.base.dtype import DType, bfloat16, float16, float32
from paddle_jax._core.tensors.held_values import element_count, numpy_dtype
from paddle_jax._core.tensors.place import get_device
from paddle_jax._core.tensors.tensor import Tensor

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Parameter

__all__ = []

# bytes to whose multiples programs fill up each Tensor of a flat buffer, by kind of device
alignment: dict[str, int] = {"cpu": 256, "gpu": 256, "npu": 256, "tpu": 256, "xpu": 256}
# bytes of an element
align: dict[DType, int] = {float16: 2, bfloat16: 2, float32: 4}


class HOOK_ACTION:
    """How the processes of a group exchange gradients: all get the sum, one gets it, or each gets a part."""

    ALL_REDUCE = 0
    REDUCE = 1
    REDUCE_SCATTER = 2


def get_current_device_type() -> str:
    """The kind of the current device, as in `alignment`, such as "gpu".

    Example:
        >>> from paddle_jax.distributed.fleet.utils.tensor_fusion_helper import get_current_device_type
        >>> paddle.get_device().startswith(get_current_device_type())
        True
    """
    return get_device().split(":")[0]


def assign_group_by_size(
    parameters: Sequence[Parameter], group_size: int = 128 * 1024 * 1024
) -> OrderedDict[int, list[Parameter]]:
    """Parts Parameters into groups of one dtype each. A group is full when it has `group_size` bytes or more.

    Args:
        parameters: Parameters or other Tensors.
        group_size: int, bytes. Default 128 MiB.
    Returns:
        OrderedDict, the lists by their numbers, in the order of their first Parameters.
    Raises:
        TypeError: an element is no Tensor, or the size is no integer from 0.
    Example:
        >>> from paddle_jax.distributed.fleet.utils.tensor_fusion_helper import assign_group_by_size
        >>> groups = assign_group_by_size([paddle.zeros([n]) for n in (2, 3, 4)], group_size=20)
        >>> [len(group) for group in groups.values()]
        [2, 1]
    """
    if not isinstance(group_size, (int, np.integer)) or group_size < 0:
        raise TypeError(f"assign_group_by_size: group_size: got {group_size!r}; it is an integer from 0")
    groups = []
    # for each dtype the group that is being filled, and its bytes
    unfilled = {}
    for parameter in parameters:
        if not isinstance(parameter, Tensor):
            raise TypeError(
                f"assign_group_by_size: parameters: got {type(parameter).__name__}; each is a Tensor"
            )
        dtype = numpy_dtype(parameter)
        group, filled = unfilled.pop(dtype, (None, 0))
        if group is None:
            group = []
            groups.append(group)
        group.append(parameter)
        filled += element_count(parameter) * dtype.itemsize
        if filled < group_size:
            unfilled[dtype] = group, filled
    return OrderedDict(enumerate(groups))
