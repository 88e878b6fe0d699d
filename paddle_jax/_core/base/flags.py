"""The registry of FLAGS_: typed values, from the environment at start, `set_flags` and `get_flags` later.

All flags of Paddle 3.3.1 are known by name, type and default (paddle_flags.txt); the few that have a meaning
under XLA act, the others are stored and warned about once when set. FLAGS_deferred,
FLAGS_deferred_min_repeats, FLAGS_deferred_max_ops, FLAGS_deferred_pending_in_mb,
FLAGS_interpreter, FLAGS_compile_cache,
FLAGS_compiled_code_in_mb, FLAGS_collective_check, FLAGS_collective_shared_memory, FLAGS_single_controller,
FLAGS_metrics_port and FLAGS_metrics_address are our own; FLAGS_cudnn_deterministic is one of Paddle's
builds for GPUs.
"""

import ast
import contextlib
import importlib.resources
import os
import warnings

import jax

from paddle_jax._core.base import memory_flags, vlog
from paddle_jax._core.base.errors import ArgumentError, Stack
from paddle_jax._core.kernels.op_checks import announced, checked, watcher
from paddle_jax._core.lazy.recording import change_settings
from paddle_jax._core.lazy.settings import MODES, settings

_TYPES = {"bool": bool, "int": int, "float": float, "str": str}
_OWN = {
    "deferred": "sync",
    "deferred_min_repeats": 0,
    "deferred_max_ops": 2048,
    "deferred_pending_in_mb": 64,
    "interpreter": True,
    "compile_cache": "auto",
    "compiled_code_in_mb": 1024,
    "collective_check": True,
    "collective_shared_memory": True,
    "single_controller": False,
    "cudnn_deterministic": False,
    "metrics_port": 0,
    "metrics_address": "127.0.0.1",
}
_MEMORY_KINDS = {
    name: {"allocator_strategy": str, "fraction_of_gpu_memory_to_use": float}.get(name, bool)
    for name in memory_flags.FLAGS
}
_DETERMINISTIC = "--xla_gpu_deterministic_ops"


class _Flags:
    """Types and values by name without the FLAGS_ prefix; loaded on first use."""

    kinds, values, warned = None, None, set()


def _load():
    if _Flags.values is not None:
        return
    kinds, values = {}, {}
    for row in (
        importlib.resources.files("paddle_jax._core.base")
        .joinpath("paddle_flags.txt")
        .read_text()
        .splitlines()
    ):
        kind, name, text = (row.split(" ", 2) + [""])[:3]
        kinds[name] = _TYPES[kind]
        values[name] = ast.literal_eval(text) if text else None
    for name, value in _OWN.items():
        kinds[name], values[name] = type(value), value
    for name, kind in kinds.items():
        text = os.environ.get("FLAGS_" + name)
        if text is not None:
            values[name] = _parse(name, kind, text)
    _Flags.kinds, _Flags.values = kinds, values


def _parse(name, kind, text):
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


def _known(flag):
    _load()
    if not isinstance(flag, str) or not flag.startswith("FLAGS_") or flag[6:] not in _Flags.kinds:
        raise ValueError(
            f"flags: got {flag!r}; it is not a flag of Paddle 3.3 or of paddle_jax (names start with FLAGS_)"
        )
    return flag[6:]


def get_flags(flags):
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
    names = [(f, _known(f)) for f in ([flags] if isinstance(flags, str) else flags)]
    return {flag: _Flags.values[name] for flag, name in names}


def set_flags(flags):
    """Sets flags.

    Args:
        flags: dict from name to value. Those that act: FLAGS_check_nan_inf (each operation is looked at, see
            docs/nan.md); FLAGS_call_stack_level (2: exceptions of operations have those of JAX behind them);
            FLAGS_deferred ("sync": eager ops are recorded, and compiled together when they recur; "async":
            the same, compiled in another thread; "off": every op runs at once), FLAGS_deferred_min_repeats
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
            to be set before the first array exists); FLAGS_metrics_port (where Prometheus reads the numbers
            of paddle_jax.metrics; 0: nowhere) and FLAGS_metrics_address, which is set first.
            FLAGS_compile_cache acts in the environment only.
    Raises:
        TypeError: flags is not a dict or a value has the wrong type. ValueError: a name is unknown.
            RuntimeError: too late for a memory flag.
    Example:
        >>> paddle.set_flags({"FLAGS_check_nan_inf": False})
    """
    if not isinstance(flags, dict):
        raise TypeError(f"set_flags: flags: got {type(flags).__name__}; it must be a dict from name to value")
    parsed = {}
    for flag, value in flags.items():
        name = _known(flag)
        kind = _Flags.kinds[name]
        if not isinstance(value, kind | int if kind in (bool, float) else kind):
            raise ArgumentError(f"{flag}: got {value!r}; it must be of type {kind.__name__}")
        parsed[name] = _checked_own(name, kind(value))
    for name, value in parsed.items():
        _apply(name, value)
        _Flags.values[name] = value


_DEFERRED = {
    "deferred": "mode",
    "deferred_min_repeats": "min_repeats",
    "deferred_max_ops": "max_ops",
    "interpreter": "interpreter",
    "compiled_code_in_mb": "code_mb",
    "deferred_pending_in_mb": "pending_mb",
}


def _checked_own(name, value):
    """The value of one of our own flags, refused when it is out of range; others as they are."""
    if name == "deferred" and value not in MODES:
        raise ValueError(f"FLAGS_deferred: got {value!r}; allowed are {', '.join(MODES)}")
    least = {
        "deferred_min_repeats": 0,
        "deferred_max_ops": 1,
        "compiled_code_in_mb": 0,
        "deferred_pending_in_mb": 0,
    }
    if name in least and value < least[name]:
        raise ValueError(f"FLAGS_{name}: got {value}; it must be at least {least[name]}")
    return value


def _apply(name, value):
    if name == "check_nan_inf":
        change_settings(executor=watcher(value))
    elif name == "call_stack_level":
        _set_stack_level(value)
    elif name in _DEFERRED:
        change_settings(**{_DEFERRED[name]: value})
    elif name == "cudnn_deterministic":
        _set_deterministic(value)
    elif name == "metrics_port":
        _serve_metrics(value)
    elif name in ("collective_check", "collective_shared_memory", "single_controller", "metrics_address"):
        return  # looked up where it is needed
    elif name in memory_flags.FLAGS:
        _set_memory(name, value)
    elif name not in _Flags.warned and value != _Flags.values[name]:
        _Flags.warned.add(name)
        warnings.warn(
            f"FLAGS_{name} has no meaning under XLA; it is stored and otherwise ignored", stacklevel=4
        )


def _serve_metrics(port):
    from paddle_jax._core.base.launch_variables import rank
    from paddle_jax._core.process import metrics

    metrics.stop()
    if port:
        metrics.start(port + rank(), _Flags.values["metrics_address"])


def _set_stack_level(level):
    """From level 2 on exceptions of operations have those of JAX behind them, with all frames."""
    Stack.level = level
    jax.config.update("jax_traceback_filtering", "off" if level >= 2 else "auto")


def _ask_for_determinism():
    if _DETERMINISTIC not in os.environ.get("XLA_FLAGS", ""):
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_DETERMINISTIC}=true".strip()


def _set_deterministic(value):
    """XLA chooses kernels of one order, and no result depends on what the process has done before: how often
    operations have been met decides about their way of running in the deferred tier, so it is off."""
    from jax._src import xla_bridge  # the only way to ask without starting the backend

    if value and _DETERMINISTIC not in os.environ.get("XLA_FLAGS", ""):
        # whose kernels are deterministic
        if xla_bridge.backends_are_initialized() and jax.default_backend() != "cpu":
            raise RuntimeError(
                "FLAGS_cudnn_deterministic is set after the device was first used; "
                "set it (or the environment variable) before the first tensor"
            )
        _ask_for_determinism()
    change_settings(mode="off" if value else _Flags.values["deferred"])


def _set_memory(name, value):
    """Passes a memory flag to XLA's client, which reads it when the backend starts."""
    from jax._src import xla_bridge  # the only way to ask without starting the backend

    if value == _Flags.values[name]:
        return
    # where the flags mean nothing
    if xla_bridge.backends_are_initialized() and jax.default_backend() != "cpu":
        raise RuntimeError(
            f"FLAGS_{name} is set after the device was first used; "
            "set it (or the environment variable) before the first tensor"
        )
    memory_flags.put(name, value)


def set_vlog_level(module_levels):
    """Chooses what the library tells about itself on standard error.

    Args:
        module_levels: int, the level of all messages, as GLOG_v (1: what is compiled and why; 2: also each
            run of recorded operations; 3: also each operation, which then runs by itself); or a dict of
            levels by kind, as GLOG_vmodule: "compile", "segment", "operation", "*" for all.
    Raises:
        TypeError: it is neither.
    Example:
        >>> paddle.base.core.set_vlog_level({"compile": 1})
        >>> paddle.base.core.set_vlog_level({"*": 0, "compile": 0})
    """
    vlog.set_levels(module_levels)
    _look_again()


@contextlib.contextmanager
def vlog_guard(module_levels):
    """Context in which the library tells as much about itself as `set_vlog_level(module_levels)` says.

    Example:
        >>> with paddle.base.framework.vlog_guard(0):
        ...     paddle.ones([1]).item()
        1.0
    """
    before = vlog.set_levels(module_levels)
    _look_again()
    try:
        yield
    finally:
        vlog.Verbose.level, vlog.Verbose.modules = before
        _look_again()


def _look_again():
    _load()
    if settings.executor in (None, checked, announced):  # else paddle.amp.debugging watches
        change_settings(executor=watcher(_Flags.values["check_nan_inf"]))


def start():
    """Applies what the environment says."""
    memory_flags.start(_given(memory_flags.FLAGS))
    changes = {_DEFERRED[name]: _checked_own(name, value) for name, value in _given(_DEFERRED).items()}
    if _given(("cudnn_deterministic",)).get("cudnn_deterministic"):
        _ask_for_determinism()
        changes["mode"] = "off"
    changes["executor"] = watcher(os.environ.get("FLAGS_check_nan_inf", "0").lower() in ("1", "true"))
    _set_stack_level(int(os.environ.get("FLAGS_call_stack_level", "1")))
    change_settings(**changes)


def _given(names):
    """{name: value} of those that the environment has. The whole table is not read for it."""
    kinds = {name: type(value) for name, value in _OWN.items()} | _MEMORY_KINDS
    return {
        name: _parse(name, kinds[name], os.environ["FLAGS_" + name])
        for name in names
        if "FLAGS_" + name in os.environ
    }
