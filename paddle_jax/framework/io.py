"""Saving and loading: `paddle.save` and `paddle.load`, in the real Paddle's file formats."""

from __future__ import annotations

import functools as ft
import io
import operator
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from paddle_jax._core.execution.module_protocol import ModuleBase
from paddle_jax._core.lazy.lazy_array import persistent_from_numpy
from paddle_jax._core.process.background import Worker
from paddle_jax._core.runner.after_fork import ForkedError
from paddle_jax._core.tensors.held_values import held_value
from paddle_jax._core.tensors.tensor import Parameter as EagerParamBase  # noqa: F401  programs import it from here
from paddle_jax._core.tensors.tensor import Tensor, host_elements, wrap
from paddle_jax.framework import pickle_reader, pickle_writer, safetensors_file
from paddle_jax.framework.addresses import file_system, is_address, read_bytes
from paddle_jax.framework.atomic import replace_file
from paddle_jax.framework.io_objects import (  # noqa: F401
    _parse_every_object,
    _to_LodTensor,
    _transformed_from_lodtensor,
    _transformed_from_varbase,
)
from paddle_jax.framework.pickle_names import Budget, CorruptFileError, shortened
from paddle_jax.framework.state_file import (
    NAME_TABLE,
    SLICE_TABLE,
    contains,
    is_state_dict,
    join_slices,
    slice_big,
    to_plain,
)
from paddle_jax.framework.tensor_record import read_record, write_record
from paddle_jax.tensor.dense_tensor import DenseTensor

if TYPE_CHECKING:
    from paddle_jax.base.libpaddle import CPUPlace, CUDAPlace


_SAVE_CONFIGS = ("use_binary_format", "pickle_protocol", "safetensors")
_LOAD_CONFIGS = (
    "model_filename",
    "params_filename",
    "keep_name_table",
    "return_numpy",
    "safetensors",
    "allow_pickle",
)


class ProgramFormat:
    """How a static Program is written and read; `static/io.py` registers it.

    Attributes:
        program_class: the class Program.
        encode: function of the name of the caller and a Program that gives bytes.
        decode: function of bytes that gives a Program.
    """

    program_class: type | None = None
    encode: Callable[[str, Any], bytes]
    decode: Callable[[bytes], Any]


def _check_configs(function: str, configs: dict[str, Any], known: Sequence[str]) -> None:
    for name in configs:
        if name not in known:
            raise ValueError(
                f"{function}: {name}: not a setting of paddle.{function}; allowed are {', '.join(known)}."
            )


def _check_protocol(protocol: int) -> None:
    if not isinstance(protocol, int):
        raise ValueError(f"save: protocol: got {type(protocol).__name__}; it must be an int from 2 to 4.")
    if not 1 < protocol < 5:
        raise ValueError(f"save: protocol: got {protocol}; it must be from 2 to 4.")


def _check_path(path: str) -> Any:
    if isinstance(path, io.BytesIO):
        return path
    if is_address(path):
        file_system("save", path)  # an unknown one is refused before anything is done
    if not isinstance(path, str | os.PathLike):
        raise ValueError(f"save: path: got {type(path).__name__}; pass the name of a file or a BytesIO.")
    # `directory/` and `.` have no file name.
    if os.fspath(path).endswith(os.sep) or not Path(path).name:
        raise ValueError(f"save: path: {path!r} has no file name; give directory/file.")
    return path


def save(obj: Any, path: Any, protocol: int = 4, **configs: Any) -> None:
    """Saves an object to a file that Paddle reads, and that reads back as it was.

    State dicts of layers and optimizers become `.pdparams` and `.pdopt` files. Other objects may hold Tensors
    anywhere in lists, tuples and dicts. The file is written under a temporary name first: when saving fails,
    an existing file stays as it was.

    Args:
        obj: state dict, Tensor, or any object that can be pickled. Not a Layer: save its `state_dict()`. A
            `static.Program` becomes a `.json` file of its operations, without the values of its parameters
            (`program.state_dict()` has those).
        path: str or path-like, missing directories are made; or BytesIO; or an address such as
            `s3://bucket/x.pdparams`, which the extra `remote` (fsspec) writes.
        protocol: int, pickle protocol from 2 to 4. Default 4.
        use_binary_format: bool, write one Tensor in Paddle's binary format instead. Default False.
        safetensors: bool, write a dict of Tensors in the safetensors format instead. Default False.
    Raises:
        ValueError: `obj` holds a Layer, `path` names no file, a setting or the scheme of an address is not
            known.
        ImportError: `path` is an address, and fsspec or its file system is not installed.
        NotImplementedError: `use_binary_format` with something else than a Tensor.
    Differs from Paddle: `safetensors=True` with anything but a dict of Tensors is an error
        instead of a pickle.
    Example:
        >>> import tempfile, os
        >>> name = os.path.join(tempfile.mkdtemp(), "x.pdparams")
        >>> paddle.save({"w": paddle.to_tensor([1.0, 2.0])}, name)
        >>> paddle.load(name)["w"].tolist()
        [1.0, 2.0]
    """
    _write(_encoder(obj, protocol, configs), _check_path(path))


def _write(encode: Callable[..., Any], path: str) -> None:
    if isinstance(path, io.BytesIO):
        # Encoded as a whole first, so that the buffer is unchanged after an error.
        whole = io.BytesIO()
        encode(whole)
        path.write(whole.getbuffer())
        return
    with replace_file(path) as stream:
        encode(stream)


def _encoder(
    obj: Sequence[CPUPlace | CUDAPlace] | dict[str, Any], protocol: int, configs: dict[str, Any]
) -> Callable[..., Any]:
    """The function that writes `obj` to a stream, after all settings have been checked."""
    # Settings before content, so that a wrong one is reported at once.
    protocol, binary = _save_settings(protocol, configs)
    if contains(obj, ModuleBase):
        raise ValueError("save: obj: it holds a Layer; save layer.state_dict() instead.")
    if ProgramFormat.program_class is not None and isinstance(obj, ProgramFormat.program_class):
        # The text is made now, the file later: `async_save` may go on with the Program.
        document = ProgramFormat.encode("save", obj)
        return lambda stream: stream.write(document)
    if binary:
        return _record_encoder(obj)
    if configs.get("safetensors", False):
        data = safetensors_file.encode(_only_tensors(obj))
        return lambda stream: stream.write(data)
    plain = _picklable(obj, protocol)
    return lambda stream: pickle_writer.write(plain, stream, protocol)


def _save_settings(protocol: int, configs: dict[str, Any]) -> tuple[Any, bool]:
    """(protocol of the pickle, whether the binary format is asked for), checked."""
    _check_configs("save", configs, _SAVE_CONFIGS)
    if "pickle_protocol" in configs:
        # Paddle's older name of the argument.
        warnings.warn("save: pickle_protocol: the name is deprecated; use protocol.", stacklevel=4)
        protocol = configs["pickle_protocol"]
    _check_protocol(protocol)
    binary = configs.get("use_binary_format", False)
    if not isinstance(binary, bool):
        raise TypeError(f"save: use_binary_format: got {type(binary).__name__}; pass True or False.")
    return protocol, binary


def _record_encoder(obj: Any) -> Any:
    """The function that writes one Tensor in Paddle's binary format."""

    if isinstance(obj, DenseTensor):
        return lambda stream: write_record(np.asarray(obj), stream)
    if not isinstance(obj, Tensor):
        raise NotImplementedError(
            f"save: obj: got {type(obj).__name__}; use_binary_format=True can save one Tensor only."
        )
    return lambda stream: write_record(host_elements(obj), stream)


def _picklable(obj: Sequence[CPUPlace | CUDAPlace] | dict[str, Any], protocol: int) -> Any:
    """The object with arrays in place of Tensors, as Paddle's own pickles have them."""

    # of a static program: plain arrays, no table
    if isinstance(obj, dict) and obj and all(isinstance(v, DenseTensor) for v in obj.values()):
        plain = {name: pickle_writer.as_bits(np.asarray(value)) for name, value in obj.items()}
        # These protocols count bytes with 32 bits.
        if protocol in (2, 3):
            return slice_big(plain)
        return plain
    # Any other object is pickled as it is; Tensors in it are written by `_Writer`.
    if not is_state_dict(obj):
        return obj
    if not obj:
        warnings.warn("save: obj: the state dict is empty.", stacklevel=4)
    return to_plain(obj, protocol)


def _only_tensors(obj: Any) -> dict[Any, Any]:
    # The format has one level of names.
    if not isinstance(obj, dict) or not all(
        isinstance(k, str) and isinstance(v, Tensor) for k, v in obj.items()
    ):
        raise ValueError(
            "save: obj: safetensors=True can save a dict of names and Tensors only; "
            "leave it out for other objects."
        )
    return {name: host_elements(tensor) for name, tensor in obj.items()}


def write_arrays(arrays: Any, path: Any, protocol: Any = 4) -> None:
    """Writes a dict of ndarrays as it is, which is the form of `paddle.static.save`; bfloat16 as uint16."""
    _check_protocol(protocol)
    arrays = {name: pickle_writer.as_bits(array) for name, array in arrays.items()}
    plain = slice_big(arrays) if protocol in (2, 3) else arrays
    _write(lambda stream: pickle_writer.write(plain, stream, protocol), _check_path(path))


class _Background:
    """The thread of `async_save`, and what is in line for it."""

    saving = Worker(complete=True)
    waiting = ()

    @classmethod
    def forget(cls) -> None:
        # The thread does not exist in the child, so its tasks would never end.
        """A forked child does not have the tasks."""
        cls.waiting = ()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Background.forget)


def async_save(obj: Any, path: Any, protocol: int = 4, sync_other_task: Any = False, **configs: Any) -> None:
    """Saves like `save`, but writes the file in the background. The object may be changed after the call.

    Args:
        obj: as for `save`.
        path: str or path-like, the file.
        protocol: int, pickle protocol from 2 to 4. Default 4.
        sync_other_task: wait for earlier background saves first. Default False.
    Raises:
        ValueError: as for `save`.
    Example:
        >>> import tempfile, os
        >>> name = os.path.join(tempfile.mkdtemp(), "x.pdparams")
        >>> paddle.async_save({"w": paddle.to_tensor([1.0])}, name)
        >>> paddle.clear_async_save_task_queue()
        >>> paddle.load(name)["w"].tolist()
        [1.0]
    """
    path = _check_path(path)
    if isinstance(path, io.BytesIO):
        raise ValueError("async_save: path: got BytesIO; pass the name of a file.")
    # A copy of all values: the object may change while the file is written.
    whole = io.BytesIO()
    _encoder(obj, protocol, configs)(whole)
    if sync_other_task:
        clear_async_save_task_queue()
    task = _Background.saving.submit(ft.partial(_write, lambda stream: stream.write(whole.getbuffer()), path))
    # Those that failed stay, so that `clear_async_save_task_queue` raises their errors.
    _Background.waiting = (*[t for t in _Background.waiting if not t.done or t.error is not None], task)


def clear_async_save_task_queue() -> None:
    """Waits for all background saves; raises what went wrong in them.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "weights.pdparams")
        >>> paddle.async_save({"w": paddle.ones([2])}, path)
        >>> paddle.clear_async_save_task_queue()
        >>> os.path.exists(path)
        True
    """
    waiting = _Background.waiting
    # Taken out first: an error must not be raised again at the next call.
    _Background.waiting = ()
    _Background.saving.start()
    for task in waiting:
        task.wait()


def load(path: Any, **configs: Any) -> Any:
    """Loads what `save` wrote, here or in the real Paddle.

    Args:
        path: str or path-like, the file's full name; or BytesIO, read from where it stands; or an address
            such as `s3://bucket/x.pdparams`.
        return_numpy: give ndarrays instead of Tensors (bfloat16 as the uint16 of its bits). Default False.
        keep_name_table: keep the table of parameter names in a state dict. Default False.
        safetensors: the file is in the safetensors format. Default False.
        allow_pickle: also load types that checkpoints do not need. Only for files you trust: loading can then
            run any code in them. Default False.
        model_filename: accepted.
        params_filename: accepted.
    Returns:
        What was saved. Tensors have their names, `stop_gradient=True` and the current device.
    Raises:
        ValueError: there is no such file, it is damaged (also an EOFError), or a setting is not known.
    Differs from Paddle: without `allow_pickle=True` types other than arrays, containers and dates are
        refused, and containers that take far more memory than the file; Paddle runs whatever a file says.
    Example:
        >>> import io
        >>> buffer = io.BytesIO()
        >>> paddle.save([paddle.to_tensor([1, 2]), "text"], buffer)
        >>> position = buffer.seek(0)
        >>> paddle.load(buffer)[0].tolist()
        [1, 2]
    """
    _check_configs("load", configs, _LOAD_CONFIGS)
    if isinstance(path, io.BytesIO):
        return _loaded(path, configs, "the BytesIO")
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"load: path: got {type(path).__name__}; pass the name of a file or a BytesIO.")
    if is_address(path):
        # With `peek` and `readline` as a file has them.
        return _loaded(io.BufferedReader(io.BytesIO(read_bytes("load", path))), configs, path)
    file = Path(path)
    # `Path("")` is the present folder, which exists.
    if not file.exists() or not str(path):
        raise ValueError(
            f"load: path: {str(path)!r} does not exist; give the full name of the file, "
            "such as 'model.pdparams'."
        )
    if file.is_dir():
        raise RuntimeError(f"load: path: {path} is a directory; give the full name of a file in it.")
    with file.open("rb") as stream:
        return _loaded(stream, configs, path)


def _loaded(stream: Any, configs: dict[str, Any], name: str) -> Any:
    """What a stream holds, made of Tensors or arrays; whatever a damaged one does comes out as a
    CorruptFileError that names it."""
    try:
        start = stream.tell()
        # What is made may take a multiple of the file: see `Budget`.
        budget = Budget(stream.seek(0, 2) - start)
        stream.seek(start)
        content = _read(stream, configs, budget)
        # Files of several records belong to a model, and `load` would silently take the first one.
        if isinstance(content, _Record) and not isinstance(stream, io.BytesIO) and stream.read(1):
            raise CorruptFileError(
                "bytes follow the first tensor record; "
                "parameter files of inference models are read with their model"
            )
        if isinstance(content, dict) and SLICE_TABLE in content:
            content = join_slices(content)
        as_numpy = configs.get("return_numpy", False)
        # A state dict: the table of names is what Paddle puts into one.
        if isinstance(content, dict) and NAME_TABLE in content:
            return _state_dict(content, _Maker(as_numpy, True, budget), configs.get("keep_name_table", False))
        if configs.get("allow_pickle", False):
            # Pickle has made the arrays, so they were not counted.
            budget.arrays, budget.named = 1, _any_named(content, set())
        return (
            _Maker(as_numpy, as_numpy or budget.named, budget).convert(content) if budget.arrays else content
        )
    # It says that the process was forked, not that the file is damaged.
    except ForkedError:
        raise
    except CorruptFileError as error:
        raise type(error)(f"load: path: cannot read {name}: {error}.") from error
    except RecursionError:
        raise CorruptFileError(f"load: path: cannot read {name}: it is nested too deeply.") from None
    # The user's disk or memory, which a message about the file would hide.
    except (OSError, MemoryError):  # of the disk, of the machine: not of what the file holds
        raise
    except Exception as error:  # a damaged file fails in as many ways as there are opcodes
        raise CorruptFileError(_damage_message(name, configs, error)) from error


def _damage_message(name: str, configs: dict[str, Any], error: Exception) -> str:
    """What is said of a file that cannot be read."""
    if str(name).endswith(".safetensors") and not configs.get("safetensors", False):
        return f"load: path: cannot read {name} as a pickle; pass safetensors=True for a safetensors file."
    reason = shortened(error)
    if isinstance(error, KeyError) and type(error.args[0]) is int:  # of the table of pickle's operations
        reason = f"byte {error.args[0]:#04x} is no operation of a pickle"
    return f"load: path: cannot read {name}: it is damaged or not a checkpoint ({reason})."


class _Record:
    """An ndarray that came from a binary record."""

    def __init__(self, array: Any) -> None:
        self.array = array


def _read(stream: Any, configs: dict[str, Any], budget: Budget) -> Any:
    budget.arrays = 1
    if configs.get("safetensors", False):
        return {name: _Record(array) for name, array in safetensors_file.decode(stream.read()).items()}
    start = stream.tell()
    first = stream.read(1)
    stream.seek(start)
    if not first:
        raise CorruptFileError("there is no data")
    # A pickle of protocol 2 or higher starts with 0x80, a record with the version 0.
    if first == b"\0":
        return _Record(read_record(stream))
    # A `static.Program` is JSON.
    if first == b"{":
        return ProgramFormat.decode(stream.read())
    budget.arrays = 0
    return pickle_reader.read(stream, budget, configs.get("allow_pickle", False))


def _to_tensor(array: np.ndarray, name: str | None = None) -> Any:
    # Texts and objects stay arrays.
    if array.dtype.kind not in "biufcV":
        return array
    tensor = wrap(
        # uint16 is how Paddle's files have bfloat16: no Tensor of Paddle has that dtype.
        persistent_from_numpy(np.array(array.view(ml_dtypes.bfloat16) if array.dtype == np.uint16 else array))
    )
    if name is not None:
        tensor.name = name
    return tensor


# Arrays of a file are read-only views of its bytes.
def _to_numpy(array: np.ndarray) -> np.ndarray:
    """A writable copy; bfloat16 as its bits."""
    return np.array(array.view(np.uint16) if array.dtype == ml_dtypes.bfloat16 else array)


# The form in which Paddle writes a Tensor outside a state dict.
def _is_named(item: Sequence[np.ndarray | str]) -> bool:
    return (
        isinstance(item, tuple)
        and len(item) == 2
        and isinstance(item[0], str)
        and isinstance(item[1], np.ndarray)
    )


def _state_dict(content: dict[str, Any], maker: _Maker, keep_table: bool) -> dict[str, Any]:
    if keep_table:
        table = content[NAME_TABLE]
    else:
        table = content.pop(NAME_TABLE)
    if not isinstance(table, dict):
        raise CorruptFileError(f"the table of names is a {type(table).__name__}")
    for key, name in table.items():
        # Damaged or made by hand.
        if key not in content or not isinstance(name, str):
            raise CorruptFileError(f"the table of names does not fit: {shortened(repr(key))}")
        if isinstance(content[key], np.ndarray):
            content[key] = maker.create(content[key], name)
    return content


def _any_named(item: Any, seen: Any) -> bool:
    if _is_named(item):
        return True
    if not isinstance(item, dict | list | tuple) or id(item) in seen:
        return False
    # A container that holds itself is seen once.
    seen.add(id(item))
    return any(_any_named(part, seen) for part in (item.values() if isinstance(item, dict) else item))


class _Maker:
    """Makes what the user gets of arrays in dicts, lists and tuples; an object that occurs twice
    stays one object.

    as_numpy: ndarrays, else Tensors. named: only arrays with a name become Tensors.
    """

    def __init__(self, as_numpy: bool, named: bool, budget: Budget) -> None:
        self._as_numpy = as_numpy
        self._named = named
        self._budget = budget
        self._seen = {}
        self._values = {}

    def create(self, array: Any, name: str | None) -> Tensor | np.ndarray:
        """The Tensor or ndarray for an array; those of one array share their memory, under whatever names."""
        first = self._values.get(id(array))
        # The same array twice in the file is one Tensor, as it was saved; with another name one that shares
        # its value.
        if first is not None and (self._as_numpy or name is None or first[1] is array):
            return first[1]
        # About what a Tensor takes besides its elements.
        self._budget.take(400)
        if first is None:
            if self._as_numpy:
                made = _to_numpy(array)
            else:
                made = _to_tensor(array)
            self._values[id(array)] = array, made
        else:
            made = wrap(held_value(first[1]))
        # Tensors have names, NumPy arrays do not.
        if name is not None and made is not array and not self._as_numpy:
            made.name = name
        return made

    def convert(self, item: Any) -> Any:
        """The item with every array in it made."""
        if isinstance(item, _Record):
            return self.create(item.array, None)
        if isinstance(item, np.ndarray):
            # In a file with names a plain array was one when it was saved.
            return item if self._named and not self._as_numpy else self.create(item, None)
        if not item or not isinstance(item, dict | list | tuple):
            return item
        if len(item) <= 16 and not any(
            isinstance(part, _HOLDERS) for part in (item.values() if isinstance(item, dict) else item)
        ):
            return item  # small and without arrays: looked at each time instead of being remembered
        if id(item) in self._seen:
            return self._seen[id(item)][1]
        self._budget.take(200)
        if isinstance(item, tuple):
            result = (
                self.create(item[1], item[0])
                if _is_named(item)
                else tuple([self.convert(part) for part in item])
            )
            # Unchanged parts leave the tuple that was there, so that a shared one stays shared.
            result = item if type(result) is tuple and all(map(operator.is_, result, item)) else result
        else:
            # Entered first: it may hold itself.
            self._seen[id(item)] = item, item
            # In place, as others in the file refer to the same object.
            for key, part in list(item.items()) if isinstance(item, dict) else enumerate(item):
                if isinstance(part, _HOLDERS):
                    item[key] = self.convert(part)
            return item
        self._seen[id(item)] = item, result
        return result


_HOLDERS = (dict, list, tuple, np.ndarray, _Record)
