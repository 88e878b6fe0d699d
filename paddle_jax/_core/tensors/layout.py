"""Layouts of Tensors on several devices, as JAX describes them.

A layout that the user requested is in the slot `_dist` of a Tensor. It counts more than the present placement
of the array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.core
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec

from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.multi_device import MultiDevice, sharding_of
from paddle_jax._core.lazy.transfer import to_array

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
    sharding = sharding_of(array) if isinstance(array, jax.Array) else None
    return sharding if isinstance(sharding, NamedSharding) else None


def by_devices(tensors: list[Tensor]) -> list[list[Tensor]]:
    """Tensors in lists of those that lie on the same mesh. Those on one device go with any mesh."""
    found: dict[frozenset[Any] | None, list[Tensor]] = {}
    for tensor in tensors:
        layout = layout_of(tensor)
        devices = None if layout is None else frozenset(layout.device_set)
        found.setdefault(devices, []).append(tensor)
    on_one_device = found.pop(None, [])
    lists = list(found.values()) or [[]]
    lists[0] = [*lists[0], *on_one_device]
    return [some for some in lists if some]


def lies_on_mesh(raw: Any) -> bool:
    """Whether a value lies on a mesh. Nothing is run for it."""
    if type(raw) is LazyArray:
        if raw.array is None:
            # A segment that runs on a mesh has a set of devices.
            return type(raw.segment.device) is frozenset
        raw = raw.array
    return isinstance(raw, jax.Array) and isinstance(sharding_of(raw), NamedSharding)


def kept_in_layout(tensor: Tensor, raw: Any) -> Any:
    """The new value of a Tensor, in the layout of its present one where that lies on a mesh."""
    if not isinstance(raw, LazyArray | jax.Array | np.ndarray) or isinstance(raw, jax.core.Tracer):
        return raw
    if raw.shape != tensor._raw.shape or not lies_on_mesh(tensor._raw):
        return raw
    # A pending value has a layout once it is computed.
    to_array(tensor._raw)
    array = to_array(raw)
    layout = layout_of(tensor)
    if getattr(array, "sharding", None) == layout:
        return raw
    return put(array, layout)


def copy_layout(made: Tensor, tensor: Tensor) -> Tensor:
    """A new Tensor that was made like another one, in its layout."""
    requested = getattr(tensor, "_dist", None)
    # A new Tensor has whole values, no partial sums.
    if requested is not None and not requested.partials():
        made._dist = requested
    if MultiDevice.in_use:
        made._raw = kept_in_layout(tensor, made._raw)
    return made


def fill(tensor: Tensor, made: Tensor) -> Tensor:
    """Fills a Tensor in place with what another one holds; it keeps its layout."""
    return tensor._adopt(copy_layout(made, tensor))


def restore_layout(tensor: Tensor) -> None:
    """Puts the new value of a Tensor into the layout that the user requested for it."""
    requested = getattr(tensor, "_dist", None)
    if requested is not None:
        tensor._raw = requested.placed(tensor._raw)


def gradient_in_layout(leaf: Tensor, raw: Any) -> Any:
    """The gradient of a leaf, cut as the user cut the leaf. A hook of the leaf may want another layout."""
    requested = getattr(leaf, "_dist", None)
    if requested is None or leaf._hooks:
        return raw
    return requested.gradient(raw)


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
