"""Checkpoints of orbax, which programs in JAX and flax read and write."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import jax
import numpy as np
from jax.sharding import SingleDeviceSharding

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.lazy.devices import default_device, jax_device
from paddle_jax._core.lazy.transfer import to_jax_array
from paddle_jax._core.tensors.held_values import assign_from, element_count, numpy_dtype, plain_shape
from paddle_jax._core.tensors.layout import layout_of
from paddle_jax._core.tensors.tensor import Tensor, read_raw, wrap
from paddle_jax.framework.addresses import is_address


def save_orbax(state_dict: Mapping[str, Any], path: str, overwrite: bool = False) -> None:
    """Writes Tensors, sharded or not, as a checkpoint of orbax, which JAX and flax programs restore.

    Each process writes the pieces that it holds. The folder appears in one piece when all is written.

    Args:
        state_dict: dict of Tensors, of numbers, or of dicts of such. Keys are str.
        path: str, the folder; it must not exist. Addresses that orbax writes, such as `gs://`, are allowed.
        overwrite: bool, whether a checkpoint that is there is replaced. Default False.
    Raises:
        AssertionError: `state_dict` is no dict.
        ValueError: a value is neither Tensor, number nor dict, a Tensor has no elements, or the
            folder exists.
        ImportError: orbax-checkpoint is not installed.
    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/step_1"
        >>> paddle.interop.save_orbax({"w": paddle.ones([2]), "epoch": 3}, path)
        >>> paddle.interop.load_orbax(path)
        {'epoch': 3, 'w': Tensor(shape=[2], dtype=float32, place=Place(cpu), stop_gradient=True,
               [1., 1.])}
    """
    orbax = _orbax("save_orbax")
    if not isinstance(state_dict, Mapping):
        raise CheckError(f"save_orbax: state_dict: got {type(state_dict).__name__}; it must be a dict")
    tree = _arrays(state_dict, "")
    folder = _folder(path)
    if not overwrite and not is_address(folder) and os.path.lexists(folder):
        raise ValueError(
            f"save_orbax: path: {folder} exists; give another folder, or overwrite=True to replace it"
        )
    with orbax.StandardCheckpointer() as checkpointer:
        checkpointer.save(folder, tree, force=overwrite)


def load_orbax(path: str, state_dict: dict[str, Any] | None = None) -> dict[str, Any]:
    """Reads a checkpoint of orbax, which `save_orbax`, JAX or flax has written.

    Args:
        path: str, the folder. Of an orbax CheckpointManager it is `folder/step/default`.
        state_dict: dict of Tensors or of dicts of such, which get the values in place, in their layout and
            dtype. What the checkpoint has besides is not read. Default None: everything is read.
    Returns:
        dict, `state_dict` or a new one, with Tensors on the current device, numbers and dicts. Lists are
        dicts there, with keys "0", "1" and so on.
    Raises:
        FileNotFoundError: there is no checkpoint.
        KeyError: the checkpoint has no Tensor of a name.
        ValueError: a shape differs.
        ImportError: orbax-checkpoint is not installed.
    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/step_1"
        >>> paddle.interop.save_orbax({"w": paddle.ones([2])}, path)
        >>> net = {"w": paddle.zeros([2])}
        >>> paddle.interop.load_orbax(path, net)["w"].tolist()
        [1.0, 1.0]
    """
    orbax = _orbax("load_orbax")
    folder = _folder(path)
    with orbax.Checkpointer(orbax.PyTreeCheckpointHandler()) as checkpointer:
        try:
            tree = checkpointer.metadata(folder).item_metadata.tree
        except (FileNotFoundError, AttributeError, NotADirectoryError) as error:
            raise FileNotFoundError(
                f"load_orbax: path: {folder} is no checkpoint of orbax; give the folder that was saved to, "
                "of a CheckpointManager folder/step/default"
            ) from error
        if state_dict is None:
            return _tensors(_restored(checkpointer, folder, _targets(tree, None, orbax), orbax))
        wanted = dict(_flat(state_dict))
        saved = dict(_flat(tree))
        # Before anything is read or changed.
        _check(wanted, saved)
        read = dict(_flat(_restored(checkpointer, folder, _targets(tree, wanted, orbax), orbax)))
    # All was read and fits, so nothing is changed by half.
    for name, tensor in wanted.items():
        assign_from(tensor, wrap(read[name]))
    return state_dict


def _orbax(function: str) -> ModuleType:
    try:
        import orbax.checkpoint
    except ImportError as error:
        raise ImportError(
            f"{function}: it needs the package orbax-checkpoint; install it with: "
            "pip install orbax-checkpoint"
        ) from error
    return orbax.checkpoint


def _folder(path: Any) -> str:
    """The path as orbax wants it: absolute, or an address."""
    if is_address(path):
        return path
    return os.path.abspath(os.fspath(path))  # noqa: PTH100


def _arrays(state: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """A nested dict with arrays in place of Tensors.

    Raises:
        ValueError: a value cannot be written.
    """
    found = {}
    for key, value in state.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            found[key] = _arrays(value, f"{name}.")
        elif isinstance(value, Tensor):
            if element_count(value) == 0:
                raise ValueError(
                    f"save_orbax: state_dict: {name} has no elements, which orbax cannot write; leave it out"
                )
            found[key] = to_jax_array(read_raw(value))
        elif isinstance(value, bool | int | float | np.ndarray):
            found[key] = value
        else:
            raise ValueError(
                f"save_orbax: state_dict: {name}: got {type(value).__name__}; each value must be a Tensor, a "
                "number or a dict; save other objects with paddle.save"
            )
    return found


def _items(tree: Any) -> list[tuple[str, Any]]:
    if isinstance(tree, Mapping):
        return [(str(key), value) for key, value in tree.items()]
    return [(str(number), value) for number, value in enumerate(tree)]


def _flat(tree: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """(name, leaf) with the keys joined by dots."""
    for key, value in _items(tree):
        if isinstance(value, Mapping | list | tuple):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _check(wanted: dict[str, Any], saved: dict[str, Any]) -> None:
    """Refuses what cannot be loaded before anything is changed."""
    for name, tensor in wanted.items():
        if not isinstance(tensor, Tensor):
            raise ValueError(
                f"load_orbax: state_dict: {name}: got {type(tensor).__name__}; each value must be a Tensor "
                "or a dict of them; leave state_dict out to read numbers"
            )
        if name not in saved:
            raise KeyError(
                f"load_orbax: state_dict: the checkpoint has no {name}; it has {', '.join(sorted(saved)[:8])}"
            )
        shape = tuple(getattr(saved[name], "shape", None) or ())
        if shape != tuple(plain_shape(tensor)):
            raise ValueError(
                f"load_orbax: state_dict: {name} has shape {list(plain_shape(tensor))}; "
                f"the checkpoint has {list(shape)}"
            )


def _targets(tree: Any, wanted: dict[str, Any] | None, orbax: ModuleType, prefix: str = "") -> Any:
    """What orbax is to read: shapes, dtypes and layouts in the structure of the checkpoint."""
    if isinstance(tree, list | tuple):
        # Lists have numbers as names.
        return type(tree)(_targets(dict(_items(tree)), wanted, orbax, prefix).values())
    found = {}
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping | list | tuple):
            found[key] = _targets(value, wanted, orbax, f"{name}.")
        else:
            found[key] = _target(value, wanted, name, orbax)
    return found


def _restored(checkpointer: Any, folder: str, targets: Any, orbax: ModuleType) -> Any:
    """What is in the checkpoint, as the targets say."""
    settings = orbax.checkpoint_utils.construct_restore_args(targets)
    return checkpointer.restore(folder, args=orbax.args.PyTreeRestore(targets, restore_args=settings))


def _target(value: Any, wanted: dict[str, Any] | None, name: str, orbax: ModuleType) -> Any:
    if not getattr(value, "shape", None) and "Scalar" in type(value).__name__:
        return np.dtype(value.dtype).type(0).item()  # a number of Python, which takes no space
    here = SingleDeviceSharding(jax_device(default_device()))
    if wanted is None:
        return jax.ShapeDtypeStruct(value.shape, value.dtype, sharding=here)
    if name not in wanted:
        # It is not wanted, and not read.
        return orbax.PLACEHOLDER
    # In the dtype and the layout that the Tensor has now.
    tensor = wanted[name]
    return jax.ShapeDtypeStruct(value.shape, numpy_dtype(tensor), sharding=layout_of(tensor) or here)


def _tensors(tree: Any) -> Any:
    """What orbax has read, with Tensors in place of arrays."""
    if isinstance(tree, Mapping | list | tuple):
        return {key: _tensors(value) for key, value in _items(tree)}
    if isinstance(tree, jax.Array):
        return wrap(tree)
    return tree
