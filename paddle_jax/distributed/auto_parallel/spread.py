"""Spreads: on which devices a Tensor lies, and how. What the user has asked for is kept beside the value (the
slot `_dist` of a Tensor); for all others it is read off the array.

A Partial Tensor holds the reduced value, since that is what every operation on it means; what the devices
hold is worked out where somebody asks. An axis that does not divide is stored as copies; its pieces are cut
out where somebody asks for them.
"""

import functools as ft

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.transfer import to_jax_array
from paddle_jax._core.tensors.tensor import read_raw
from paddle_jax.distributed.auto_parallel.placement_type import (
    Placement,
    ReduceType,
    Replicate,
    Shard,
    ordered,
)
from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh, mesh_of


class Spread:
    """A mesh and a placement for each of its dimensions."""

    __slots__ = ("mesh", "placements")

    def __init__(self, mesh, placements):
        self.mesh, self.placements = mesh, tuple(ordered(placements))

    def __eq__(self, other):
        return isinstance(other, Spread) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def _key(self):
        return (
            tuple(self.mesh.shape),
            tuple(self.mesh.process_ids),
            tuple(self.mesh.dim_names),
            self.placements,
        )

    def __deepcopy__(self, memo):
        return self

    def sharding(self, shape):
        """The NamedSharding of arrays of a shape."""
        return _sharding(self, tuple(shape))

    def placed(self, raw):
        """What a Tensor holds, in this layout."""
        from paddle_jax.distributed.auto_parallel.moving import placed

        return placed(raw, self)

    def range(self, shape, index):
        """What the device at an index of the mesh holds of a global shape: a slice for each axis."""
        bounds = [(0, n) for n in shape]
        for place, count, at in zip(self.placements, self.mesh.shape, index, strict=False):
            if place.is_shard():
                start, stop = bounds[place.get_dim()]
                chunk = -(-(stop - start) // count)
                bounds[place.get_dim()] = min(start + at * chunk, stop), min(start + (at + 1) * chunk, stop)
        return tuple(slice(*each) for each in bounds)

    def partials(self):
        """(dimension of the mesh, ReduceType) of each Partial."""
        return [(i, p.reduce_type()) for i, p in enumerate(self.placements) if p.is_partial()]


@ft.lru_cache(maxsize=4096)
def _sharding(spread, shape):
    axes, cut = [[] for _ in shape], [1] * len(shape)
    for place, count, name in zip(spread.placements, spread.mesh.shape, spread.mesh.dim_names, strict=False):
        if place.is_shard():
            dim = place.get_dim()
            cut[dim] *= count
            if shape[dim] % cut[dim] == 0 and cut[dim]:
                axes[dim].append(name)
            else:
                cut[dim] = 0  # the rest of this axis stays whole: a piece of pieces that do not divide
    return NamedSharding(spread.mesh.jax_mesh(), PartitionSpec(*[tuple(names) or None for names in axes]))


def asked(name, mesh, placements, ndim):
    """The Spread that a user asks for.

    Raises:
        TypeError: `mesh` is no ProcessMesh, or a placement is something else.
        ValueError: there are more placements than dimensions, or an axis is out of range.
    """
    if not isinstance(mesh, ProcessMesh):
        raise TypeError(f"{name}: mesh: got {type(mesh).__name__}; it must be a ProcessMesh")
    placements = [placements] if isinstance(placements, Placement) else list(placements)
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
    return Spread(mesh, [*placements, *[Replicate()] * (mesh.ndim - len(placements))])


def noted(tensor):
    """The Spread that was asked for a Tensor, None where none was, or where it cannot hold any more."""
    spread = getattr(tensor, "_dist", None)
    ndim = tensor._raw.ndim
    return (
        spread
        if spread is None or all(not p.is_shard() or p.get_dim() < ndim for p in spread.placements)
        else None
    )


def spread_of(tensor):
    """The Spread of a Tensor: what was asked for, or how its array lies. None for one that is on one device.
    Runs what is pending."""
    spread = noted(tensor)
    return (
        spread
        if spread is not None or not spread_out(tensor._raw)
        else spread_of_array(to_jax_array(read_raw(tensor)))
    )


def spread_out(raw):
    """Whether a value lies on a mesh. Nothing is run for it."""
    if type(raw) is LazyArray:
        if raw.array is None:
            return type(raw.segment.device) is frozenset
        raw = raw.array
    return (
        isinstance(raw, jax.Array)
        and isinstance(getattr(raw, "sharding", None), NamedSharding)
        and not isinstance(raw, jax.core.Tracer)
    )


def spread_of_array(array):
    """The Spread of an array, None where it is on one device or lies in a way that has no name here."""
    return (
        None if isinstance(array, jax.core.Tracer) else spread_of_sharding(getattr(array, "sharding", None))
    )


def spread_of_sharding(sharding):
    """The Spread that JAX's sharding stands for; None for others than NamedSharding."""
    if not isinstance(sharding, NamedSharding):
        return None
    mesh = mesh_of(sharding.mesh)
    placements = [Replicate() for _ in mesh.shape]
    for dim, names in enumerate(sharding.spec):
        for name in () if names is None else names if isinstance(names, tuple) else (names,):
            placements[mesh.dim_names.index(name)] = Shard(dim)
    return Spread(mesh, placements)


def identity_of(reduce_type, dtype):
    """What changes nothing in a reduction: 0 for a sum, the least number for a maximum."""
    if reduce_type in (ReduceType.kRedMax, ReduceType.kRedMin):
        if dtype == np.bool_:
            return reduce_type is ReduceType.kRedMin
        info = jnp.finfo(dtype) if jnp.issubdtype(dtype, jnp.inexact) else jnp.iinfo(dtype)
        low, high = (-jnp.inf, jnp.inf) if jnp.issubdtype(dtype, jnp.inexact) else (info.min, info.max)
        return low if reduce_type is ReduceType.kRedMax else high
    return 1 if reduce_type in (ReduceType.kRedProd, ReduceType.kRedAll) else 0


REDUCE = {
    ReduceType.kRedSum: jnp.sum,
    ReduceType.kRedMax: jnp.max,
    ReduceType.kRedMin: jnp.min,
    ReduceType.kRedProd: jnp.prod,
    ReduceType.kRedAvg: jnp.mean,
    ReduceType.kRedAny: jnp.any,
    ReduceType.kRedAll: jnp.all,
}
