"""`load_state_dict` and `load_merged_state_dict`."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import ml_dtypes  # noqa: F401  gives NumPy the names bfloat16 and float8
import numpy as np

from paddle_jax._core.lazy.device_put import put
from paddle_jax._core.lazy.multi_device import MultiDevice
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.layout import layout_of
from paddle_jax.distributed.checkpoint.metadata import described, flat
from paddle_jax.distributed.checkpoint.save_state_dict import ensure_global_group, wait
from paddle_jax.distributed.checkpoint.sharded_weight import ShardedWeight, tensor_of, whole_shape
from paddle_jax.optimizer.states import load_in_place
from paddle_jax.tensor.creation import zeros


def load_state_dict(
    state_dict: dict[str, Any],
    path: str,
    process_group: Any = None,
    coordinator_rank: Any = 0,
    unique_id: int | None = None,
    offload: bool = False,
    mw_name_compatibility: bool = True,
    aoa_config: Any = None,
    safetensors: bool = False,
    worker_groups: Any = None,
    comm_method: str = "broadcast",
) -> None:
    """Loads Tensors in place from a folder that `save_state_dict` has written. They may lie otherwise, on
    other devices and in other numbers than those saved: each device reads what it needs. An optimizer takes
    what its `state_dict` is filled with.

    Nothing is changed if something is wrong with one of them. What is in the checkpoint and not asked for is
    left out; another dtype is cast.

    Args:
        state_dict: dict of Tensors, of ShardedWeights, or of dicts of such: what is to be loaded.
        path: str, the folder.
        unique_id: int, the number of the checkpoint in the folder. Default: the last.
        process_group, coordinator_rank, offload, mw_name_compatibility, safetensors, worker_groups,
            comm_method: accepted for compatibility; every process reads for itself.
        aoa_config: only None.
    Raises:
        FileNotFoundError: there is no such folder or checkpoint.
        KeyError: the checkpoint has no Tensor of a name.
        ValueError: a shape differs, or a file is damaged or is no checkpoint of this package.
    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> paddle.distributed.save_state_dict({"w": paddle.ones([2])}, folder)
        >>> state = {"w": paddle.zeros([2])}
        >>> paddle.distributed.load_state_dict(state, folder)
        >>> state["w"].tolist()
        [1.0, 1.0]
    """
    if aoa_config is not None:
        raise ValueError(
            "load_state_dict: aoa_config: names are not translated; "
            "pass None, and a state_dict with the names of the checkpoint"
        )
    ensure_global_group()
    # A save of this process may still run in the background.
    wait()
    saved = described(path, unique_id)
    found = []
    wanted = flat(state_dict)
    for name, tensor in wanted.items():
        if name not in saved:
            raise KeyError(
                f"load_state_dict: state_dict: the checkpoint has no {name}; "
                f"it has {', '.join(sorted(saved)[:8])}, ..."
            )
        if list(saved[name]["shape"]) != whole_shape(tensor):
            raise ValueError(
                f"load_state_dict: state_dict: {name} has shape {whole_shape(tensor)}; "
                f"the checkpoint has {saved[name]['shape']}"
            )
    # All is read before anything changes: a damaged file leaves the state as it was.
    checked = set()
    for name, tensor in wanted.items():
        found.append((tensor_of(tensor), _read(Path(path), name, saved[name], tensor, checked)))
    for tensor, array in found:
        tensor._rebind(array)
    load_in_place([tensor for tensor, _ in found])


def load_merged_state_dict(
    path: str,
    prefix: str | None = None,
    unique_id: int | None = None,
    offload: Any = False,
    aoa_config: Any = None,
    safetensors: Any = False,
) -> dict[Any, Any]:
    """Loads all Tensors of a checkpoint that `save_state_dict` has written, each whole on one device.

    Args:
        path: str, the folder.
        prefix: str, only names that begin with it.
        unique_id: int, the number of the checkpoint. Default: the last.
        offload, safetensors: accepted for compatibility.
        aoa_config: only None.
    Returns:
        dict of Tensors.
    Raises:
        FileNotFoundError, ValueError: as `load_state_dict`.
    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> paddle.distributed.save_state_dict({"w": paddle.ones([2]), "n": {"b": paddle.zeros([1])}}, folder)
        >>> sorted(paddle.distributed.load_merged_state_dict(folder))
        ['n.b', 'w']
    """
    wait()
    saved = {
        name: entry for name, entry in described(path, unique_id).items() if name.startswith(prefix or "")
    }
    # Loading works in place, so there must be Tensors to load into.
    state = {name: zeros(entry["shape"], entry["dtype"]) for name, entry in saved.items()}
    load_state_dict(state, path, unique_id=unique_id, aoa_config=aoa_config)
    return state


def _read(folder: Any, name: str, entry: dict[str, Any], tensor: Any, checked: set[Any]) -> jax.Array:
    """The array of a Tensor, laid out as that is."""
    shape, layout, dtype = tuple(entry["shape"]), layout_of(tensor_of(tensor)), numpy_dtype(tensor_of(tensor))

    def read_slice(index: Any) -> np.ndarray:
        bounds = [s.indices(n)[:2] for s, n in zip(index, shape, strict=True)]
        return _assembled(folder, name, entry, bounds, checked).astype(dtype)

    # A part that the program has cut itself is an ordinary Tensor on one device.
    if isinstance(tensor, ShardedWeight):
        boxes = [
            read_slice(tuple(slice(a, a + n) for a, n in zip(start, size, strict=True)))
            for start, size in tensor.boxes()
        ]
        return put(_in_a_row(boxes, tensor.local_tensor, dtype) if tensor.is_flattened else boxes[0])
    if layout is None:
        return put(read_slice(tuple(slice(None) for _ in shape)))
    return MultiDevice.block_if_needed(jax.make_array_from_callback)(shape, layout, read_slice, dtype=dtype)


def _in_a_row(boxes: Sequence[np.ndarray], tensor: Any, dtype: Any) -> np.ndarray:
    """The elements of boxes one after the other, filled up with zeros to the length of a Tensor."""
    row = np.zeros(tensor.shape, dtype)
    at = 0
    for box in boxes:
        row[at : at + box.size] = box.reshape(-1)
        at += box.size
    return row


def _assembled(
    folder: Any, name: str, entry: dict[str, Any], bounds: Sequence[Any], checked: set[Any]
) -> np.ndarray:
    """The values within bounds, from the pieces that have a share in them."""
    out = np.empty([stop - start for start, stop in bounds], np.dtype(entry["dtype"]))
    filled = 0
    for piece in entry["pieces"]:
        low = [max(a, start) for (a, _), start in zip(bounds, piece["start"], strict=True)]
        high = [
            min(b, start + n) for (_, b), start, n in zip(bounds, piece["start"], piece["shape"], strict=True)
        ]
        if all(a < b for a, b in zip(low, high, strict=True)):
            values = _piece(folder, name, piece, out.dtype, checked)
            source = tuple(slice(a - s, b - s) for a, b, s in zip(low, high, piece["start"], strict=True))
            target = tuple(slice(a - s, b - s) for a, b, (s, _) in zip(low, high, bounds, strict=True))
            out[target] = values[source]
            filled += int(np.prod([b - a for a, b in zip(low, high, strict=True)], dtype=np.int64))
    # Pieces do not overlap, so the counts add up where none is missing.
    if filled != out.size:
        raise ValueError(
            f"load_state_dict: path: pieces of {name} are missing in {folder}; "
            "save it again, or pass another unique_id"
        )
    return out


def _piece(folder: Any, name: str, piece: dict[str, Any], dtype: np.dtype, checked: set[Any]) -> Any:
    """The values of a piece, read where they are used; the first time the whole of it is checked."""
    # Only the name: metadata from elsewhere must not lead out of the folder.
    file = folder / Path(piece["file"]).name
    shape = tuple(piece["shape"])
    size = int(np.prod(shape, dtype=np.int64))
    try:
        # Mapped, so that a device that needs a few rows reads no more of a large file.
        values = np.memmap(file, dtype, "r", piece["offset"], (size,))
    # A ValueError says that the file is shorter than the piece.
    except (FileNotFoundError, ValueError):
        raise ValueError(
            f"load_state_dict: path: {file} is missing or cut short, which holds a part of "
            f"{name}; pass another unique_id"
        ) from None
    if (file, piece["offset"]) not in checked:
        if zlib.crc32(values.view(np.uint8)) != piece["crc"]:
            raise ValueError(
                f"load_state_dict: path: {file} is damaged, where it holds a part of {name}; "
                "pass another unique_id"
            )
        checked.add((file, piece["offset"]))
    return values.reshape(shape)
