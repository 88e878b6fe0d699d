"""Single Variables of a Program in files, one each or all in one."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from paddle_jax._program.program import Program, default_main_program
from paddle_jax._program.scope import global_scope, put_all
from paddle_jax.framework.addresses import check_local
from paddle_jax.framework.atomic import replace_files
from paddle_jax.framework.model_files import parameters
from paddle_jax.framework.pickle_names import CorruptFileError
from paddle_jax.framework.tensor_record import read_record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from paddle_jax._core.tensors.tensor import Tensor


def _chosen(
    where: str,
    program: Program | None,
    variables: Sequence[Tensor | str] | None,
    predicate: Callable[[Tensor], bool] | None,
) -> tuple[Program, list[str]]:
    if program is None:
        program = default_main_program()
    if not isinstance(program, Program):
        raise TypeError(f"{where}: main_program: got {type(program).__name__}; it must be a Program")
    if variables is None:
        # In Paddle the predicate says which ones.
        variables = [v for v in program.vars.values() if predicate is None or predicate(v)]
    # Paddle's order in a common file.
    found = sorted(v if isinstance(v, str) else v.name for v in variables)
    unknown = [name for name in found if name not in program.vars]
    if unknown:
        raise ValueError(f"{where}: vars: {', '.join(unknown)}: no persistable Variable of the program")
    if not found:
        warnings.warn(f"{where}: there is no variable", stacklevel=3)
    return program, found


def save_vars(
    executor: object,
    dirname: str | PathLike[str] | None,
    main_program: Program | None = None,
    vars: Sequence[Tensor | str] | None = None,
    predicate: Callable[[Tensor], bool] | None = None,
    filename: str | None = None,
) -> bytes | None:
    """Writes what the Scope holds for Variables of a Program, each into the file of its name.

    Args:
        executor: accepted.
        dirname: str, the folder. With None and no `filename` the bytes are returned.
        main_program: Program. Default: the main one.
        vars: list of Variables or names. Default: all persistable ones.
        predicate: function of a Variable that tells which of them. Default: all.
        filename: str, one file for all of them. Default None.
    Returns:
        None, or bytes.
    Raises:
        TypeError: main_program is no Program.
        ValueError: a Variable has no value.
    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.nn.Linear(2, 1)(paddle.static.data("x", [None, 2]))
        >>> exe = paddle.static.Executor()
        >>> outputs = exe.run(startup)
        >>> paddle.static.io.save_vars(exe, folder, main)
        >>> paddle.static.io.load_vars(exe, folder, main)
        >>> paddle.disable_static()
    """
    _, names = _chosen("save_vars", main_program, vars, predicate)
    values = global_scope().values
    missing = [name for name in names if name not in values]
    if missing:
        raise ValueError(
            f"save_vars: {', '.join(missing)}: no value in the scope; run the startup program first"
        )
    arrays = {name: values[name] for name in names}
    if dirname is None and filename is None:
        return parameters.encode(arrays)
    check_local("save_vars", "dirname", dirname)
    folder = Path(dirname or ".")
    folder.mkdir(parents=True, exist_ok=True)
    if filename:
        together = [(filename, arrays)]
    else:
        together = [(name, {name: arrays[name]}) for name in names]
    # All or none: a crash leaves no half of a model.
    replace_files({os.fspath(folder / file): parameters.encode(held) for file, held in together})
    return None


def load_vars(
    executor: object,
    dirname: str | PathLike[str] | None,
    main_program: Program | None = None,
    vars: Sequence[Tensor | str] | None = None,
    predicate: Callable[[Tensor], bool] | None = None,
    filename: str | None = None,
) -> None:
    """Puts into the Scope what `save_vars` wrote, here or in the real Paddle. Arguments as there.

    Args:
        executor, dirname, main_program, vars, predicate, filename: as for `save_vars`.
    Raises:
        TypeError: main_program is no Program.
        ValueError: a file does not exist, is damaged, or holds something else.
    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.nn.Linear(2, 1)(paddle.static.data("x", [None, 2]))
        >>> exe = paddle.static.Executor()
        >>> outputs = exe.run(startup)
        >>> paddle.static.io.save_vars(exe, folder, main)
        >>> paddle.static.io.load_vars(exe, folder, main)
        >>> paddle.disable_static()
    """
    program, names = _chosen("load_vars", main_program, vars, predicate)
    if dirname is None and not filename:
        raise ValueError("load_vars: dirname: got None; give the folder, or filename.")
    folder = Path(dirname or ".")
    held = {}
    # All variables in one file, or each in a file of its own.
    if filename:
        files = [(filename, names)]
    else:
        files = [(name, [name]) for name in names]
    for file, together in files:
        try:
            stream = io.BytesIO((folder / file).read_bytes())
            held |= {name: read_record(stream) for name in together}
        except (OSError, CorruptFileError) as error:
            raise ValueError(f"load_vars: cannot read {folder / file}: {error}.") from error
        # More records than variables: another model.
        if stream.read(1):
            raise ValueError(f"load_vars: {folder / file}: bytes follow the last variable.")
    put_all("load_vars", program, held, ValueError)


__all__ = ["load_vars", "save_vars"]
