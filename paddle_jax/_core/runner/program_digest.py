"""A digest of the content of a segment: what its compiled program computes, in any process.

Equal digests mean equal equations, constants, shapes and order of arguments, traced by the same files of this
package. What the digest cannot describe exactly has none.
"""

from __future__ import annotations

import enum
import functools as ft
import hashlib
import os
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jaxlib.version
import numpy as np
from jax._src import core, distributed
from jax._src.config import trace_context
from jax._src.core import Jaxpr, Primitive, ShapedArray  # jax.extend takes 0.05 s to import

from paddle_jax._core.kernels.dependence import is_literal
from paddle_jax._core.lazy.devices import default_device
from paddle_jax._core.process import compile_cache

if TYPE_CHECKING:
    from paddle_jax._core.lazy.aval import Aval

_PACKAGE = str(Path(__file__).resolve().parents[2])
_MAX_CONSTANT = 1 << 20  # bytes of a constant that is worth hashing
_PLAIN_TYPES = (int, float, complex, bool, str, bytes, types.NoneType, np.dtype)
# Parameters that matter where the equation is differentiated, and not where it is evaluated.
_RULE_PARAMETERS = {
    "custom_jvp_call": ("jvp_jaxpr_fun",),
    "custom_vjp_call": ("fwd_jaxpr_thunk", "bwd"),
}
# Code outside of the equations, which may change while its name stays.
_OPAQUE_PRIMITIVES = ("ffi_call", "pure_callback", "io_callback", "debug_callback")
_LIBRARIES = ("jax", "jaxlib", "paddle_jax")
# Parameters of JAX that say nothing in a program of one device.
_NEUTRAL_CLASSES = ("UnspecifiedValue", "Mesh", "AbstractMesh")
# JAX 0.12 has one class for both.
_JAXPRS = (Jaxpr, getattr(core, "ClosedJaxpr", Jaxpr))


class NoDigestError(Exception):
    """Something in a segment has no exact description."""


def digest_of(parts: Sequence[Any], ops: Sequence[tuple[Any, ...]], avals: Sequence[Aval]) -> str | None:
    """The digest of a segment, or None where it has none.

    Args:
        parts: what else the program depends on, of plain types.
        ops: the recorded operations.
        avals: those of the leaves.
    """
    text = [_settings(), repr([(aval.shape, aval.dtype.str, aval.weak) for aval in avals])]
    numbers: dict[int, int] = {}  # of the signatures, by identity
    try:
        text.append(_versions())
        text.append(_describe(parts))
        for signature, *positions in ops:
            number = numbers.get(id(signature))
            if number is None:
                number = numbers[id(signature)] = len(numbers)
                equations = signature.equations
                text.append(f"{equations.container} {signature.kernel.name}")
                text.append(_describe_equations(equations.jaxpr, equations.consts))
            text.append(f"{number} {positions}")
    except (NoDigestError, OSError):  # an application in one file has no files of this package
        return None
    return hashlib.sha256("\n".join(text).encode()).hexdigest()


def digest_of_name(name: str) -> str | None:
    """The digest of a program of this package that has a name; None where programs have none."""
    try:
        text = f"{name} {_settings()} {_versions()}"
    except OSError:  # an application in one file has no files of this package
        return None
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@ft.cache
def _versions() -> str:
    """What has traced and lowered a program: JAX, and the files of this package as they are."""
    files: list[tuple[str, int, int]] = []
    _note_files(_PACKAGE, files)
    text = f"{jax.__version__} {jaxlib.version.__version__} {compile_cache.processor()} {sorted(files)}"
    return hashlib.sha256(text.encode()).hexdigest()


def _settings() -> str:
    """What else decides how JAX traces and XLA compiles: settings, and the place of the process in a job."""
    values = {k: v for k, v in list(jax.config.values.items()) if k != "jax_compilation_cache_dir"}
    context = [value for value in trace_context() if type(value).__name__ != "AxisEnv"]
    job = distributed.global_state
    return (
        f"{os.environ.get('XLA_FLAGS')} {job.process_id} {job.num_processes} "
        f"{getattr(default_device(), 'id', 0)} {values} {context}"
    )


def _note_files(folder: str, files: list[tuple[str, int, int]]) -> None:
    """Adds (path, time of the last change, length) of all Python files below a folder."""
    for entry in os.scandir(folder):
        if entry.name.endswith(".py"):
            info = entry.stat()
            files.append((entry.path, info.st_mtime_ns, info.st_size))
        elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
            _note_files(entry.path, files)


def _describe_equations(jaxpr: Any, consts: Sequence[Any]) -> str:
    """The text of a jaxpr. Variables are numbered in the order in which they appear."""
    numbers: dict[Any, int] = {}

    def operand(variable: Any) -> str:
        if is_literal(variable):
            return f"{_describe(variable.val)}{_describe_aval(variable.aval)}"
        return str(numbers[variable])

    def define(variable: Any) -> str:
        numbers[variable] = len(numbers)
        return _describe_aval(variable.aval)

    if jaxpr.effects:
        raise NoDigestError
    lines = [
        ",".join([*map(define, jaxpr.constvars), "|", *map(define, jaxpr.invars)]),
        *map(_describe, consts),
    ]
    for equation in jaxpr.eqns:
        primitive = equation.primitive
        if not _is_known(primitive):
            raise NoDigestError
        ignored = _RULE_PARAMETERS.get(primitive.name, ())
        parameters = [
            f"{name}={_describe(value)}"
            for name, value in sorted(equation.params.items())
            if name not in ignored
        ]
        operands = [operand(variable) for variable in equation.invars]
        results = [define(variable) for variable in equation.outvars]
        context = _describe_context(equation.ctx)
        lines.append(f"{primitive.name} {operands} {parameters} {results} {context}")
    lines.append(str([operand(variable) for variable in jaxpr.outvars]))
    return "\n".join(lines)


@ft.lru_cache(16)
def _describe_context(context: Any) -> str:
    """The settings of JAX that an equation is lowered with; JAX keeps one object for equal ones."""
    return repr(context)


def _describe_aval(aval: Any) -> str:
    if type(aval) is not ShapedArray:  # a token or a reference
        raise NoDigestError
    return f"{aval.shape}{_describe_dtype(aval.dtype)}{aval.weak_type}"


@ft.cache
def _describe_dtype(dtype: Any) -> str:
    """The name of a dtype, NumPy's or JAX's: `bfloat16` is `<V2` to NumPy."""
    return str(dtype)


@ft.cache
def _is_known(primitive: Any) -> bool:
    """Whether JAX or this package defines a primitive, and only its parameters say how it computes."""
    if primitive.name in _OPAQUE_PRIMITIVES:
        return False
    # By the name that JAX gives them most are found at once.
    usual_name = f"{primitive.name.replace('-', '_')}_p"
    if any(vars(module).get(usual_name) is primitive for module in _library_modules(len(sys.modules))):
        return True
    if primitive not in _library_primitives(0):
        # The module that defines it may have been imported since.
        return primitive in _library_primitives(len(sys.modules))
    return True


@ft.lru_cache(2)
def _library_primitives(_: int) -> set[Any]:
    """The primitives among the attributes of all modules of JAX and of this package."""
    kinds = _with_subclasses(Primitive)
    found: set[Any] = set()
    for module in _library_modules(len(sys.modules)):
        # The dict may grow in another thread.
        values = list(vars(module).values())
        # Most modules have none, and there are 50 000 values.
        if not kinds.isdisjoint(map(type, values)):
            found.update(value for value in values if type(value) in kinds)
    return found


@ft.lru_cache(2)
def _library_modules(_: int) -> list[types.ModuleType]:
    """The modules of JAX and of this package; those with most primitives come first.

    Args:
        _: number of the modules that are imported, which changes with them.
    """
    # The dict may grow in another thread.
    modules = list(sys.modules.items())
    found = [(name, module) for name, module in modules if name.partition(".")[0] in _LIBRARIES]
    return [module for _, module in sorted(found, key=lambda one: "jax._src.lax" not in one[0])]


def _with_subclasses(kind: type) -> set[type]:
    return {kind}.union(*map(_with_subclasses, kind.__subclasses__()))


def _is_library_code(function: Any) -> bool:
    while isinstance(function, ft.partial):
        function = function.func
    module = getattr(function, "__module__", None) or ""
    return module.split(".")[0] in _LIBRARIES


def _describe(value: Any) -> str:
    """A text that is equal for equal values alone."""
    kind = type(value)
    if kind in _PLAIN_TYPES or isinstance(value, np.dtype | enum.Enum):
        return f"{kind.__name__}:{value!r}"
    # JAX's own numbers with a dtype
    if issubclass(kind, int | float | complex) and hasattr(value, "dtype") and _is_library_code(kind):
        return f"{kind.__name__}:{value.dtype}:{value!r}"
    if isinstance(value, tuple | list):
        return f"{kind.__name__}({','.join(map(_describe, value))})"
    if isinstance(getattr(value, "dtype", None), np.dtype) and hasattr(value, "__array__"):
        return _describe_array(value)
    if isinstance(value, _JAXPRS):
        return f"({_describe_equations(value, getattr(value, 'consts', ()))})"
    # JAX 0.12: how many operands of a loop are constants, carried, and cut along an axis
    if hasattr(value, "void") and _is_library_code(kind):
        return f"{kind.__name__}({_describe(value.vals)}{value.void()!r})"
    if isinstance(value, types.FunctionType):
        return _describe_function(value)
    if kind.__name__ in _NEUTRAL_CLASSES and _is_library_code(kind) and not _is_mesh(value):
        return kind.__name__
    raise NoDigestError


def _is_mesh(value: Any) -> bool:
    """Whether it is a mesh that has devices."""
    return not getattr(value, "empty", True)


def _describe_array(value: Any) -> str:
    array = np.asarray(value)
    if array.nbytes > _MAX_CONSTANT or array.dtype.kind == "O":
        raise NoDigestError
    weak = getattr(value, "weak_type", False)
    return f"{_describe_dtype(array.dtype)}{array.shape}{weak}:{array.tobytes().hex()}"


def _describe_function(function: types.FunctionType) -> str:
    """The path of a function of a library that has nothing but its code."""
    target: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        target = getattr(target, name, None)
    if target is not function or not _is_library_code(function):
        raise NoDigestError
    return f"{function.__module__}.{function.__qualname__}"
