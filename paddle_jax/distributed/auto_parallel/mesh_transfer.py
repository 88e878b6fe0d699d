"""Values that go from the mesh of some processes to a mesh of other processes."""

from __future__ import annotations

import functools as ft
from collections.abc import Iterable
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from paddle_jax._core.lazy.multi_device import to_addressable
from paddle_jax._core.process_group.registry import Groups
from paddle_jax.distributed.communication.group import Group, default_group
from paddle_jax.distributed.parallel import init_parallel_env


def has_other_processes(array: jax.Array, sharding: NamedSharding) -> bool:
    """Whether JAX cannot move an array into a layout, because other processes have its devices."""
    if not isinstance(array.sharding, NamedSharding):  # each process has a value of its own
        return False
    return _processes(array.sharding.device_set) != _processes(sharding.device_set)


def send_to_mesh(array: jax.Array, sharding: NamedSharding) -> jax.Array:
    """An array in a layout over devices of other processes.

    All processes of the program call it, in the same order. The first process that has the value sends it to
    each process that lacks it. The others go on at once.

    Args:
        array: the value, on the devices of some processes.
        sharding: the layout of the result.
    Returns:
        The value in that layout. It has no pieces on a process without a device there.
    """
    init_parallel_env()  # a program may use meshes alone
    group = default_group()
    holders = _processes(array.sharding.device_set)
    targets = _processes(sharding.device_set)
    whole = None
    if group.rank in holders:
        whole = np.asarray(to_addressable(array))
    lacking = sorted(targets - holders)
    # Each holder has the whole value, so one of them sends it.
    if group.rank == min(holders):
        _send(whole, lacking, group)
    if group.rank in lacking:
        whole = _receive(min(holders), group).reshape(array.shape)  # a message of one number has an axis
    # Without a device of the layout this process has no piece, only shape and dtype.
    if group.rank not in targets:
        return jax.make_array_from_single_device_arrays(array.shape, sharding, [], dtype=array.dtype)
    return jax.make_array_from_callback(array.shape, sharding, lambda index: whole[index], dtype=array.dtype)


def read_on_all(array: jax.Array) -> np.ndarray:
    """The elements of an array on each process of the program; see `MultiDevice.read_on_all`."""
    return np.asarray(send_to_mesh(array, _everywhere()).addressable_data(0))


@ft.cache
def _everywhere() -> NamedSharding:
    # Reversed, so that the first device of each process stays in the dict.
    first = {device.process_index: device for device in reversed(jax.devices())}
    return NamedSharding(Mesh(np.array([first[i] for i in sorted(first)]), "p"), PartitionSpec())


def _processes(devices: Iterable[Any]) -> set[int]:
    return {device.process_index for device in devices}


def _send(whole: np.ndarray, ranks: list[int], group: Group) -> None:
    wire = group.process_group
    # All messages are on their way before the first one is waited for.
    messages = [(rank, Groups.channel.send(group.id, rank, whole, wire.timeout)) for rank in ranks]
    for rank, message in messages:
        Groups.channel.wait_until_delivered(message, "reshard", wire.description, rank, wire.timeout)


def _receive(rank: int, group: Group) -> np.ndarray:
    wire = group.process_group
    number = Groups.channel.take_number(group.id, rank)
    return Groups.channel.receive(group.id, rank, number, "reshard", wire.description, wire.timeout)
