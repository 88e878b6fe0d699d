"""`save_state_dict`."""

from __future__ import annotations

import atexit
import itertools
import json
import threading
import warnings
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from paddle_jax._core.base import launch_variables
from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.lazy.transfer import to_jax_array, to_numpy
from paddle_jax._core.tensors.tensor import Tensor, read_raw
from paddle_jax.distributed.checkpoint.metadata import VERSION, flat, ids
from paddle_jax.distributed.checkpoint.sharded_weight import local_piece, tensor_of, whole_shape
from paddle_jax.distributed.communication import all_gather_object, barrier
from paddle_jax.distributed.communication.group import is_initialized
from paddle_jax.distributed.expert_marks import is_expert
from paddle_jax.distributed.parallel import get_rank, init_parallel_env
from paddle_jax.framework.addresses import check_local
from paddle_jax.framework.atomic import replace_file
from paddle_jax.optimizer.states import state_owner


class _Writing:
    """The save that goes on in the background. thread: it, or None. error: what it ended with."""

    thread = error = None


def wait() -> None:
    """Waits for a save in the background; raises what it ended with."""
    thread = _Writing.thread
    _Writing.thread = None
    if thread is not None:
        thread.join()
    error = _Writing.error
    _Writing.error = None
    if error is not None:
        raise RuntimeError(f"save_state_dict: the save in the background failed: {error}") from error


# A program that ends must not cut off what it is still writing.
atexit.register(lambda: _Writing.thread and _Writing.thread.join())


def save_state_dict(
    state_dict: dict[str, Any],
    path: str,
    process_group: Any = None,
    coordinator_rank: int = 0,
    unique_id: int | None = None,
    async_save: bool = False,
    safetensors: bool = False,
    save_replicas: bool = False,
) -> None:
    """Writes Tensors, sharded or not, to a folder. Each piece is written once, by whoever holds it; Partial
    ones are written reduced.

    The checkpoint counts as there once it is whole: a save that is interrupted leaves the ones
    before as they were.

    Args:
        state_dict: dict of Tensors, of ShardedWeights (the parts of each process), or of dicts of such, whose
            names are joined by dots.
        path: str, the folder; made if it is missing. All processes must see the same.
        process_group: accepted for compatibility; all processes take part.
        coordinator_rank: int, the process that writes the metadata.
        unique_id: int, the number of the checkpoint in the folder; one that is there is replaced.
            Default: the next one.
        async_save: bool, whether the call returns once the values are in host memory, and files are written
            in the background. The next save, and the end of the program, wait for it.
        safetensors: only False.
        save_replicas: accepted for compatibility; copies are written once.
    Raises:
        AssertionError: `state_dict` is no dict.
        ValueError: a value in it is neither Tensor nor dict, or is a part of a weight, of several
            processes, that is no ShardedWeight; processes have Tensors of several shapes or dtypes, or
            different experts, under one name; `safetensors` is True.
        RuntimeError: the save before, in the background, has failed.
    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> paddle.distributed.save_state_dict({"w": paddle.ones([2])}, folder)
        >>> state = {"w": paddle.zeros([2])}
        >>> paddle.distributed.load_state_dict(state, folder)
        >>> state["w"].tolist()
        [1.0, 1.0]
    """
    if not isinstance(state_dict, dict):
        raise CheckError(f"save_state_dict: state_dict: got {type(state_dict).__name__}; it must be a dict")
    if safetensors:
        raise ValueError(
            "save_state_dict: safetensors: got True; checkpoints are written in one format only; use False"
        )
    check_local("save_state_dict", "path", path)
    ensure_global_group()
    # Two saves at once would take the same number.
    wait()
    tensors = flat(state_dict)
    _check_parts(tensors)
    rank = get_rank()
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    if unique_id is None:
        there = ids(folder)
        unique_id = there[-1] + 1 if there else 0
    _together()  # nobody writes before all have looked
    described = {}
    pieces = []
    at = 0
    names = (f"{rank}_{unique_id}{'' if i == 0 else f'_{i}'}.distcp" for i in itertools.count())
    # one that is there belongs to a checkpoint that is there
    file = next(name for name in names if not (folder / name).exists())
    for name, tensor in tensors.items():
        array = to_jax_array(read_raw(tensor_of(tensor)))
        entry = described[name] = {"shape": whole_shape(tensor), "dtype": array.dtype.name, "pieces": []}
        for start, part in _pieces(array, rank) if isinstance(tensor, Tensor) else local_piece(tensor, array):
            data = np.ascontiguousarray(part)
            entry["pieces"].append({"start": start, "shape": list(part.shape), "file": file, "offset": at})
            pieces.append((entry["pieces"][-1], data))
            at += data.nbytes
    # A barrier in a thread would mix with the collectives of the program, so several processes write now.
    if async_save and launch_variables.size() == 1:
        _Writing.thread = threading.Thread(
            target=_in_background, args=(folder, file, unique_id, described, pieces, coordinator_rank)
        )
        _Writing.thread.start()
    else:
        experts = [name for name, value in tensors.items() if _is_of_expert(tensor_of(value))]
        _write(folder, file, unique_id, described, pieces, coordinator_rank, experts)


def _check_parts(tensors: dict[str, Any]) -> None:
    """Refuses parts of weights whose place in the whole is not given: one would be taken for all.

    Raises:
        ValueError: there is one.
    """
    if launch_variables.size() == 1:
        return
    for name, value in tensors.items():
        if getattr(tensor_of(value), "_holds_piece", False):
            raise ValueError(
                f"save_state_dict: state_dict: {name!r} is the piece of a parameter that this process has; "
                "use sharded_state_dict of the model that group_sharded_parallel has given"
            )
        if isinstance(value, Tensor) and _is_part(value):
            raise ValueError(
                f"save_state_dict: state_dict: {name!r} is the part of a weight that this process has; "
                "use sharded_state_dict of the Layer or the optimizer, which gives its place in the whole"
            )


def _is_part(tensor: Tensor) -> bool:
    """Whether a Tensor is a part of a weight, or the state of a piece of one."""
    if getattr(tensor, "is_distributed", False) and getattr(tensor, "split_axis", None) is not None:
        return True
    owner = state_owner(tensor)
    return owner is not None and owner[0]._elements_of(owner[1]) is not None


def _is_of_expert(tensor: Tensor) -> bool:
    """Whether a Tensor is an expert, or the state of one."""
    owner = state_owner(tensor)
    return is_expert(tensor if owner is None else owner[1])


def _pieces(array: Any, rank: Any) -> Iterator[Any]:
    """(start, values) of the pieces of an array that this process writes."""
    if isinstance(array.sharding, jax.sharding.SingleDeviceSharding):
        # a copy: the memory may be given away before it is written
        yield [0] * array.ndim, np.array(to_numpy(array, "save_state_dict"))
        return
    for shard in array.addressable_shards:
        # Devices with copies of a piece have numbers; the first of them writes it.
        if shard.replica_id == 0:
            yield [s.start or 0 for s in shard.index], np.array(to_numpy(shard.data, "save_state_dict"))


def _in_background(*arguments: Any) -> None:
    try:
        _write(*arguments)
    # Of any kind: `wait` raises it in the program.
    except BaseException as error:
        _Writing.error = error


def _write(
    folder: Any,
    file: str,
    unique_id: int,
    described: dict[str, Any],
    pieces: Sequence[Any],
    coordinator: int,
    experts: Sequence[str] = (),
) -> None:
    with replace_file(folder / file) as stream:
        for entry, data in pieces:
            raw = data.tobytes()
            entry["crc"] = zlib.crc32(raw)
            stream.write(raw)
    # The metadata name a piece only once its file is whole on the disk.
    if launch_variables.size() > 1:
        try:
            described = _gathered(described, experts, get_rank() == coordinator)
        except ValueError:
            # All processes raise it, so no metadata will name the file.
            (folder / file).unlink()
            raise
    # The metadata come last: a checkpoint without them does not count.
    if get_rank() == coordinator:
        with replace_file(folder / f"{unique_id}.metadata") as stream:
            stream.write(json.dumps({"version": VERSION, "tensors": described}).encode())
        used = {piece["file"] for entry in described.values() for piece in entry["pieces"]}
        # A save that was replaced leaves pieces that the new metadata does not name.
        for old in {*folder.glob(f"*_{unique_id}.distcp"), *folder.glob(f"*_{unique_id}_*.distcp")}:
            if old.name not in used and old.name.split("_")[1].removesuffix(".distcp") == str(unique_id):
                old.unlink(missing_ok=True)
    # No process returns before the checkpoint is whole.
    _together()


def _gathered(described: dict[str, Any], experts: Sequence[str], warns: bool) -> dict[str, Any]:
    """What all processes have written. A Tensor that each of them has whole is taken from the first that has
    it; where the others have other values a warning says so.

    Raises:
        ValueError: processes have Tensors of several shapes or dtypes, or different experts, under one name.
    """
    parts = []
    all_gather_object(parts, (described, experts))
    whole = {}
    differ = []
    for part, _ in parts:
        for name, entry in part.items():
            known = whole.setdefault(name, {**entry, "pieces": []})
            if (known["shape"], known["dtype"]) != (entry["shape"], entry["dtype"]):
                raise ValueError(
                    f"save_state_dict: state_dict: {name!r} is {known['dtype']} {known['shape']} on one "
                    f"process and {entry['dtype']} {entry['shape']} on another; give them different names"
                )
            if not _take_new_pieces(known["pieces"], entry["pieces"]):
                differ.append(name)
    of_experts = {name for _, names in parts for name in names}
    for name in differ:
        if name in of_experts:
            raise ValueError(
                f"save_state_dict: state_dict: {name!r} is another expert on another process; give experts "
                "names with their numbers among all"
            )
    if differ and warns:
        warnings.warn(
            f"save_state_dict: state_dict: {len(set(differ))} Tensors have other values on other processes, "
            f"first {differ[0]!r}; the checkpoint has those of the first process",
            stacklevel=4,
        )
    return whole


def _take_new_pieces(known: list[dict[str, Any]], pieces: Sequence[dict[str, Any]]) -> bool:
    """Adds the pieces of a process to those of the processes before, copies once. False: a copy has other
    values."""
    same = True
    by_start = {tuple(piece["start"]): piece for piece in known}
    for piece in pieces:
        copy = by_start.get(tuple(piece["start"]))
        if copy is None:
            known.append(piece)
        elif copy["crc"] != piece["crc"]:
            same = False
    return same


def ensure_global_group() -> None:
    """Makes the group of all processes for programs of sharded Tensors, which need none before."""
    if launch_variables.size() > 1 and not is_initialized():
        init_parallel_env()


def _together() -> None:
    if launch_variables.size() > 1:
        barrier()
