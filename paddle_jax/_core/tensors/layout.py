"""Where Tensors lie that are spread over several devices, as JAX says it. What was asked for stands in the
slot `_dist` of a Tensor, and goes before where its array happens to be."""

import jax
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec

from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.multi_device import MultiDevice


def layout_of(tensor):
    """The NamedSharding of a Tensor on several devices; None for one on one device, and where that
    is not known yet."""
    spread = getattr(tensor, "_dist", None)
    if spread is not None:
        return spread.sharding(tensor._raw.shape)
    array = tensor._raw.array if type(tensor._raw) is LazyArray else tensor._raw
    sharding = (
        getattr(array, "sharding", None)
        if isinstance(array, jax.Array) and not isinstance(array, jax.core.Tracer)
        else None
    )
    return sharding if isinstance(sharding, NamedSharding) else None


def keep_layout(tensor):
    """Brings the value that a Tensor has just got to where it was asked to lie."""
    spread = getattr(tensor, "_dist", None)
    if spread is not None:
        tensor._raw = spread.placed(tensor._raw)


def stacked(layout, lead):
    """The layout of arrays with `lead` more axes in front, which are not cut."""
    return None if layout is None else NamedSharding(layout.mesh, PartitionSpec(*[None] * lead, *layout.spec))


def copies(layout):
    """The layout of copies on the same devices."""
    return None if layout is None else NamedSharding(layout.mesh, PartitionSpec())


def constrained(array, layout):
    """The array, which a program is to lay out in this way."""
    return array if layout is None else lax.with_sharding_constraint(array, layout)


def put(array, layout):
    """An array in a layout, outside of programs."""
    return array if layout is None else MultiDevice.block_if_needed(jax.device_put)(array, layout)
