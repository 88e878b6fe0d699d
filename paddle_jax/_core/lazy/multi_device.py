"""Arrays on several devices, and operands that have to be copied to all of them, or to one of them."""

from __future__ import annotations

import contextlib
import functools as ft
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np
from jax._src.array import ArrayImpl
from jax.core import Tracer
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

from paddle_jax._core.base.errors import NotHereError
from paddle_jax._core.lazy.device_put import put_uncommitted
from paddle_jax._core.lazy.lazy_array import LazyArray, to_lazy
from paddle_jax._core.lazy.positions import OP_MASK


class MultiDevice:
    """What is done differently once arrays are sharded over several devices.

    Attributes:
        in_use: bool, whether there are such arrays.
        blocking: bool, whether the caller waits for each program on several devices. The devices of a CPU
            share a pool of threads. Several such programs at once can block that pool for ever, and XLA then
            ends the process.
        placed: bool, whether the program has named a device for some array. Operands may then be on
            different devices.
        move_count: int, how often a Layer was moved to a device. States of optimizers follow.
        monitor: gives a block around a program on the devices of several processes. It ends this process
            where another one that must run the program has ended. None while there are no such meshes.
        read_on_all: gives each process the elements of an array that lies on the mesh of some processes;
            None while there are no such meshes.
    """

    in_use = False
    blocking = False
    placed = False
    move_count = 0
    monitor: Callable[[Sequence[int]], contextlib.AbstractContextManager[Any]] | None = None
    read_on_all: Callable[[jax.Array], np.ndarray] | None = None

    @staticmethod
    def block_if_needed(function: Callable[..., Any]) -> Callable[..., Any]:
        """A compiled function that returns when its results are there, if `blocking` is set. With meshes of
        other processes its operands may lie there."""
        if MultiDevice.read_on_all is not None:
            call = ft.partial(_call_with_bound_arrays, function)
        else:
            call = function
        if not MultiDevice.blocking:
            return call
        if MultiDevice.monitor is not None:
            return ft.partial(_call_monitored, MultiDevice.monitor, call)
        return lambda *args, **named: jax.block_until_ready(call(*args, **named))

    @staticmethod
    def run(function: Callable[..., Any], arrays: Sequence[Any]) -> Any:
        """Calls a compiled function; copies operands that are committed to one device to the devices of the
        others."""
        shardings = [sharding_of(array) for array in arrays]
        meshes = [s.mesh for s in shardings if isinstance(s, NamedSharding) and len(s.device_set) > 1]
        if meshes:
            arrays = [
                _replicate(array, meshes[0])  # pyright: ignore[reportArgumentType]
                if isinstance(sharding, SingleDeviceSharding) and array._committed
                else array
                for array, sharding in zip(arrays, shardings, strict=True)
            ]
        # JAX asks tracers for a method that they lack, which takes long; see sharding_of
        if any(isinstance(array, Tracer) for array in arrays):
            return function(*arrays)
        return MultiDevice.block_if_needed(function)(*arrays)


def sharding_of(array: Any) -> Any:
    """The sharding of a jax array; None for a tracer and for what has none.

    A tracer is not asked. Its error names all equations that lead to it, so the time of a trace would grow
    with the square of its length.
    """
    return None if isinstance(array, Tracer) else getattr(array, "sharding", None)


def on_one_accelerator(name: str, values: Sequence[Any]) -> Sequence[Any]:
    """The operands of an operation, with copies on the accelerator of those that are on the host.

    Paddle computes there, too. Operands that are all on the host stay.

    Args:
        name: the operation, for the error.
        values: arrays; tracers and numbers of the host stay as they are.
    Raises:
        ValueError: operands were put on two accelerators.
    """
    single = [v for v in values if type(v) is ArrayImpl and isinstance(v.sharding, SingleDeviceSharding)]
    devices = {device for value in single for device in value.devices()}
    # Nearly always all are on one device.
    if len(devices) < 2:
        return values
    committed = {d for v in single if v._committed for d in v.devices() if d.platform != "cpu"}
    if len(committed) > 1:
        found = ", ".join(sorted(f"{device.platform}:{device.id}" for device in committed))
        raise ValueError(
            f"(InvalidArgument) {name}: got operands on {found}; they must be on one accelerator; "
            "move them with .to(device)"
        )
    accelerators = committed or {device for device in devices if device.platform != "cpu"}
    if len(accelerators) != 1:  # JAX chooses among those that no program has named
        return values
    (target,) = accelerators
    far = {id(value) for value in single if target not in value.devices()}
    return [put_uncommitted(v, target) if id(v) in far else v for v in values]


def committed_device(lazy: LazyArray) -> Any:
    """The device or devices that the array of a LazyArray is committed to. None for host numbers, and where
    JAX chose the device."""
    if type(lazy.array) is ArrayImpl and lazy.array._committed:
        return lazy.device
    return None


def replicate_over(values: Sequence[LazyArray], devices: frozenset[Any]) -> list[LazyArray | None]:
    """The values, with copies on all `devices` of arrays that are committed to one device.

    One of the values is sharded over `devices` already.
    """
    sharded = next(v for v in values if v.array is not None and v.device == devices)
    mesh = sharded.array.sharding.mesh
    return [
        v if committed_device(v) in (None, devices) else to_lazy(_replicate(v.array, mesh)) for v in values
    ]


def put_on_mesh(
    results: Iterable[LazyArray], ops: Sequence[tuple[Any, ...]], leaves: Sequence[LazyArray]
) -> None:
    """Copies results to all devices of a mesh where an operand was there, though its value did not matter.

    A gradient that is constant is one.

    Args:
        results: what operations with the leaves gave.
        ops: the operations, each with the positions of its operands.
        leaves: operands, some of them on a mesh.
    """
    left = [
        r for r in results if type(r.array) is ArrayImpl and not isinstance(r.array.sharding, NamedSharding)
    ]
    shardings = [sharding_of(leaf.array) for leaf in leaves]
    mesh = next((s.mesh for s in shardings if isinstance(s, NamedSharding)), None)
    if mesh is None or not left:
        return
    is_there: list[bool] = []  # for each operation, whether an operand is on the mesh
    for _, *positions in ops:
        is_there.append(
            any(
                is_there[p & OP_MASK] if p >= 0 else isinstance(shardings[-1 - p], NamedSharding)
                for p in positions
            )
        )
    for result in left:
        if is_there[result.position & OP_MASK]:
            result.array = _replicate(result.array, mesh)  # pyright: ignore[reportArgumentType]


def _replicate(array: Any, mesh: Mesh) -> jax.Array:
    return jax.device_put(array, NamedSharding(mesh, PartitionSpec()))


def is_here(array: Any) -> bool:
    """Whether this process has a device of those that an array lies on."""
    if not MultiDevice.in_use or type(array) is not ArrayImpl:
        return True
    return array.is_fully_addressable or bool(array.addressable_shards)


def _call_with_bound_arrays(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Calls a program, which may run on devices of other processes alone.

    JAX moves an array that is bound to no device to where the program runs. It ends the process where it has
    to move one to a device of another process. NumPy arrays are safe.
    """
    flat, tree = jax.tree.flatten(args)
    if all(map(is_here, flat)):
        return function(*args, **named)
    bound = [np.asarray(x) if type(x) is ArrayImpl and not x._committed else x for x in flat]
    return function(*jax.tree.unflatten(tree, bound), **named)


def _call_monitored(
    monitor: Callable[[Sequence[int]], contextlib.AbstractContextManager[Any]],
    function: Callable[..., Any],
    *args: Any,
    **named: Any,
) -> Any:
    """Calls a program and waits for its results, and not for ever where it needs another process."""
    shardings = map(_sharding_over_processes, jax.tree.leaves(args))
    sharding = next((found for found in shardings if found is not None), None)
    if sharding is None:
        return jax.block_until_ready(function(*args, **named))
    with monitor(_ranks_of(sharding)):
        return jax.block_until_ready(function(*args, **named))


def _sharding_over_processes(operand: Any) -> NamedSharding | None:
    """The sharding of an array on devices of other processes, or such a sharding as `device_put` takes."""
    sharding = operand.sharding if type(operand) is ArrayImpl else operand
    if isinstance(sharding, NamedSharding) and not sharding.is_fully_addressable:
        return sharding
    return None


@ft.lru_cache(maxsize=256)
def _ranks_of(sharding: NamedSharding) -> list[int]:
    return sorted({device.process_index for device in sharding.device_set})


def read_on_all(array: jax.Array) -> np.ndarray:
    """The elements of an array, wherever its mesh lies. All processes that have the Tensor call it."""
    if MultiDevice.read_on_all is None or not isinstance(array.sharding, NamedSharding):
        return np.asarray(array)
    return MultiDevice.read_on_all(array)


def to_addressable(array: Any) -> Any:
    """An array whose elements this process can read.

    If some of them are with other processes, all processes have to call this function.

    Raises:
        NotHereError: this process has no device of its mesh.
    """
    if (
        not MultiDevice.in_use
        or not isinstance(array, jax.Array)
        or isinstance(array, Tracer)
        or array.is_fully_addressable
    ):
        return array
    if not is_here(array):
        raise NotHereError(
            f"got a value of shape {list(array.shape)} on devices of other processes alone; this process "
            "has no part of it; read it where its mesh lies, or reshard it to a mesh of this process first"
        )
    if array.is_fully_replicated:
        return array
    replicated = NamedSharding(array.sharding.mesh, PartitionSpec())  # pyright: ignore[reportAttributeAccessIssue]
    # A program copies the parts to all devices.
    return MultiDevice.block_if_needed(jax.jit(lambda x: x, out_shardings=replicated))(array)
