"""Functions that run on each device on the part that it holds."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.execution.trace import is_tensor, trace
from paddle_jax._core.tensors.held_values import numpy_dtype, plain_shape
from paddle_jax.distributed.auto_parallel.layout import REDUCE, identity_of, layout_of, parse_layout
from paddle_jax.distributed.auto_parallel.placement_type import Replicate
from paddle_jax.distributed.auto_parallel.reshard import reshard_tensor
from paddle_jax.func.arguments import Arguments, dispatch, finish
from paddle_jax.nn.layer.layers import Layer


def local_map(
    func: Callable[..., Any],
    out_placements: Any,
    in_placements: Any = None,
    process_mesh: Any = None,
    reshard_inputs: bool = False,
) -> Any:
    """Makes a function of the parts that each device holds into one of sharded Tensors.

    The function runs once, and what it computes runs on all devices. Random numbers are the same on each. It
    may use Tensors from outside, of which each device gets the whole. Gradients of every order flow through.

    Args:
        func: function of Tensors (the parts) and other things, that returns Tensors (parts of the results)
            and other things.
        out_placements: list with a list of Placement for each result; None for one that is no Tensor.
        in_placements: list with a list of Placement for each argument, None for one that is no Tensor.
            Default: as the arguments lie.
        process_mesh: ProcessMesh. Default: that of the first argument.
        reshard_inputs: bool, whether arguments that lie otherwise are brought into `in_placements`.
    Returns:
        A function of the whole Tensors.
    Raises:
        ValueError: an argument does not lie as `in_placements` says, or does not divide.
        AssertionError: there is no mesh, or the number of results or arguments does not fit.
    Example:
        >>> dist = paddle.distributed
        >>> mesh = dist.ProcessMesh([0], dim_names=["x"])
        >>> total = dist.local_map(lambda x: x.sum(), [[dist.Partial()]], [[dist.Shard(0)]], mesh)
        >>> total(dist.shard_tensor(paddle.ones([4]), mesh, [dist.Shard(0)])).item()
        4.0
    """

    @ft.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        given = Arguments(args, kwargs)
        # Without a mesh, that of the first sharded argument.
        mesh = process_mesh or next((layout_of(t).mesh for t in given.tensors if t.is_dist()), None)
        if mesh is None:
            raise CheckError(
                "local_map: process_mesh: got None, and no argument is sharded; pass a ProcessMesh"
            )
        layouts = [
            _asked_of(mesh, t, p)
            for t, p in zip(given.tensors, _per_tensor(given, in_placements), strict=True)
        ]
        tensors = [
            _brought(t, layout, reshard_inputs) for t, layout in zip(given.tensors, layouts, strict=True)
        ]
        # The function is traced once, on the shapes of one device's parts.
        structs = [
            jax.ShapeDtypeStruct(_shard_shape(plain_shape(t), layout), numpy_dtype(t))
            for t, layout in zip(tensors, layouts, strict=True)
        ]
        run = trace(lambda *parts: given.call(func, parts), structs)
        # Each device would change a part of its own, which makes no whole Tensor.
        if run.changed:
            raise ValueError(
                f"local_map: the function changes {run.changed[0].name} from outside; "
                "return the new value instead"
            )
        results = _results(mesh, run, out_placements)
        # The layouts decide what the program does, so they are a part of its key.
        key = (tuple(layouts), tuple(results))
        out = dispatch(
            "local_map", run, lambda fn: _program(fn, mesh, layouts, results, len(run.taken)), key, tensors
        )
        # An array cannot say that it is Partial, so the Tensor keeps the layout.
        for tensor, layout in zip(out, results, strict=True):
            tensor._dist = layout
        return finish(run, out)

    return mapped


def _per_tensor(given: Any, in_placements: Any) -> list[None] | list[Any]:
    """The placements of each Tensor among the arguments; None where nothing is said."""
    if in_placements is None:
        return [None] * len(given.tensors)
    if len(in_placements) != len(given.leaves):
        raise CheckError(
            f"local_map: in_placements: got {len(in_placements)} for {len(given.leaves)} "
            "arguments; pass one for each"
        )
    return [in_placements[i] for i in given.at]


def _asked_of(mesh: Any, tensor: Any, placements: Any) -> Any:
    if placements is None:
        own = layout_of(tensor)
        if own is not None:
            return own
        return parse_layout("local_map", mesh, [Replicate()] * mesh.ndim, tensor.ndim)
    return parse_layout("local_map", mesh, placements, tensor.ndim)


def _brought(tensor: Any, layout: Any, reshard: Any) -> Any:
    own = layout_of(tensor)
    if own is not None and own != layout and not reshard:
        raise ValueError(
            f"local_map: in_placements: got {list(layout.placements)} for an argument that lies "
            f"as {list(own.placements)}; pass reshard_inputs=True, or call reshard before"
        )
    if own == layout:
        return tensor
    return reshard_tensor(tensor, layout)


def _shard_shape(shape: Any, layout: Any) -> tuple[Any, ...]:
    """The shape of what each device holds."""
    part = list(shape)
    for place, count in zip(layout.placements, layout.mesh.shape, strict=True):
        if place.is_shard():
            if part[place.get_dim()] % count:
                raise ValueError(
                    f"local_map: axis {place.get_dim()} of a Tensor of shape {list(shape)} "
                    f"cannot be cut into equal parts as {list(layout.placements)} says; pad it"
                )
            part[place.get_dim()] //= count
    return tuple(part)


def _results(mesh: Any, run: Any, out_placements: Any) -> list[Any]:
    """The DistLayout of each Tensor among the results."""
    leaves = jax.tree.leaves(
        run.rebuild(list(map(_Mark, range(len(run.structs))))),
        is_leaf=lambda x: isinstance(x, _Mark) or is_tensor(x),
    )
    if out_placements is None or len(out_placements) != len(leaves):
        if out_placements is None:
            got = "None"
        else:
            got = str(len(out_placements))
        raise CheckError(
            f"local_map: out_placements: got {got} for {len(leaves)} results; "
            "pass one list of placements for each"
        )
    found = {}
    for leaf, placements in zip(leaves, out_placements, strict=True):
        if isinstance(leaf, _Mark):
            if placements is None:
                raise CheckError("local_map: out_placements: got None for a result that is a Tensor")
            found[leaf.at] = parse_layout("local_map", mesh, placements, len(run.structs[leaf.at].shape))
    return [found[i] for i in range(len(run.structs))]


class _Mark:
    """Stands for a Tensor among the results."""

    def __init__(self, at: Any) -> None:
        self.at = at


def _spec(layout: Any, ndim: Any, lead: Any = ()) -> Any:
    axes = [[] for _ in range(ndim)]
    for place, name in zip(layout.placements, layout.mesh.dim_names, strict=True):
        if place.is_shard():
            # Several axes of the mesh may cut one axis of the array.
            axes[place.get_dim()].append(name)
    return PartitionSpec(*lead, *[tuple(names) or None for names in axes])


def _program(fn: Any, mesh: Any, layouts: Any, results: Any, taken: Any) -> Any:
    """The function of whole arrays. What a device adds to a Partial result gets an axis of its own, over
    which is summed outside."""
    names = mesh.dim_names

    def on_each(*arrays: Any) -> Any:
        # Arrays after those of the arguments are what the function takes from outside: each device has them
        # whole.
        parts = [_partial_value(a, layout, names) for a, layout in zip(arrays, layouts, strict=False)]
        out = fn(*parts, *arrays[len(layouts) :])
        return tuple(
            # One axis for each Partial: the sum over it is taken outside.
            jnp.expand_dims(o, tuple(range(len(layout.partials()))))
            for o, layout in zip(out, results, strict=True)
        )

    def whole(*arrays: Any) -> Any:
        inside = (
            tuple(_spec(layout, a.ndim) for layout, a in zip(layouts, arrays, strict=False))
            + (PartitionSpec(),) * taken
        )
        # How many axes the results have is known only after a run on shapes.
        shapes = jax.eval_shape(
            fn,
            *[
                jax.ShapeDtypeStruct(_shard_shape(a.shape, s), a.dtype)
                for a, s in zip(arrays, layouts, strict=False)
            ],
            *arrays[len(layouts) :],
        )
        outside = tuple(
            _spec(layout, len(s.shape), [names[dim] for dim, _ in layout.partials()])
            for layout, s in zip(results, shapes, strict=True)
        )
        out = jax.shard_map(
            on_each, mesh=mesh.jax_mesh(), in_specs=inside, out_specs=outside, check_vma=False
        )(*arrays)
        return tuple(_reduced(o, layout) for o, layout in zip(out, results, strict=True))

    return whole


def _partial_value(part: Any, layout: Any, names: Any) -> Any:
    """What a device holds of a Partial argument: the value on the first one, what changes
    nothing on the others."""
    for dim, reduce_type in layout.partials():
        # A mean of equal numbers is that number, so all may hold it.
        if reduce_type.name != "kRedAvg":
            part = jnp.where(
                lax.axis_index(names[dim]) == 0,
                part,
                jnp.asarray(identity_of(reduce_type, part.dtype), part.dtype),
            )
    return part


def _reduced(out: Any, layout: Any) -> Any:
    for _, reduce_type in layout.partials():
        # A sum or mean of bools or small integers would have another dtype.
        out = REDUCE[reduce_type](out, axis=0).astype(out.dtype)
    return lax.with_sharding_constraint(out, layout.sharding(out.shape))


class LocalLayer(Layer):
    """A layer whose `forward` runs on each device on the part that it holds.

    Parameters in it count as copies: each device gets the whole of them.

    Args:
        out_dist_attrs: list with a (mesh, list of Placement) for each result.
        grad_dist_attrs: list with a (mesh, list of Placement) for each argument, or None; gradients lie as
            the arguments do.
    Raises:
        ValueError: as for `local_map`.
    Example:
        >>> dist = paddle.distributed
        >>> mesh = dist.ProcessMesh([0], dim_names=["x"])
        >>> class Total(dist.LocalLayer):
        ...     def forward(self, x):
        ...         return x.sum()
        >>> Total([(mesh, [dist.Partial()])], [(mesh, [dist.Shard(0)])])(
        ...     dist.shard_tensor(paddle.ones([4]), mesh, [dist.Shard(0)])).item()
        4.0
    """

    def __init__(self, out_dist_attrs: Any, grad_dist_attrs: Any) -> None:
        super().__init__()
        self.out_dist_attrs = out_dist_attrs
        self.grad_dist_attrs = grad_dist_attrs

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        if len(inputs) != len(self.grad_dist_attrs):
            raise CheckError(
                f"LocalLayer: grad_dist_attrs: got {len(self.grad_dist_attrs)} for "
                f"{len(inputs)} arguments; pass one for each, or None"
            )
        meshes = [mesh for mesh, _ in self.out_dist_attrs]
        # `super()` does not work in the lambda, which has no `self`.
        called = super().__call__
        return local_map(
            lambda *args: called(*args, **kwargs),
            [placements for _, placements in self.out_dist_attrs],
            None,
            meshes[0],
        )(*inputs)
