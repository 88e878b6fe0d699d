"""Programs of the persistent compile cache that are found without tracing them again.

JAX finds a program in its cache by the module that it was lowered to. Tracing and lowering a training step
takes 40 to 200 ms in each process, with the interpreter's lock. A segment with a digest is known before that.
So JAX gets a small module instead, with one call in it whose name is the digest. The file `alias-<digest>` in
the directory of the cache has JAX's key of the real module. Where the file or the program is missing, the
real module is made and compiled after all.

Two functions of JAX are wrapped for that: the one that computes keys, and the one that calls XLA's compiler.
A third one reads the file of a program. JAX looks up LAPACK's functions when it lowers. A loaded program is
not lowered, and would end the process without them.
"""

from __future__ import annotations

import functools as ft
import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax._src import compilation_cache, compiler
from jaxlib import lapack

from paddle_jax._core.base.interrupt_safe import interrupt_safe_jit
from paddle_jax._core.process import compile_cache
from paddle_jax._core.runner import loaded_programs
from paddle_jax._core.runner.loaded_programs import LoadedProgram

_PREFIX = "paddle_jax_program_"  # of the names of small modules
_MAX_KEY = 300  # characters of a key of JAX
_LAPACK = b"lapack_"  # begins the names of LAPACK's functions
_numbers = itertools.count()


class UnlikeModulesError(RuntimeError):
    """A module has other arguments or results than the one that stands for it."""


class PlainProgram:
    """A function to compile that is traced in each process.

    Args:
        trace, options: as of StoredProgram.
    Attributes:
        function: what `jax.jit` gave.
    """

    def __init__(self, trace: Callable[..., list[Any]], options: dict[str, Any] | None) -> None:
        self.function: Any = interrupt_safe_jit(trace, donate_argnums=0, compiler_options=options)

    def is_in_cache(self) -> bool:
        """Nobody knows before it is traced."""
        return False

    def load(self, tier: str, device: Any, is_inline: bool = False) -> LoadedProgram | None:
        """The cache finds it when it is traced."""
        return None

    def prepare(self, arguments: Sequence[Any]) -> None:
        """Nothing has to be made before it is lowered."""


class StoredProgram:
    """A function to compile that is found in the cache by a digest.

    Args:
        trace: function of pytrees of arrays that gives a list of arrays. The first ones are donated.
        digest: that of the content of its program, with the options.
        results: shapes and dtypes of its results.
        options: those of XLA, or None.
    Attributes:
        name: str, of the small module in this process.
        digest: str, as given.
        function: what `jax.jit` gave for the small module.
        _real: what `jax.jit` gave for `trace`.
        _results: as given.
        _arguments: shapes and dtypes of the arguments that it was last lowered with.
        _module: the real module from its lowering to its compilation, else None.
        instances: WeakValueDictionary from names to all objects of the class.
    """

    instances: weakref.WeakValueDictionary[str, StoredProgram] = weakref.WeakValueDictionary()

    def __init__(
        self,
        trace: Callable[..., list[Any]],
        digest: str,
        results: Sequence[jax.ShapeDtypeStruct],
        options: dict[str, Any] | None,
    ) -> None:
        _wrap_jax()
        self.name: str = f"{_PREFIX}{next(_numbers)}"
        self.digest: str = digest
        self._results: list[jax.ShapeDtypeStruct] = list(results)
        self._arguments: Any = None
        self._module: Any = None
        # Both keep operands that nothing reads, so that they have the same arguments.
        settings: dict[str, Any] = {"donate_argnums": 0, "keep_unused": True, "compiler_options": options}
        self._real: Any = interrupt_safe_jit(trace, **settings)
        stand_in = ft.partial(_call_by_name, weakref.ref(self))
        stand_in.__name__ = self.name  # pyright: ignore[reportAttributeAccessIssue]
        self.function: Any = interrupt_safe_jit(stand_in, **settings)
        self.instances[self.name] = self

    def is_in_cache(self) -> bool:
        """Whether the cache has its program."""
        return _stored_key(self.digest) is not None

    def load(self, tier: str, device: Any, is_inline: bool = False) -> LoadedProgram | None:
        """Its program from the cache, to call it without JAX; None where that cannot be.

        Args:
            tier: the tier that it counts for, see counters.py.
            device: the device that it was compiled for.
            is_inline: whether it is to run in the thread that calls it.
        """
        key = _stored_key(self.digest)
        if key is None:
            return None
        return loaded_programs.load(key, self._results, tier, device, is_inline)

    def prepare(self, arguments: Sequence[Any]) -> None:
        """Makes the real module for arguments of some shapes and dtypes. Takes the interpreter's lock."""
        self._arguments = arguments
        self.module()

    def module(self) -> Any:
        """The real module."""
        if self._module is None:
            self._module = self._real.lower(*self._arguments).compiler_ir()
        return self._module

    def stand_in(self, arguments: Sequence[Any]) -> list[Any]:
        """The small function, as JAX traces it."""
        self._arguments = jax.tree.map(_struct, arguments)
        leaves = jax.tree.leaves(arguments)
        return list(jax.ffi.ffi_call(self.name, self._results)(*leaves))

    def key(self, compute: Callable[[Any], str]) -> str:
        """JAX's key of the real module: that of the file, or by the function that computes it."""
        key = _stored_key(self.digest)
        if key is None:
            key = compute(self.module())
            compile_cache.write_note(_file(self.digest), key)
            if self.is_in_cache():  # only the file was missing
                self._module = None
        return key

    def take_module(self, stand_in: Any) -> Any:
        """The real module for XLA's compiler, in place of the small one; it is not kept any longer."""
        module = self.module()
        self._module = None
        if _types(module) != _types(stand_in):
            raise UnlikeModulesError(f"the program {self.name} has other arguments than its name stands for")
        return module


def _call_by_name(program: weakref.ref[StoredProgram], *arguments: Any) -> list[Any]:
    return program().stand_in(arguments)  # pyright: ignore[reportOptionalMemberAccess]


def _struct(array: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(array.shape, array.dtype, weak_type=array.weak_type)


def _types(module: Any) -> tuple[list[str], list[str]]:
    """The types of the arguments and results of a module."""
    (main,) = [op for op in module.body.operations if str(op.attributes["sym_name"]) == '"main"']
    return [str(kind) for kind in main.type.inputs], [str(kind) for kind in main.type.results]


# the files -----------------------------------------------------------------------------------------------


def _file(digest: str) -> str:
    return f"alias-{digest}"


def _stored_key(digest: str) -> str | None:
    """JAX's key of a program that the cache has, or None."""
    key = compile_cache.read_note(_file(digest))
    directory = compile_cache.directory()
    if directory is None or not 0 < len(key) < _MAX_KEY or "/" in key:
        return None
    # The cache may have dropped the program.
    if not (directory / f"{key}-cache").exists():
        return None
    return key


# JAX -------------------------------------------------------------------------------------------------------


def is_possible() -> bool:
    """Whether there is a directory, and this version of JAX has the functions that are wrapped.

    A setting of JAX makes arguments of constants. A small module would not have them.
    """
    return (
        not getattr(jax.config, "jax_use_simplified_jaxpr_constants", False)
        and hasattr(compilation_cache, "get_cache_key")
        and hasattr(compilation_cache, "extract_executable_and_time")
        and hasattr(compiler, "backend_compile_and_load")
        and compile_cache.directory() is not None
    )


@ft.cache
def _wrap_jax() -> None:
    """Wraps the functions of JAX, once."""
    compilation_cache.get_cache_key = ft.partial(_get_cache_key, compilation_cache.get_cache_key)
    compiler.backend_compile_and_load = ft.partial(_compile, compiler.backend_compile_and_load)
    extract = compilation_cache.extract_executable_and_time
    compilation_cache.extract_executable_and_time = ft.partial(_extract, extract)


def _program_of(module: Any) -> StoredProgram | None:
    """The program that a module stands for, if it stands for one."""
    name = str(module.operation.attributes["sym_name"]).strip('"')
    return StoredProgram.instances.get(name.removeprefix("jit_"))


def _get_cache_key(compute: Callable[..., str], module: Any, *others: Any, **named: Any) -> str:
    program = _program_of(module)
    if program is None:
        return compute(module, *others, **named)
    return program.key(lambda real: compute(real, *others, **named))


def _compile(
    compile_module: Callable[..., Any], backend: Any, module: Any, *others: Any, **named: Any
) -> Any:
    program = _program_of(module)
    if program is not None:
        module = program.take_module(module)
    return compile_module(backend, module, *others, **named)


def _extract(extract: Callable[[bytes], tuple[bytes, int]], content: bytes) -> tuple[bytes, int]:
    executable, seconds = extract(content)
    # The names of functions that it calls are in it as they are.
    if _LAPACK in executable:
        _look_up_lapack()
    return executable, seconds


@ft.cache
def _look_up_lapack() -> None:
    """Has JAX look up LAPACK's functions in SciPy. Any function and dtype do."""
    lapack.prepare_lapack_call("getrf_ffi", np.dtype("float32"))
