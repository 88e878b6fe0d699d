"""The format: `<process>_<id>.distcp` holds the bytes of pieces one after the other, `<id>.metadata` is JSON
that says what they are.

The metadata is written last, under a temporary name first, and what it names is not written to again: a
checkpoint with metadata is whole. A save that is interrupted leaves those before usable, also the one it
would have replaced.

    {"version": 1, "tensors": {name: {"shape": [...], "dtype": "float32", "pieces":
        [{"start": [...], "shape": [...], "file": "0_0.distcp", "offset": 0, "crc": 123}, ...]}}}
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distributed.checkpoint.sharded_weight import ShardedWeight

VERSION = 1


def flat(state_dict: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """A nested dict of Tensors as a flat one with names joined by dots: {name: Tensor or ShardedWeight}.

    Raises:
        ValueError: a value is neither dict nor Tensor nor ShardedWeight.
    """
    found = {}
    for key, value in state_dict.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            found |= flat(value, f"{name}.")
        elif isinstance(value, ShardedWeight):
            # Its key names the whole that it is a part of.
            found[value.key] = value
        elif isinstance(value, Tensor):
            found[name] = value
        else:
            raise ValueError(
                f"state_dict: {name}: got {type(value).__name__}; "
                "each value must be a Tensor or a dict; save numbers with paddle.save"
            )
    return found


def ids(folder: Any) -> list[int]:
    """The ids of the whole checkpoints in a folder, the oldest first."""
    return sorted(int(file.stem) for file in Path(folder).glob("*.metadata") if file.stem.isdigit())


def described(folder: Any, unique_id: Any) -> dict[str, Any]:
    """What the metadata of a checkpoint says of each Tensor.

    Raises:
        FileNotFoundError: there is no such checkpoint.
        ValueError: the metadata cannot be read.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(
            f"load_state_dict: path: {folder} is no folder; pass the one that save_state_dict has written to"
        )
    there = ids(folder)
    if unique_id is None and there:
        unique_id = there[-1]
    if unique_id not in there:
        raise FileNotFoundError(
            "load_state_dict: unique_id: there is no whole checkpoint "
            f"{'' if unique_id is None else unique_id} in {folder}; it has {there}"
        )
    file = folder / f"{unique_id}.metadata"
    try:
        read = json.loads(file.read_bytes())
        if read["version"] == VERSION:
            return read["tensors"]
        raise ValueError(
            f"load_state_dict: path: {file} is of version {read['version']}; "
            f"this release reads version {VERSION}"
        )
    # Whatever else may lie under this name is no JSON of this form.
    except (UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError):
        raise ValueError(
            f"load_state_dict: path: {file} is no metadata of this package (the real Paddle's "
            "are pickles, which are not read); save the checkpoint again, or bring weights over "
            "with paddle.save"
        ) from None
