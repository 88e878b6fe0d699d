"""Programs and their parameters in files: models for inference, and the state of training."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import Unsupported
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.lazy.device_put import put
from paddle_jax._core.lazy.transfer import to_array
from paddle_jax._core.tensors.held_values import held_symbol
from paddle_jax._core.tensors.tensor import Parameter, Tensor, wrap
from paddle_jax._program.clone import evaluation_ops
from paddle_jax._program.composites import OpaqueCall
from paddle_jax._program.control_flow.blocks import record_again
from paddle_jax._program.export_errors import NotWritable
from paddle_jax._program.export_trace import record
from paddle_jax._program.input_spec import InputSpec
from paddle_jax._program.program import Program, default_main_program
from paddle_jax._program.program_hook import NO_INPUTS
from paddle_jax._program.recorder import Recorder, data
from paddle_jax._program.scope import global_scope, put_all
from paddle_jax._program.variable import ParameterVariable, persistent, variable
from paddle_jax._program.variable import Variable as Recorded
from paddle_jax.framework import io as files
from paddle_jax.framework.addresses import local_copy
from paddle_jax.framework.atomic import replace_file, replace_files
from paddle_jax.framework.model_files import parameters
from paddle_jax.framework.model_files.files import CorruptModelError, read_parameters, read_program
from paddle_jax.framework.model_files.interpreter import Runner
from paddle_jax.framework.model_files.program import parse
from paddle_jax.framework.model_files.writer import write as write_program
from paddle_jax.framework.pickle_names import CorruptFileError, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from paddle_jax._core.lazy.symbol import Symbol
    from paddle_jax._program.operation import Operation
    from paddle_jax._program.program_hook import FileInputs
    from paddle_jax._program.variable import Variable


def _variables(where: str, name: str, given: Any) -> list[Variable]:
    if isinstance(given, Tensor):
        given = [given]
    if not isinstance(given, list | tuple) or not given or not all(isinstance(v, Recorded) for v in given):
        raise ValueError(f"{where}: {name}: it must be a Variable of a static program, or a list of such")
    return list(given)


def _prefix(where: str, path: str | PathLike[str]) -> str:
    if not isinstance(path, str | os.PathLike):
        raise ValueError(f"{where}: path_prefix: got {type(path).__name__}; it must be a str")
    path = os.fspath(path)
    # Paddle writes the files beside each other, so a folder is no prefix.
    if path.endswith(os.sep) or Path(path).is_dir():
        raise ValueError(f"{where}: path_prefix: {path!r} is a directory; give directory/prefix")
    return path


def _encode(
    where: str,
    feed_vars: Variable | Sequence[Variable],
    fetch_vars: Variable | Sequence[Variable],
    program: Program | None,
    blank: bool = False,
) -> tuple[bytes, dict[str, np.ndarray], Any]:
    """(JSON bytes, {name: array}, names of operations that are not Paddle's) of the part of a Program that
    leads from inputs to results.

    blank: parameters need no values (they count as zeros).
    """
    feeds = _variables(where, "feed_vars", feed_vars)
    fetches = _variables(where, "fetch_vars", fetch_vars)
    if program is None:
        program = feeds[0].block
    stand_ins = NO_INPUTS if program.hook is None else program.hook.inputs_of_file(where, program)
    aliases = stand_ins.aliases
    specs = [InputSpec(list(v.shape), v.dtype, v.name) for v in feeds]
    targets = [held_symbol(v) for v in fetches]
    # The operations behind the results alone: losses and updates stay out.
    ops = program.pruned(targets)
    needed = {symbol for op in ops for symbol in op.inputs}
    ops = program.pruned([*targets, *(aliases[symbol] for symbol in needed if symbol in aliases)])
    if program.process_grid is not None:
        # Some operations exchange values in training alone. A file has the forms of evaluation.
        ops, replaced = evaluation_ops(ops)
        targets = [replaced.get(target, target) for target in targets]
    if program.process_grid is not None and program.process_grid.is_used_by(ops):
        raise NotImplementedError(
            f"{where}: the program exchanges values between processes (paddle.distributed.split), which a "
            "saved program cannot; build it with num_partitions=1 and load the joined weights"
        )
    used = {aliases.get(symbol, symbol) for op in ops for symbol in op.inputs} | set(targets)
    used -= stand_ins.tables.keys()
    # Paddle refuses an input that does nothing.
    unused = [v.name for v in feeds if held_symbol(v) not in used]
    if unused:
        raise ValueError(f"{where}: feed_vars: {', '.join(unused)} does not lead to fetch_vars; leave it out")
    missing = sorted({s.name for s in used if s.kind == "data"} - {v.name for v in feeds})
    if missing:
        raise ValueError(f"{where}: feed_vars: fetch_vars also need {', '.join(missing)}")
    # The operations run once more, as code of dynamic mode, in the recorder of model files.
    replay = _replay(ops, [held_symbol(v) for v in feeds], targets, blank, stand_ins)
    try:
        return write_program(record(replay, specs), [v.name for v in feeds])
    except (NotWritable, Unsupported) as error:
        raise ValueError(f"{where}: {error}") from error


def _replay(
    ops: Sequence[Operation],
    feeds: Sequence[Symbol],
    targets: Sequence[Symbol],
    blank: bool = False,
    stand_ins: FileInputs = NO_INPUTS,
) -> Callable[..., list[Tensor]]:
    """A function of Tensors that does what operations of a Program do."""
    held: dict[Symbol, Any] = {
        symbol: Parameter(wrap(jnp.asarray(array)), False, name)
        for symbol, (name, array) in stand_ins.tables.items()
    }

    def tensor(env: dict[Symbol, Any], symbol: Symbol) -> Any:
        symbol = stand_ins.aliases.get(symbol, symbol)
        if symbol in env:
            return env[symbol]
        if symbol not in held:
            held[symbol] = _eager(symbol, blank)
        return held[symbol]

    def ran(ops: Sequence[Operation], env: dict[Symbol, Any], targets: Sequence[Symbol]) -> list[Any]:
        for op in ops:
            operands = [tensor(env, symbol) for symbol in op.inputs]
            # A composite runs by its public function, so that it is recorded as users' code is.
            if isinstance(op.kernel.fn, OpaqueCall):
                # The last two operands are seed and number of the draw; the code draws other numbers.
                if op.kernel.fn.random:
                    operands = operands[:-2]
                results = op.kernel.fn.on_tensors(operands)
            elif hasattr(op.kernel.fn, "blocks"):
                results = record_again(
                    op,
                    operands,
                    lambda block, values, env=env: ran(
                        block.ops, env | dict(zip(block.inputs, values, strict=True)), block.results
                    ),
                )
            else:
                results = run(op.kernel, operands)
            if not isinstance(results, tuple | list):
                results = [results]
            env.update(zip(op.outputs, results, strict=True))
        return [tensor(env, symbol) for symbol in targets]

    return lambda *inputs: ran(ops, dict(zip(feeds, inputs, strict=True)), targets)


def _eager(symbol: Symbol, blank: bool = False) -> Tensor:
    """The Tensor that a parameter or constant of a Program stands for."""
    # Drawn by the operation itself when the file runs.
    if symbol.kind == "random":
        return variable(symbol)
    if symbol.kind == "constant":
        value = symbol.value
        if isinstance(value, Tensor):
            return value
        return wrap(jnp.asarray(to_array(value)))
    values = global_scope().values
    if symbol.name not in values and not blank:
        raise ValueError(f"{symbol.name} has no value in the scope; run the startup program first")
    made = symbol.program.vars.get(symbol.name)
    if symbol.name in values:
        value = values[symbol.name]
    else:
        # For a program that is saved without values: shape and dtype are all that is needed.
        value = jnp.zeros(symbol.avals[0].shape, symbol.avals[0].dtype)
    return Parameter(wrap(jnp.asarray(value)), made is None or not made.stop_gradient, symbol.name)


def save_inference_model(
    path_prefix: str | PathLike[str],
    feed_vars: Variable | Sequence[Variable],
    fetch_vars: Variable | Sequence[Variable],
    executor: object,
    program: Program | None = None,
    **kwargs: Any,
) -> None:
    """Saves the part of a Program that leads from inputs to results as a model: `<path_prefix>.json` and
    `<path_prefix>.pdiparams`.

    The real Paddle loads the files as well; see `paddle.jit.save`. Parameters have the values of the Scope.

    Args:
        path_prefix: str, directory and prefix.
        feed_vars: Variable or list of Variables, the inputs.
        fetch_vars: Variable or list of Variables, the results.
        executor: accepted.
        program: Program. Default: that of `feed_vars`.
        kwargs: `clip_extra`, `legacy_format` and the like; accepted.
    Raises:
        ValueError: an argument is no Variable, an input is not used or missing, or an operation
            cannot be written.
    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/double"
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = x * 2
        >>> exe = paddle.static.Executor()
        >>> paddle.static.save_inference_model(path, [x], [y], exe, program=main)
        >>> program, feeds, fetches = paddle.static.load_inference_model(path, exe)
        >>> exe.run(program, feed={feeds[0]: np.ones([1, 2], "float32")}, fetch_list=fetches)[0].tolist()
        [[2.0, 2.0]]
        >>> paddle.disable_static()
    """
    prefix = _prefix("save_inference_model", path_prefix)
    document, arrays, foreign = _encode("save_inference_model", feed_vars, fetch_vars, program)
    if foreign:
        warnings.warn(
            f"save_inference_model: {', '.join(foreign)}: not operations of Paddle; "
            f"only paddle_jax can load {prefix}.json",
            stacklevel=2,
        )
    # Together: a crash leaves no program without its parameters.
    files = {prefix + ".json": document}
    if arrays:
        files[prefix + ".pdiparams"] = parameters.encode(arrays)
    replace_files(files)
    # From an earlier model of this name.
    if not arrays:
        Path(prefix + ".pdiparams").unlink(missing_ok=True)


def load_inference_model(
    path_prefix: str | PathLike[str] | None, executor: object, **kwargs: Any
) -> list[Any]:
    """Loads a model as a Program; its parameters go into the Scope under their names.

    Args:
        path_prefix: str, directory and prefix of the files; or None to read both from memory.
        executor: accepted.
        model_filename: str, name of the program's file in `path_prefix`, then a directory; with None as
            prefix the bytes of the file.
        params_filename: the same for the parameters.
    Returns:
        [Program, list of the names of its inputs, list of the Variables of its results].
    Raises:
        RuntimeError: the program does not exist or is damaged.
        ValueError: the parameters do not exist or are damaged.
    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/half"
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = x / 2
        >>> exe = paddle.static.Executor()
        >>> paddle.static.save_inference_model(path, [x], [y], exe, program=main)
        >>> program, feeds, fetches = paddle.static.load_inference_model(path, exe)
        >>> feeds, len(fetches)
        (['x'], 1)
        >>> paddle.disable_static()
    """
    where = "load_inference_model"
    model = kwargs.get("model_filename")
    stored = kwargs.get("params_filename")
    # Both in memory, as bytes.
    if path_prefix is None:
        pir = _parsed(where, model)
        arrays = _decoded(where, stored, pir.parameters)
    else:
        path_prefix = local_copy(where, path_prefix, prefix=not model)
        if model:
            file = Path(path_prefix) / model
        else:
            file = Path(f"{os.fspath(path_prefix)}.json")
        if not file.is_file():
            raise RuntimeError(
                f"{where}: path_prefix: {file} does not exist; give the prefix without .json "
                "that the model was saved with."
            )
        pir = read_program(where, file)
        if stored:
            parameter_file = Path(path_prefix) / stored
        else:
            parameter_file = file.with_suffix(".pdiparams")
        arrays = read_parameters(where, parameter_file, pir)
    # Running the operations once on Variables finds what does not fit.
    try:
        program, fetches = _program(pir)
    except NotImplementedError:  # operations that are not known here
        raise
    except Exception as error:
        name = path_prefix or "the program in memory"
        raise CorruptModelError(
            f"{where}: {name}: its operations do not fit together: {shortened(error)}."
        ) from error
    for name, array in arrays.items():
        global_scope().values[name] = put(np.array(array))
    return [program, list(program.data), fetches]


def _parsed(where: str, content: Any) -> Any:
    try:
        return parse(content)
    except CorruptFileError as error:
        raise CorruptModelError(f"{where}: cannot read the program in memory: {error}.") from error


def _decoded(where: str, content: Any, stored: dict[str, Any]) -> dict[str, np.ndarray]:
    try:
        if stored:
            return parameters.decode(content, stored)
        return {}
    except CorruptFileError as error:
        raise CorruptModelError(f"{where}: cannot read the parameters in memory: {error}.") from error


def _program(pir: Any) -> tuple[Program, Any]:
    """(Program, Variables of its results) that runs a PIR program."""
    program = Program()
    runner = Runner(pir)
    # The Runner's operations are recorded: the Program can then be pruned, cloned and trained on.
    with Recorder(program):
        held = {}
        for name, (_, shape, dtype, trainable) in pir.parameters.items():
            aval = aval_of(tuple(shape), dtypes.convert(dtype).np)
            held[name] = persistent(program, name, (aval, aval), not trainable, ParameterVariable)
            program.scope_symbol(held[name])
        fetches = runner(held, [data(name, shape, dtype) for name, _, shape, dtype in pir.feeds])
    program.fetched = fetches
    # Until the program is changed, its runs may be those of the file.
    program.file_runner = runner
    return program, fetches


def serialize_program(
    feed_vars: Variable | Sequence[Variable],
    fetch_vars: Variable | Sequence[Variable],
    program: Program | None = None,
    **kwargs: Any,
) -> bytes:
    """The bytes that `save_inference_model` writes to the `.json` file. Arguments as there.

    Args:
        feed_vars, fetch_vars, program: as for `save_inference_model`.
    Returns:
        bytes.
    Differs from Paddle: works with PIR programs.
    Example:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = x / 2
        >>> content = paddle.static.serialize_program([x], [y], program=main)
        >>> len(paddle.static.deserialize_program(content).fetched)
        1
        >>> paddle.disable_static()
    """
    return _encode("serialize_program", feed_vars, fetch_vars, program)[0]


def encode_program(where: str, program: Program) -> bytes:
    """The bytes of the `.json` file of a whole Program: from all its inputs to the results that no
    operation of it uses."""
    used = {symbol for op in program.ops for symbol in op.inputs}
    # Results that nothing uses.
    ends = [variable(symbol) for op in program.ops for symbol in op.outputs if symbol not in used]
    feeds = [v for v in program.data.values() if held_symbol(v) in used]
    if not feeds or not ends:
        raise ValueError(f"{where}: the Program has no operation that uses an input")
    return _encode(where, feeds, ends, program, blank=True)[0]


def serialize_persistables(
    feed_vars: Variable | Sequence[Variable],
    fetch_vars: Variable | Sequence[Variable],
    executor: object,
    program: Program | None = None,
    **kwargs: Any,
) -> bytes:
    """The bytes that `save_inference_model` writes to the `.pdiparams` file. Arguments as there.

    Args:
        feed_vars, fetch_vars, executor, program: as for `save_inference_model`.
    Returns:
        bytes; b"" for a program without parameters.
    Differs from Paddle: works with PIR programs.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = paddle.nn.Linear(2, 1)(x)
        >>> exe = paddle.static.Executor()
        >>> outputs = exe.run(startup)
        >>> len(paddle.static.serialize_persistables([x], [y], exe, program=main)) > 0
        True
        >>> paddle.disable_static()
    """
    arrays = _encode("serialize_persistables", feed_vars, fetch_vars, program)[1]
    return parameters.encode(arrays)


def deserialize_program(data: bytes) -> Program:
    """The Program in bytes from `serialize_program`; its results are `program.fetched`.

    Args:
        data: bytes.
    Returns:
        Program.
    Raises:
        RuntimeError: the bytes are damaged.
    Differs from Paddle: works with PIR programs.
    Example:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = x / 2
        >>> content = paddle.static.serialize_program([x], [y], program=main)
        >>> program = paddle.static.deserialize_program(content)
        >>> exe = paddle.static.Executor()
        >>> exe.run(program, {"x": np.ones([1, 2], "float32")}, program.fetched)[0].tolist()
        [[0.5, 0.5]]
        >>> paddle.disable_static()
    """
    return _program(_parsed("deserialize_program", data))[0]


def deserialize_persistables(program: Program, data: bytes, executor: object) -> None:
    """Puts the parameters in bytes from `serialize_persistables` into the Scope.

    Args:
        program: Program from `deserialize_program` of the same model.
        data: bytes.
        executor: accepted.
    Raises:
        TypeError: program is no Program.
        ValueError: the bytes are damaged or belong to another program.
    Differs from Paddle: works with PIR programs.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = paddle.nn.Linear(2, 1)(x)
        >>> exe = paddle.static.Executor()
        >>> outputs = exe.run(startup)
        >>> content = paddle.static.serialize_persistables([x], [y], exe, program=main)
        >>> program = paddle.static.deserialize_program(
        ...     paddle.static.serialize_program([x], [y], program=main))
        >>> paddle.static.deserialize_persistables(program, content, exe)
        >>> paddle.disable_static()
    """
    if not isinstance(program, Program):
        raise TypeError(
            f"deserialize_persistables: program: got {type(program).__name__}; it must be a Program"
        )
    stored = {v.name: (0, list(v.shape), v.avals[0].dtype.name, True) for v in program.all_parameters()}
    for name, array in _decoded("deserialize_persistables", data, stored).items():
        global_scope().values[name] = put(np.array(array))


def normalize_program(
    program: Program,
    feed_vars: Variable | Sequence[Variable],
    fetch_vars: Variable | Sequence[Variable],
    **kwargs: Any,
) -> Program:
    """The part of a Program that leads from inputs to results, as a Program of its own.

    Args:
        program: Program.
        feed_vars: Variable or list of Variables, the inputs.
        fetch_vars: Variable or list of Variables, the results.
    Returns:
        Program, whose results are `program.fetched`.
    Raises:
        TypeError: program is no Program.
        ValueError: a Variable does not fit, an input is missing, or one is not used.
    Example:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y, other = x / 2, x * 3
        >>> part = paddle.static.normalize_program(main, [x], [y])
        >>> len(main.global_block().ops) > len(part.global_block().ops)
        True
        >>> paddle.disable_static()
    """
    if not isinstance(program, Program):
        raise TypeError(f"normalize_program: program: got {type(program).__name__}; it must be a Program")
    return _program(parse(_encode("normalize_program", feed_vars, fetch_vars, program)[0]))[0]


def save_to_file(path: str | PathLike[str], content: bytes) -> None:
    """Writes bytes to a file.

    Args:
        path: str.
        content: bytes.
    Raises:
        ValueError: content is no bytes.
    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/file"
        >>> paddle.static.save_to_file(path, b"abc")
        >>> paddle.static.load_from_file(path)
        b'abc'
    """
    if not isinstance(content, bytes):
        raise ValueError(f"save_to_file: content: got {type(content).__name__}; it must be bytes")
    with replace_file(path) as stream:
        stream.write(content)


def load_from_file(path: str | PathLike[str]) -> bytes:
    """The bytes of a file.

    Args:
        path: str.
    Returns:
        bytes.
    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "content")
        >>> paddle.static.save_to_file(path, b"bytes")
        >>> paddle.static.load_from_file(path)
        b'bytes'
    """
    return Path(local_copy("load_from_file", path)).read_bytes()


# the state of training --------------------------------------------------------------------------------------


def save(program: Program, model_path: str | PathLike[str], protocol: int = 4, **configs: Any) -> None:
    """Saves what a Program keeps in the Scope: parameters in `<model_path>.pdparams`, the rest (states of
    optimizers) in `<model_path>.pdopt`.

    Args:
        program: Program.
        model_path: str, directory and prefix.
        protocol: int, pickle protocol from 2 to 4. Default 4.
    Raises:
        ValueError: model_path names no file.
    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/model"
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.nn.Linear(2, 1)(paddle.static.data("x", [None, 2]))
        >>> exe = paddle.static.Executor()
        >>> outputs = exe.run(startup)
        >>> paddle.static.save(main, path)
        >>> paddle.static.load(main, path, exe)
        >>> paddle.disable_static()
    """
    prefix = _prefix("static.save", model_path)
    values = global_scope().values
    names = [name for name in program.vars if name in values]
    learned = {name for name in names if program.vars[name].is_parameter}
    for suffix, chosen in (
        (".pdparams", [n for n in names if n in learned]),
        (".pdopt", [n for n in names if n not in learned]),
    ):
        # Paddle writes a file of parameters in any case, and one of states only where there are some.
        if chosen or suffix == ".pdparams":
            files.write_arrays({name: np.asarray(values[name]) for name in chosen}, prefix + suffix, protocol)


def load_program_state(
    model_path: str | PathLike[str], var_list: Sequence[Tensor] | None = None
) -> dict[str, np.ndarray]:
    """The arrays that `save` wrote, by name.

    Args:
        model_path: str, directory and prefix.
        var_list: list of Variables to take. Default: all.
    Returns:
        dict of ndarrays.
    Raises:
        FileNotFoundError: there is no `.pdparams` file.
    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/model"
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.nn.Linear(2, 1)(paddle.static.data("x", [None, 2]))
        >>> outputs = paddle.static.Executor().run(startup)
        >>> paddle.static.save(main, path)
        >>> state = paddle.static.load_program_state(path)
        >>> sorted(array.shape for array in state.values())
        [(1,), (2, 1)]
        >>> paddle.static.set_program_state(main, state)
        >>> paddle.disable_static()
    """
    prefix = os.fspath(local_copy("load_program_state", model_path, prefix=True))
    if not Path(prefix + ".pdparams").is_file():
        raise FileNotFoundError(f"load_program_state: {prefix}.pdparams does not exist")
    state = files.load(prefix + ".pdparams", return_numpy=True)
    # An inference model has no states.
    if Path(prefix + ".pdopt").is_file():
        state |= files.load(prefix + ".pdopt", return_numpy=True)
    if var_list is None:
        wanted = None
    else:
        wanted = {v.name for v in var_list}
    return {name: array for name, array in state.items() if wanted is None or name in wanted}


def set_program_state(program: Program, state_dict: dict[str, np.ndarray]) -> None:
    """Puts arrays into the Scope, for those Variables of a Program that have their names.

    Args:
        program: Program.
        state_dict: dict of ndarrays by name.
    Raises:
        AssertionError: a shape does not match; then nothing is changed.
    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/model"
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.nn.Linear(2, 1)(paddle.static.data("x", [None, 2]))
        >>> outputs = paddle.static.Executor().run(startup)
        >>> paddle.static.save(main, path)
        >>> state = paddle.static.load_program_state(path)
        >>> sorted(array.shape for array in state.values())
        [(1,), (2, 1)]
        >>> paddle.static.set_program_state(main, state)
        >>> paddle.disable_static()
    """
    put_all(
        "set_program_state",
        program,
        {name: np.asarray(array) for name, array in state_dict.items() if name in program.vars},
        AssertionError,
    )


def load(
    program: Program | None,
    model_path: str | PathLike[str],
    executor: object = None,
    var_list: Sequence[Tensor] | None = None,
) -> None:
    """Loads what `save` wrote into the Scope.

    Args:
        program: Program.
        model_path: str, directory and prefix.
        executor: accepted.
        var_list: list of Variables to load. Default: all.
    Raises:
        FileNotFoundError: there is no `.pdparams` file.
    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/model"
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.nn.Linear(2, 1)(paddle.static.data("x", [None, 2]))
        >>> exe = paddle.static.Executor()
        >>> outputs = exe.run(startup)
        >>> paddle.static.save(main, path)
        >>> paddle.static.load(main, path, exe)
        >>> paddle.disable_static()
    """
    set_program_state(program or default_main_program(), load_program_state(model_path, var_list))


files.ProgramFormat.program_class = Program
files.ProgramFormat.encode = encode_program
files.ProgramFormat.decode = deserialize_program

__all__ = [
    "deserialize_persistables",
    "deserialize_program",
    "load",
    "load_from_file",
    "load_inference_model",
    "load_program_state",
    "normalize_program",
    "save",
    "save_inference_model",
    "save_to_file",
    "serialize_persistables",
    "serialize_program",
    "set_program_state",
]
