"""Layouts of Tensors on several devices, as JAX describes them.

A layout that the user requested is in the slot `_dist` of a Tensor. It counts more than the present placement
of the array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.core
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec

from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.multi_device import MultiDevice

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def layout_of(tensor: Tensor) -> NamedSharding | None:
    """The NamedSharding of a Tensor on several devices.

    It is None for a Tensor on one device, and where the layout is not known yet.
    """
    requested = getattr(tensor, "_dist", None)
    if requested is not None:
        return requested.sharding(tensor._raw.shape)
    if type(tensor._raw) is LazyArray:
        array = tensor._raw.array
    else:
        array = tensor._raw
    if not isinstance(array, jax.Array) or isinstance(array, jax.core.Tracer):
        return None
    sharding = getattr(array, "sharding", None)
    if isinstance(sharding, NamedSharding):
        return sharding
    return None


def by_devices(tensors: list[Tensor]) -> list[list[Tensor]]:
    """Tensors in lists of those that lie on the same mesh. Those on one device go with any mesh."""
    found: dict[frozenset | None, list[Tensor]] = {}
    for tensor in tensors:
        layout = layout_of(tensor)
        devices = None if layout is None else frozenset(layout.device_set)
        found.setdefault(devices, []).append(tensor)
    on_one_device = found.pop(None, [])
    lists = list(found.values()) or [[]]
    lists[0] = [*lists[0], *on_one_device]
    return [some for some in lists if some]


def restore_layout(tensor: Tensor) -> None:
    """Puts the new value of a Tensor into the layout that the user requested for it."""
    requested = getattr(tensor, "_dist", None)
    if requested is not None:
        tensor._raw = requested.placed(tensor._raw)


def with_leading_axes(layout: NamedSharding | None, count: int) -> NamedSharding | None:
    """The layout of arrays with `count` more axes in front, which are not sharded."""
    if layout is None:
        return None
    return NamedSharding(layout.mesh, PartitionSpec(*[None] * count, *layout.spec))


def replicated(layout: NamedSharding | None) -> NamedSharding | None:
    """The layout of whole copies on the same devices."""
    if layout is None:
        return None
    return NamedSharding(layout.mesh, PartitionSpec())


def constrain(array: Any, layout: NamedSharding | None) -> Any:
    """An array that a program has to lay out in this way."""
    if layout is None:
        return array
    return lax.with_sharding_constraint(array, layout)


def put(array: Any, layout: NamedSharding | None) -> Any:
    """An array in a layout, outside of programs."""
    if layout is None:
        return array
    return MultiDevice.block_if_needed(jax.device_put)(array, layout)
