"""Fused attention in programs of several devices: each runs the kernel with its part of batch and heads.

XLA cannot divide a kernel over devices, so the kernel is put into `shard_map`. While a program is lowered, it
is known how its arguments are cut, but not how the operands of attention are. So each mesh axis is used for
the batch or for the heads by what it cuts in arguments. A choice that XLA would not make costs communication,
and changes no result.
"""

from __future__ import annotations

import functools as ft
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import AbstractMesh, AxisType, PartitionSpec

# What Shardy writes about layouts is read as text.
_MESH = re.compile(r"mesh<\[([^\]]*)\]>")
_MESH_AXIS = re.compile(r'"([^"]+)"=(\d+)')
_CUTS = re.compile(r">, \[(.*)\]")
_CUT = re.compile(r"\{([^}]*)\}")
_NAME = re.compile(r'"([^"]+)"')
_OF_HEADS = ("mp", "tp", "model", "tensor")  # names of axes along which models are cut


class _Argument(NamedTuple):
    """An argument of a program.

    Attributes:
        shape: of the whole array.
        cuts: for each dimension the names of the mesh axes that cut it.
    """

    shape: Sequence[int]
    cuts: list[list[str]]


class Layout(NamedTuple):
    """How the devices share attention.

    Attributes:
        mesh: the mesh of the program.
        batch: names of the axes that cut the batch.
        heads: names of the axes that cut the heads.
        repeats: how often each head of keys is repeated, so that each device has whole ones.
    """

    mesh: AbstractMesh
    batch: tuple[str, ...]
    heads: tuple[str, ...]
    repeats: int


def layout_for(context: Any, q: Any, k: Any) -> Layout | None:
    """The layout for attention of q and k in the program that is lowered; None where it has no one mesh.

    Args:
        context: JAX's context of the lowering.
        q, k: shapes and dtypes of queries and keys.
    """
    found = _arguments(context)
    if found is None:
        return None
    mesh, arguments = found
    batch: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    for name in mesh.axis_names:
        use = _use_of(name, arguments, q.shape[0])
        more_batch = (*batch, name)
        more_heads = (*heads, name)
        # Parts must be equal, or each device along the axis computes the same.
        if use == "batch" and q.shape[0] % _parts(mesh, more_batch) == 0:
            batch = more_batch
        elif use == "heads" and q.shape[2] % _parts(mesh, more_heads) == 0:
            heads = more_heads
    if not batch and not heads:
        return None
    count = _parts(mesh, heads)
    # Copies of the heads of keys, so that each part has whole ones.
    repeats = count // math.gcd(count, k.shape[2])
    # Heads of queries that share a head of keys must stay together.
    if q.shape[2] % (k.shape[2] * repeats):
        return None
    return Layout(mesh, batch, heads, repeats)


def divided(
    function: Callable[..., list[Any]], layout: Layout, is_gradient: bool
) -> Callable[..., list[Any]]:
    """A function of whole operands that has each device compute its part.

    Args:
        function: attention or its gradient by kernels, of (q, k, v[, mask][, result, log, cotangent]).
        layout: Layout.
        is_gradient: whether it is the gradient.
    """
    batch = layout.batch or None
    heads = layout.heads or None
    of_queries = PartitionSpec(batch, None, heads)
    of_log = PartitionSpec(batch, heads)

    def of_mask(mask: Any) -> PartitionSpec:
        # A mask with one row or one head holds for all.
        return PartitionSpec(batch if mask.shape[0] > 1 else None, heads if mask.shape[1] > 1 else None)

    def whole(*operands: Any, **params: Any) -> list[Any]:
        q, k, v, *rest = operands
        key_heads = k.shape[2]
        # Each device needs a head of keys beside its heads of queries.
        k, v = (_repeated(x, layout.repeats) for x in (k, v))
        ending = [of_queries, of_log, of_queries] if is_gradient else []
        masks = rest[: len(rest) - len(ending)]
        mapped = jax.shard_map(
            ft.partial(function, **params),
            mesh=layout.mesh,
            in_specs=(of_queries, of_queries, of_queries, *map(of_mask, masks), *ending),
            out_specs=[of_queries] * 3 if is_gradient else [of_queries, of_log],
            # Calls of kernels do not declare how their results vary over the mesh.
            check_vma=False,
        )
        results = mapped(q, k, v, *rest)
        if not is_gradient:
            return results
        # Copies of a head of keys have a part of its gradient each.
        return [results[0], *[_summed(x, key_heads) for x in results[1:]]]

    return whole


def _repeated(x: jax.Array, repeats: int) -> jax.Array:
    """Keys or values with each head repeated."""
    if repeats == 1:
        return x
    return jnp.repeat(x, repeats, axis=2)


def _summed(gradient: jax.Array, key_heads: int) -> jax.Array:
    """The gradient of keys or values from that of repeated ones."""
    batch, length, heads, width = gradient.shape
    if heads == key_heads:
        return gradient
    split = gradient.reshape(batch, length, key_heads, heads // key_heads, width)
    # Sums lose digits in half precision.
    return jnp.sum(split.astype(jnp.float32), 3).astype(gradient.dtype)


def _parts(mesh: AbstractMesh, names: Sequence[str]) -> int:
    return math.prod(mesh.shape[name] for name in names)


def _use_of(name: str, arguments: Sequence[_Argument], batch: int) -> str:
    """What a mesh axis is for: "batch", "heads", or "" where it cuts no argument."""
    cut = [
        (dim, argument.shape[dim])
        for argument in arguments
        for dim, names in enumerate(argument.cuts)
        if name in names
    ]
    if not cut:
        return ""
    if name in _OF_HEADS:
        return "heads"
    # Data have the batch in front.
    if (0, batch) in cut:
        return "batch"
    # Weights are cut by columns for tensor parallelism, by rows to save memory.
    return "heads" if any(dim > 0 for dim, _ in cut) else "batch"


def _arguments(context: Any) -> tuple[AbstractMesh, list[_Argument]] | None:
    """The mesh of a program and its arguments that are cut; None where that is not known."""
    # The layouts of a program's arguments are attributes of its main function.
    functions = context.module_context.module.body.operations
    main = next((each for each in functions if _name_of(each) == "main"), None)
    if main is None or "arg_attrs" not in main.attributes:
        return None
    meshes = set()
    arguments = []
    for value, attributes in zip(main.arguments, main.attributes["arg_attrs"], strict=True):
        if "sdy.sharding" not in attributes:
            continue
        text = str(attributes["sdy.sharding"])
        mesh = _MESH.search(text)
        cuts = _CUTS.search(text)
        # Devices in an order of their own, or a form of another version of JAX.
        if mesh is None or cuts is None:
            return None
        # A mesh without axes: a number of the host, such as the learning rate.
        if not mesh[1]:
            continue
        meshes.add(mesh[1])
        names = [_NAME.findall(each) for each in _CUT.findall(cuts[1])]
        arguments.append(_Argument(value.type.shape, names))
    # Cuts over several meshes give no single layout.
    if len(meshes) != 1:
        return None
    axes = _MESH_AXIS.findall(meshes.pop())
    sizes = tuple(int(size) for _, size in axes)
    # XLA chooses layouts between the operations. JAX 0.12 would want them from the code.
    kinds = (AxisType.Auto,) * len(axes)
    return AbstractMesh(sizes, tuple(name for name, _ in axes), axis_types=kinds), arguments


def _name_of(operation: Any) -> str:
    """The name of a function of a module, "" for what is none."""
    if "sym_name" not in operation.attributes:
        return ""
    return operation.attributes["sym_name"].value
