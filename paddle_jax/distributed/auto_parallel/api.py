"""Tensors on several devices: `shard_tensor`, `reshard` and what belongs to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.flags import get_flags
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.tensors.held_values import holds_tracer, plain_shape
from paddle_jax._core.tensors.tensor import Parameter, Tensor
from paddle_jax.distributed.auto_parallel import local_parts
from paddle_jax.distributed.auto_parallel.layout import (
    DENSE,
    DistLayout,
    identity_of,
    layout_of,
    parse_layout,
    requested_layout,
)
from paddle_jax.distributed.auto_parallel.placement_type import ReduceType
from paddle_jax.distributed.auto_parallel.reshard import copy_of, reshard_tensor
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh


# the method of a Tensor that reduces parts
_REDUCTIONS = {
    ReduceType.kRedSum: "sum",
    ReduceType.kRedMax: "max",
    ReduceType.kRedMin: "min",
    ReduceType.kRedProd: "prod",
    ReduceType.kRedAvg: "mean",
    ReduceType.kRedAny: "any",
    ReduceType.kRedAll: "all",
}
# reductions of equal parts that give the part itself
_AS_IT_IS = (
    ReduceType.kRedMax,
    ReduceType.kRedMin,
    ReduceType.kRedAvg,
    ReduceType.kRedAny,
    ReduceType.kRedAll,
)


def in_auto_parallel_align_mode() -> Any:
    """Whether the flag is set that asks plans for exactly the numbers of one device.

    Returns:
        bool.
    Example:
        >>> paddle.distributed.in_auto_parallel_align_mode()
        False
    """
    return get_flags("FLAGS_enable_auto_parallel_align_mode")["FLAGS_enable_auto_parallel_align_mode"]


def shard_tensor(
    data: Any,
    mesh: ProcessMesh,
    placements: Any,
    dtype: DTypeLike | None = None,
    place: Any = None,
    stop_gradient: bool | None = None,
) -> Tensor:
    """Makes a Tensor that lies on the devices of a mesh, from data that is in one place.

    The result is a leaf: no gradient flows back to `data`. A Parameter gives a Parameter. Operations on such
    Tensors run on all the devices that hold them; XLA decides how their results lie, and inserts what
    communication that takes.

    Args:
        data: Tensor, NumPy array, number or list.
        mesh: ProcessMesh.
        placements: list of Placement, one for each dimension of the mesh; Replicate for those left out.
        dtype: dtype of the result. Default: that of `data`.
        place: Place, where the data is made first.
        stop_gradient: bool. Default: that of `data`, True for what is no Tensor.
    Returns:
        Tensor of the shape of `data`.
    Raises:
        ValueError: an axis is out of range, there are too many placements, the mesh has devices that are not
            there, or `data` is sharded already in another way.
        TypeError: `mesh` or a placement is something else.
    Example:
        >>> dist = paddle.distributed
        >>> x = dist.shard_tensor(paddle.ones([4, 2]), dist.ProcessMesh([0], dim_names=["x"]),
        ...                       [dist.Shard(0)])
        >>> x.placements
        [Shard(dim=0)]
    """
    if stop_gradient is not None:
        stop = stop_gradient
    elif isinstance(data, Tensor):
        stop = data.stop_gradient
    else:
        stop = True
    if isinstance(data, Tensor):
        tensor = data
    else:
        tensor = to_tensor(data, dtype=dtype, place=place, stop_gradient=stop)
    layout = parse_layout("shard_tensor", mesh, placements, tensor.ndim)
    already = layout_of(tensor)
    if already == layout:
        return tensor
    # what was computed together with values on a mesh lies whole on its devices
    if already is not None and (
        requested_layout(tensor) is not None or not all(p.is_replicated() for p in already.placements)
    ):
        raise ValueError(
            f"shard_tensor: data: got a Tensor that is sharded as {tensor.placements} already; use reshard"
        )
    if dtype is not None and dtypes.convert(dtype) != tensor.dtype:
        tensor = tensor.detach().astype(dtype)
    made = copy_of(tensor, layout, type(data) if isinstance(data, Parameter) else Tensor)
    # Paddle's name of a sharded Parameter. Others get a name where one is read.
    if isinstance(data, Parameter):
        made._name = f"{data.name}.dist"
    else:
        made._name = None
    if isinstance(data, Parameter) or not isinstance(data, Tensor):
        made.stop_gradient = stop
    else:
        made.stop_gradient = data.stop_gradient
    return made


def dtensor_from_fn(fn: Callable[..., Any], mesh: Any, placements: Any, *args: Any, **kwargs: Any) -> Any:
    """The result of a function that makes a Tensor, on the devices of a mesh.

    Args:
        fn: function such as `paddle.ones`.
        mesh, placements: as for `shard_tensor`.
        args, kwargs: what `fn` is called with.
    Returns:
        Tensor.
    Example:
        >>> dist = paddle.distributed
        >>> dist.dtensor_from_fn(paddle.ones, dist.ProcessMesh([0]), [dist.Replicate()], shape=[2]).tolist()
        [1.0, 1.0]
    """
    return shard_tensor(fn(*args, **kwargs), mesh, placements)


def reshard(dist_tensor: Tensor, mesh: Any, placements: Any) -> Any:
    """Brings a Tensor on several devices into another layout, or onto another mesh. The value stays the same;
    gradients of every order flow through.

    Args:
        dist_tensor: Tensor that is sharded.
        mesh: ProcessMesh.
        placements: list of Placement, one for each dimension of the mesh.
    Returns:
        Tensor of the same shape and value.
    Raises:
        ValueError: the Tensor is not sharded (use shard_tensor), or an axis is out of range.
    Example:
        >>> dist = paddle.distributed
        >>> mesh = dist.ProcessMesh([0], dim_names=["x"])
        >>> x = dist.shard_tensor(paddle.ones([4, 2]), mesh, [dist.Shard(0)])
        >>> dist.reshard(x, mesh, [dist.Replicate()]).placements
        [Replicate()]
    """
    if not isinstance(dist_tensor, Tensor):
        raise AttributeError(f"reshard: dist_tensor: got {type(dist_tensor).__name__}; it must be a Tensor")
    layout = parse_layout("reshard", mesh, placements, dist_tensor.ndim)
    # Where a traced value lies is not known, and on a mesh of one device a result is as any other Tensor.
    fits = dist_tensor.is_dist() or holds_tracer(dist_tensor) or layout.mesh.size == 1
    if not fits:
        raise ValueError("reshard: dist_tensor: got a Tensor on one device; use shard_tensor")
    return reshard_tensor(dist_tensor, layout)


def unshard_dtensor(dist_tensor: Tensor) -> Any:
    """The whole value of a sharded Tensor on one device.

    Args:
        dist_tensor: Tensor that is sharded.
    Returns:
        Tensor of the same shape, on one device. A Parameter gives a Parameter.
    Raises:
        ValueError: the Tensor is not sharded.
    Example:
        >>> dist = paddle.distributed
        >>> x = dist.shard_tensor(paddle.ones([4, 2]), dist.ProcessMesh([0]), [dist.Shard(0)])
        >>> dist.unshard_dtensor(x).is_dist()
        False
    """
    if not isinstance(dist_tensor, Tensor) or not dist_tensor.is_dist():
        raise ValueError(
            "unshard_dtensor: dist_tensor: got a value on one device; it must be a sharded Tensor"
        )
    # A Parameter stays one, under its name, so that optimizers and files still know it.
    if isinstance(dist_tensor, Parameter):
        made = copy_of(dist_tensor, DENSE, type(dist_tensor))
        made._dist = None
        made._name = dist_tensor._name
        return made
    return reshard_tensor(dist_tensor, DENSE)


def dtensor_from_local(local_tensor: Tensor, mesh: Any, placements: Any) -> Any:
    """A Tensor on the devices of a mesh from the part that each of them holds.

    Each process gives the part that its devices hold; all parts have one shape. A process that drives several
    devices has the same part on each: Shard repeats it along its axis, a Partial sum adds it up.

    Args:
        local_tensor: Tensor, the part.
        mesh, placements: as for `shard_tensor`.
    Returns:
        Tensor whose axes are longer by the length of the mesh dimensions that cut them.
    Example:
        >>> dist = paddle.distributed
        >>> dtensor_from_local = dist.auto_parallel.api.dtensor_from_local
        >>> dtensor_from_local(paddle.ones([2]), dist.ProcessMesh([0]), [dist.Shard(0)]).tolist()
        [1.0, 1.0]
    """
    layout = parse_layout("dtensor_from_local", mesh, placements, local_tensor.ndim)
    if local_parts.has_other_processes(layout):
        return reshard_tensor(_whole_of_processes(local_tensor, layout), layout)
    # One process that drives all devices passes one part, which stands for all of them.
    return reshard_tensor(_whole(local_tensor, layout), layout)


def _whole_of_processes(part: Tensor, layout: DistLayout) -> Tensor:
    """The value of a layout of which each process has a part."""
    reductions = layout.partials()
    whole = local_parts.stacked(part, layout, [i for i, _ in reductions])
    # Each reduction takes the first axis away; that of the next Partial is first then.
    for _, kind in reductions:
        whole = getattr(whole, _REDUCTIONS[kind])(0)
    return whole


def _whole(part: Any, layout: Any) -> Any:
    # Each device has this part: side by side for a Shard, times n for a sum, to the n for a product.
    for place, count in zip(layout.placements, layout.mesh.shape, strict=True):
        if place.is_shard():
            part = part.tile([count if i == place.get_dim() else 1 for i in range(part.ndim)])
        elif place.is_partial() and place.reduce_type() not in _AS_IT_IS:
            if place.reduce_type() is ReduceType.kRedSum:
                part = part * count
            else:
                part = part**count
    return part


def dtensor_to_local(dist_tensor: Tensor, mesh: Any, placements: Any) -> Any:
    """The part of a Tensor that the device of this process holds, the first of the mesh where it drives all.

    Args:
        dist_tensor: Tensor.
        mesh, placements: how to cut it: as for `reshard`.
    Returns:
        Tensor on one device.
    Example:
        >>> dist = paddle.distributed
        >>> dtensor_to_local = dist.auto_parallel.api.dtensor_to_local
        >>> mesh = dist.ProcessMesh([0])
        >>> dtensor_to_local(dist.shard_tensor(paddle.ones([2]), mesh, [dist.Shard(0)]), mesh,
        ...                  [dist.Shard(0)]).tolist()
        [1.0, 1.0]
    """
    layout = parse_layout("dtensor_to_local", mesh, placements, dist_tensor.ndim)
    return piece(dist_tensor, layout, local_mesh_index(layout.mesh))


def local_mesh_index(mesh: Any) -> Any:
    """The place in a mesh of the first device of this process; that of the first of the mesh, if
    it is not in it."""
    found = np.argwhere(mesh.mesh == jax.devices().index(jax.local_devices()[0]))
    if len(found):
        return tuple(map(int, found[0]))
    # This process has no device of the mesh: it asks for what the first one holds.
    return (0,) * mesh.ndim


def piece(tensor: Any, layout: Any, index: Any) -> Any:
    """What the device at an index of the mesh holds of a Tensor, on one device."""
    whole = reshard_tensor(tensor, DENSE)
    if any(p.is_shard() for p in layout.placements):
        part = whole[layout.range(whole.shape, index)]
    else:
        part = whole
    for dim, reduce_type in layout.partials():
        # The first device holds the value of a Partial, the others what changes nothing. An average is that
        # of equal parts.
        if index[dim] and reduce_type is not ReduceType.kRedAvg:
            part = run(_FILLED[reduce_type], (part,))
    return part


def _filled(reduce_type: ReduceType) -> Kernel:
    return Kernel("identity", lambda x: jnp.full_like(x, identity_of(reduce_type, x.dtype)), nondiff=True)


_FILLED = {reduce_type: _filled(reduce_type) for reduce_type in ReduceType}


# what Tensors say of themselves -----------------------------------------------------------------------------


def is_dist(self) -> bool:
    """Whether the Tensor lies on the devices of a mesh.

    Example:
        >>> paddle.ones([2]).is_dist()
        False
    """
    return layout_of(self) is not None


def _process_mesh(self) -> Any:
    """The mesh that the Tensor lies on, a ProcessMesh; None for one on one device."""
    layout = layout_of(self)
    if layout is None:
        return None
    return layout.mesh


def _placements(self) -> list[Any] | None:
    """How the Tensor lies along each dimension of its mesh, a list of Placement; None for
    one on one device."""
    layout = layout_of(self)
    if layout is None:
        return None
    return list(layout.placements)


def _local_shape(self) -> list[Any] | None:
    """The shape of what the device of this process holds; None for a Tensor on one device."""
    layout = layout_of(self)
    if layout is None:
        return None
    return [s.stop - s.start for s in layout.range(plain_shape(self), local_mesh_index(layout.mesh))]


def _local_value(self) -> Any:
    """What the device of this process holds, a Tensor on one device."""
    layout = layout_of(self)
    if layout is None:
        return self
    return piece(self, layout, local_mesh_index(layout.mesh))


def _num_shard(self) -> int:
    """Into how many pieces the Tensor is cut."""
    layout = layout_of(self)
    if layout is None:
        return 1
    return int(
        np.prod(
            [n for p, n in zip(layout.placements, layout.mesh.shape, strict=True) if p.is_shard()],
            dtype=int,
        )
    )


def _placements_str(self) -> str:
    """How the Tensor lies, in the words of its text; empty for one on one device."""
    layout = layout_of(self)
    if layout is None:
        return ""
    mesh = layout.mesh
    sides = ",".join(map(str, mesh.shape)), ",".join(map(str, mesh.process_ids)), ",".join(mesh.dim_names)
    text = "{{shape: [{}], process_ids: [{}], dim_names: [{}]}}".format(*sides)
    return f" process_mesh={text}, placements={list(layout.placements)}, GlobalDenseTensor="


Tensor.is_dist = is_dist
Tensor._local_value = _local_value
Tensor._placements_str = _placements_str
Tensor.process_mesh, Tensor.placements = property(_process_mesh), property(_placements)
Tensor._local_shape, Tensor.num_shard = property(_local_shape), property(_num_shard)
