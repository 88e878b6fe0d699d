"""The registry of flags: typed values, from the environment, `set_flags` and `get_flags`.

All flags of Paddle 3.3.1 are known by name, type and default (paddle_flags.txt). A flag that acts here is
declared beside the code that it steers: `declare` adds it to the registry when that module is imported. Other
flags are stored, and `set_flags` warns once about each.
"""

from __future__ import annotations

import ast
import importlib.resources
import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax

from paddle_jax._core.base.error_translation import ErrorDetail
from paddle_jax._core.base.errors import ArgumentError

PREFIX = "FLAGS_"
_TYPES = {"bool": bool, "int": int, "float": float, "str": str}


class Flag(NamedTuple):
    """A flag that acts.

    Attributes:
        kind: type of its values.
        default: the value at start.
        apply: function that a new value is given to, just before it is stored.
        check: function that raises for a value out of range.
    """

    kind: type
    default: Any
    apply: Callable[[Any], None] | None
    check: Callable[[Any], None]


def _accept(value: Any) -> None:
    """Checks nothing, and does nothing: for flags that are read where they are needed."""


class _Registry:
    """The flags by name, without the prefix.

    Attributes:
        declared: {name: Flag} of those that act.
        kinds: {name: type} of all flags; None until the first use.
        values: {name: value} of all flags; None until the first use.
        ignored: names of flags without a meaning that the user has been warned about.
    """

    declared: dict[str, Flag] = {}  # noqa: RUF012  one for the process
    kinds: dict[str, type] | None = None
    values: dict[str, Any] | None = None
    ignored: set[str] = set()  # noqa: RUF012


def declare(
    name: str,
    default: Any,
    apply: Callable[[Any], None] | None = _accept,
    check: Callable[[Any], None] = _accept,
) -> None:
    """Adds a flag that acts.

    Args:
        name: its name without FLAGS_.
        default: the value at start, which gives the type.
        apply: called with a new value by `set_flags`. Default: the value is only stored. None: `set_flags`
            has no effect, and warns.
        check: raises ValueError for a value that is not allowed.
    """
    _Registry.declared[name] = Flag(type(default), default, apply, check)
    if _Registry.kinds is not None and _Registry.values is not None:
        # The tables have been read, so the flag is added to them.
        _add_declared(name, _Registry.kinds, _Registry.values)


def _table() -> tuple[dict[str, type], dict[str, Any]]:
    """Types and values of all flags by name."""
    kinds = _Registry.kinds
    values = _Registry.values
    if kinds is None or values is None:
        kinds, values = _paddle_flags()
        for name in _Registry.declared:
            _add_declared(name, kinds, values)
        _Registry.kinds = kinds
        _Registry.values = values
    return kinds, values


def _paddle_flags() -> tuple[dict[str, type], dict[str, Any]]:
    """Types and values at start of the flags of Paddle 3.3.1."""
    kinds = {}
    values = {}
    file = importlib.resources.files("paddle_jax._core.base").joinpath("paddle_flags.txt")
    for row in file.read_text().splitlines():
        kind, _, rest = row.partition(" ")
        name, _, default_text = rest.partition(" ")
        if default_text:
            default = ast.literal_eval(default_text)
        else:
            default = None
        kinds[name] = _TYPES[kind]
        values[name] = _initial_value(name, kinds[name], default)
    return kinds, values


def _add_declared(name: str, kinds: dict[str, type], values: dict[str, Any]) -> None:
    """Adds a flag that acts to the tables of all flags."""
    flag = _Registry.declared[name]
    kinds[name] = flag.kind
    values[name] = _initial_value(name, flag.kind, flag.default)


def _initial_value(name: str, kind: type, default: Any) -> Any:
    """The value of a flag at start: that of the environment, or the default."""
    text = os.environ.get(PREFIX + name)
    if text is None:
        return default
    return _parse(name, kind, text)


def _parse(name: str, kind: type, text: str) -> Any:
    """The value of a flag from the text in the environment."""
    if kind is bool:
        if text.lower() not in ("0", "1", "true", "false"):
            raise ValueError(f"FLAGS_{name}: got {text!r} in the environment; allowed are 0, 1, true, false")
        return text.lower() in ("1", "true")
    try:
        return kind(text)
    except ValueError:
        raise ValueError(
            f"FLAGS_{name}: got {text!r} in the environment; it must be of type {kind.__name__}"
        ) from None


def value_of(name: str) -> Any:
    """The value of a flag by its name without FLAGS_."""
    return _table()[1][name]


def store(name: str, value: Any) -> None:
    """Has `get_flags` show another value of a flag, which another flag has changed."""
    _table()[1][name] = value


def from_environment(name: str) -> Any:
    """The value that the environment has for a declared flag, or None. The table of Paddle is not read.

    Raises:
        ValueError: the text is of another type, or out of range.
    """
    text = os.environ.get(PREFIX + name)
    if text is None:
        return None
    flag = _Registry.declared[name]
    value = _parse(name, flag.kind, text)
    flag.check(value)
    return value


def _known_name(flag: Any) -> str:
    """The name of a flag without FLAGS_, if there is such a flag."""
    if not isinstance(flag, str) or not flag.startswith(PREFIX) or flag[6:] not in _table()[0]:
        raise ValueError(
            f"flags: got {flag!r}; it is not a flag of Paddle 3.3 or of paddle_jax (names start with FLAGS_)"
        )
    return flag[6:]


def get_flags(flags: Sequence[str] | str) -> dict[str, Any]:
    """Returns the values of flags.

    Args:
        flags: name such as "FLAGS_check_nan_inf", or a list or tuple of names.
    Returns:
        dict from name to value.
    Raises:
        TypeError: flags is neither. ValueError: a name is unknown.
    Example:
        >>> paddle.get_flags("FLAGS_check_nan_inf")
        {'FLAGS_check_nan_inf': False}
    """
    if not isinstance(flags, str | list | tuple):
        raise TypeError(f"get_flags: flags: got {type(flags).__name__}; it must be a name or a list of names")
    names = [flags] if isinstance(flags, str) else flags
    return {flag: value_of(name) for flag, name in [(flag, _known_name(flag)) for flag in names]}


def set_flags(flags: dict[str, Any]) -> None:
    """Sets flags.

    Args:
        flags: dict from name to value. Those that act: FLAGS_check_nan_inf (each operation is looked at, see
            docs/nan.md); FLAGS_call_stack_level (2: exceptions of operations have those of JAX behind them,
            and tracebacks show all frames);
            FLAGS_deferred ("sync": eager ops are recorded, and compiled together when they recur; "async":
            the same, compiled in another thread; "off": every op runs at once), FLAGS_deferred_background
            (whether on a CPU with several processors another thread compiles while the program goes on; it
            changes at which step a result may differ in the last bits), FLAGS_deferred_min_repeats
            (how often a sequence of ops is met before it is compiled; 0: until running it op by op has cost a
            share of what compiling it will), FLAGS_interpreter (whether new ops run in NumPy on a CPU, until
            compiling them is worth it), FLAGS_deferred_max_ops (ops recorded at most),
            FLAGS_deferred_pending_in_mb (memory that recorded ops may keep from being freed before they run);
            FLAGS_compiled_code_in_mb (memory that compiled programs may take, before those used least
            recently are dropped; 0: no bound but that of the system's memory maps); the memory flags, which
            must be set before the first array exists (FLAGS_allocator_strategy,
            FLAGS_fraction_of_gpu_memory_to_use, FLAGS_use_cuda_malloc_async_allocator,
            FLAGS_use_system_allocator, FLAGS_use_cuda_managed_memory); FLAGS_collective_check (whether the
            processes of a program compare each collective before it runs, alike on all of them),
            FLAGS_collective_shared_memory (whether processes of one machine use memory and sockets that all
            of them see; before the first); FLAGS_single_controller (whether
            paddle.distributed.get_world_size() of a program of one process is the number of its devices);
            FLAGS_cudnn_deterministic (the same bits in every run, see docs/determinism.md; on an accelerator
            to be set before the first array exists); FLAGS_matmul_precision ("highest", "high" or "default":
            the precision of float32 products, see docs/precision.md), FLAGS_allow_tf32_cublas and
            FLAGS_allow_tf32_cudnn (the same for matrix products and for convolutions); FLAGS_metrics_port
            (where Prometheus reads the numbers of paddle_jax.metrics; 0: nowhere) and FLAGS_metrics_address,
            which is set first; FLAGS_compile_notice (whether a line on stderr says that the program has
            waited for the compiler for a second). FLAGS_compile_cache acts in the environment only.
    Raises:
        TypeError: flags is not a dict or a value has the wrong type. ValueError: a name is unknown.
            RuntimeError: too late for a memory flag.
    Example:
        >>> paddle.set_flags({"FLAGS_check_nan_inf": False})
    """
    if not isinstance(flags, dict):
        raise TypeError(f"set_flags: flags: got {type(flags).__name__}; it must be a dict from name to value")
    # All flags are checked before the first one changes.
    checked = {_known_name(flag): _checked(flag, value) for flag, value in flags.items()}
    values = _table()[1]
    for name, value in checked.items():
        _apply(name, value)
        values[name] = value


def _checked(flag: str, value: Any) -> Any:
    """A value of the type of a flag, and in its range."""
    name = _known_name(flag)
    kind = _table()[0][name]
    # As in Paddle an int serves for a bool or a float.
    allowed = kind | int if kind in (bool, float) else kind
    if not isinstance(value, allowed):
        raise ArgumentError(f"{flag}: got {value!r}; it must be of type {kind.__name__}")
    value = kind(value)
    if name in _Registry.declared:
        _Registry.declared[name].check(value)
    return value


def _apply(name: str, value: Any) -> None:
    """Puts a new value into effect; warns about a flag that has none."""
    flag = _Registry.declared.get(name)
    if flag is not None and flag.apply is not None:
        flag.apply(value)
    elif name not in _Registry.ignored and value != value_of(name):
        _Registry.ignored.add(name)
        warnings.warn(
            f"FLAGS_{name} has no meaning under XLA; it is stored and otherwise ignored", stacklevel=4
        )


# exceptions -------------------------------------------------------------------------------------------------


def _set_stack_level(level: int) -> None:
    """From level 2 on exceptions of operations have those of JAX as their cause, with all frames."""
    ErrorDetail.level = level
    jax.config.update("jax_traceback_filtering", "off" if level >= 2 else "auto")


def start() -> None:
    """Applies the stack level that the environment has."""
    level = from_environment("call_stack_level")
    _set_stack_level(1 if level is None else level)


declare("call_stack_level", 1, _set_stack_level)
