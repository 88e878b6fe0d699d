"""The layouts of distributed Tensors: a mesh and placements.

The layout that a user requested is in the slot `_dist` of a Tensor. For all others it is read off the array.

A Partial Tensor holds the reduced value, since that is what every operation on it means; what the devices
hold is worked out where somebody asks. An axis that does not divide is stored as copies; its pieces are cut
out where somebody asks for them.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec

from paddle_jax._core.base.state import local
from paddle_jax._core.base.uninitialized import Uninitialized
from paddle_jax._core.kernels.kernel import Kernel, execute
from paddle_jax._core.lazy.device_put import put_uncommitted
from paddle_jax._core.lazy.devices import default_device, jax_device
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.multi_device import MultiDevice, sharding_of, to_addressable
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.lazy.transfer import to_array, to_jax_array
from paddle_jax._core.tensors.held_values import held_value
from paddle_jax._core.tensors.layout import lies_on_mesh
from paddle_jax._core.tensors.tensor import read_raw
from paddle_jax.distributed.auto_parallel.mesh_transfer import has_other_processes, send_to_mesh
from paddle_jax.distributed.auto_parallel.placement_type import (
    Placement,
    ReduceType,
    Replicate,
    Shard,
    ordered,
)
from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh, mesh_of

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.tensors.tensor import Tensor


DENSE = "dense"  # the layout of a value on the default device alone


class DistLayout:
    """A mesh and a placement for each of its dimensions."""

    __slots__ = ("mesh", "placements")

    def __init__(self, mesh: ProcessMesh, placements: Any) -> None:
        self.mesh: ProcessMesh = mesh
        self.placements: tuple[Any, ...] = tuple(ordered(placements))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DistLayout) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
        # Equal meshes may have other names of dimensions, and shardings of JAX go by these names.
        return (
            tuple(self.mesh.shape),
            tuple(self.mesh.process_ids),
            tuple(self.mesh.dim_names),
            self.placements,
        )

    def __deepcopy__(self, memo: Any) -> DistLayout:
        # It never changes, so copies of a model share it.
        return self

    def sharding(self, shape: Any) -> NamedSharding:
        """The NamedSharding of arrays of a shape."""
        return _sharding(self, tuple(shape))

    def placed(self, raw: Any) -> Any:
        """The value of a Tensor in this layout."""
        return put_in_layout(raw, self)

    def gradient(self, raw: Any) -> Any:
        """The gradient of a leaf in this layout: cut as the leaf is, so no device holds more of it.

        The gradient of a leaf in copies stays as it was computed: a gather would cost more than it gives.
        """
        if isinstance(raw, jax.core.Tracer):
            return put_in_layout(raw, self) if self._cuts() else raw
        if not lies_on_mesh(raw):  # a constant, which no value on the mesh went into
            return put_in_layout(raw, self)
        on_this_mesh = devices_of(raw) == self.sharding(raw.shape).device_set
        if local.ctx.frame.eager and on_this_mesh and self._cuts():
            return put_in_layout(raw, self)
        return raw

    def _cuts(self) -> bool:
        return any(p.is_shard() for p in self.placements)

    def range(self, shape: Any, index: Any) -> tuple[slice[int, Any, Any], ...]:
        """What the device at an index of the mesh holds of a global shape: a slice for each axis."""
        bounds = [(0, n) for n in shape]
        for place, count, at in zip(self.placements, self.mesh.shape, index, strict=False):
            if place.is_shard():
                start, stop = bounds[place.get_dim()]
                # Equal pieces, rounded up: the last ones are shorter, or empty.
                chunk = -(-(stop - start) // count)
                bounds[place.get_dim()] = min(start + at * chunk, stop), min(start + (at + 1) * chunk, stop)
        return tuple(slice(*each) for each in bounds)

    def partials(self) -> list[tuple[int, Any]]:
        """(dimension of the mesh, ReduceType) of each Partial."""
        return [(i, p.reduce_type()) for i, p in enumerate(self.placements) if p.is_partial()]


@ft.lru_cache(maxsize=4096)
def _sharding(layout: DistLayout, shape: Sequence[int]) -> Any:
    axes = [[] for _ in shape]
    # into how many pieces each axis is cut so far; 0 once it does not divide
    cut = [1] * len(shape)
    for place, count, name in zip(layout.placements, layout.mesh.shape, layout.mesh.dim_names, strict=False):
        if place.is_shard():
            dim = place.get_dim()
            cut[dim] *= count
            if shape[dim] % cut[dim] == 0 and cut[dim]:
                axes[dim].append(name)
            else:
                cut[dim] = 0  # the rest of this axis stays whole: a piece of pieces that do not divide
    return NamedSharding(layout.mesh.jax_mesh(), PartitionSpec(*[tuple(names) or None for names in axes]))


def parse_layout(name: str, mesh: ProcessMesh, placements: Any, ndim: Any) -> DistLayout:
    """The DistLayout that a user asks for.

    Raises:
        TypeError: `mesh` is no ProcessMesh, or a placement is something else.
        ValueError: there are more placements than dimensions, or an axis is out of range.
    """
    if not isinstance(mesh, ProcessMesh):
        raise TypeError(f"{name}: mesh: got {type(mesh).__name__}; it must be a ProcessMesh")
    if isinstance(placements, Placement):
        placements = [placements]
    else:
        placements = list(placements)
    for p in placements:
        if not isinstance(p, Placement):
            raise TypeError(
                f"{name}: placements: got {type(p).__name__}; each must be Shard, Replicate or Partial"
            )
        if p.is_shard() and not 0 <= p.get_dim() < ndim:
            raise ValueError(f"{name}: placements: got {p} for a tensor of {ndim} axes; use 0..{ndim - 1}")
        if p.is_shard() and p.get_split_factor() != 1:
            raise ValueError(
                f"{name}: placements: got {p}; pieces can only be consecutive: use split_factor=1"
            )
    if len(placements) > mesh.ndim:
        raise ValueError(
            f"{name}: placements: got {len(placements)} for a mesh of {mesh.ndim} dimensions; "
            "use one for each"
        )
    # Dimensions for which no placement is given hold copies.
    return DistLayout(mesh, [*placements, *[Replicate()] * (mesh.ndim - len(placements))])


def requested_layout(tensor: Tensor) -> DistLayout | None:
    """The requested DistLayout of a Tensor; None for none, or for one that no longer fits."""
    layout = getattr(tensor, "_dist", None)
    if layout is None:
        return None
    # Something in place may have changed the number of axes since.
    ndim = tensor.ndim
    fits = all(not p.is_shard() or p.get_dim() < ndim for p in layout.placements)
    if fits:
        return layout
    return None


def layout_of(tensor: Tensor) -> DistLayout | None:
    """The DistLayout of a Tensor: the requested one, or that of its array. None for a Tensor on one device.

    It runs the pending operations of the Tensor.
    """
    layout = requested_layout(tensor)
    if layout is not None or not lies_on_mesh(held_value(tensor)):
        return layout
    return layout_of_array(to_jax_array(read_raw(tensor)))


def layout_of_array(array: Any) -> DistLayout | None:
    """The DistLayout of an array, None where it is on one device or lies in a way that has no name here."""
    return layout_of_sharding(sharding_of(array))


def layout_of_sharding(sharding: Any) -> DistLayout | None:
    """The DistLayout that JAX's sharding stands for; None for others than NamedSharding."""
    if not isinstance(sharding, NamedSharding):
        return None
    mesh = mesh_of(sharding.mesh)
    placements = [Replicate() for _ in mesh.shape]
    for dim, names in enumerate(sharding.spec):
        # A spec has no dimension for an axis, one of them, or a tuple.
        for name in () if names is None else names if isinstance(names, tuple) else (names,):
            placements[mesh.dim_names.index(name)] = Shard(dim)
    return DistLayout(mesh, placements)


def put_in_layout(raw: Any, layout: DistLayout) -> jax.Array | Uninitialized:
    """The value of a Tensor in another layout: a DistLayout, or DENSE."""
    if layout is None:
        return raw
    if type(raw) is Symbol:
        raise NotImplementedError(
            "reshard: a Variable of a static program lies nowhere; "
            "leave static mode, and compile with jit.to_static"
        )
    if type(raw) is Uninitialized:
        return raw.in_layout(None if layout is DENSE else layout.sharding(raw.shape))
    if isinstance(raw, jax.core.Tracer):
        if layout is DENSE:
            return raw
        # Inside a trace only the compiler can place a value.
        return execute(_constraint(layout.sharding(raw.shape)), (raw,))
    if layout is DENSE:
        return _gathered(raw)
    sharding = layout.sharding(raw.shape)
    # On the same devices the change joins the pending program.
    if local.ctx.frame.eager and len(sharding.device_set) > 1 and devices_of(raw) == sharding.device_set:
        return execute(_constraint(sharding), (raw,))
    array = to_array(raw)
    # a stage of a pipeline hands its results to the processes of the next one
    if isinstance(array, jax.Array) and has_other_processes(array, sharding):
        return send_to_mesh(array, sharding)
    # numbers of the host are a NumPy array
    is_here = not isinstance(array, jax.Array) or array.is_fully_addressable
    if is_here and not sharding.is_fully_addressable:
        return _put_over_processes(array, sharding)
    return MultiDevice.block_if_needed(jax.device_put)(array, sharding)


def _put_over_processes(array: jax.Array | np.ndarray, sharding: NamedSharding) -> jax.Array:
    """A value that each process has, on the devices of all of them.

    Raises:
        ValueError: the processes have different values; copies of them would differ.
    """
    # JAX refuses arrays that are bound to a device, such as those of `set_value`. It takes host memory.
    try:
        return MultiDevice.block_if_needed(jax.device_put)(np.asarray(array), sharding)
    except AssertionError as error:
        if "not the same on each process" not in str(error):
            raise
        raise ValueError(
            f"shard_tensor, reshard: got a value of shape {list(array.shape)} that differs by process; "
            "it must be the same on all of them; call paddle.seed with one number, or broadcast it before"
        ) from error


@ft.lru_cache(maxsize=4096)
def _constraint(sharding: Any) -> Any:
    return Kernel("reshard", lambda x: lax.with_sharding_constraint(x, sharding))


def devices_of(raw: Any) -> Any:
    """The devices of a value, as far as they are known without running anything; None otherwise."""
    if type(raw) is not LazyArray:
        return getattr(sharding_of(raw), "device_set", None)
    if raw.array is not None:
        return raw.device
    return raw.segment.device


def _gathered(raw: Any) -> jax.Array:
    """The whole value on the default device."""
    array = to_array(raw)
    if not isinstance(array, jax.Array) or len(array.sharding.device_set) == 1:
        return put_uncommitted(array, jax_device(default_device()))
    array = to_addressable(array)
    if array.is_fully_replicated:
        parts = {shard.device: shard.data for shard in array.addressable_shards}
    else:
        parts = {}
    # If this device has a whole copy, nothing is sent.
    here = jax_device(default_device())
    return put_uncommitted(parts[here] if here in parts else jax.device_put(array, here), here)


def identity_of(reduce_type: Any, dtype: DTypeLike) -> Any:
    """What changes nothing in a reduction: 0 for a sum, the least number for a maximum."""
    if reduce_type in (ReduceType.kRedMax, ReduceType.kRedMin):
        # NumPy has no `iinfo` of bool.
        if dtype == np.bool_:
            return reduce_type is ReduceType.kRedMin
        if jnp.issubdtype(dtype, jnp.inexact):
            info = jnp.finfo(dtype)
        else:
            info = jnp.iinfo(dtype)
        low, high = (-jnp.inf, jnp.inf) if jnp.issubdtype(dtype, jnp.inexact) else (info.min, info.max)
        if reduce_type is ReduceType.kRedMax:
            return low
        return high
    if reduce_type in (ReduceType.kRedProd, ReduceType.kRedAll):
        return 1
    return 0


REDUCE = {
    ReduceType.kRedSum: jnp.sum,
    ReduceType.kRedMax: jnp.max,
    ReduceType.kRedMin: jnp.min,
    ReduceType.kRedProd: jnp.prod,
    ReduceType.kRedAvg: jnp.mean,
    ReduceType.kRedAny: jnp.any,
    ReduceType.kRedAll: jnp.all,
}
