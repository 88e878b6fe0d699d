"""Flags that decide how operations run: deferred execution, checks of each operation, determinism."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from paddle_jax._core.base import flags, vlog
from paddle_jax._core.base.compile_notice import CompileNotice
from paddle_jax._core.base.memory_flags import refuse_if_device_in_use
from paddle_jax._core.kernels.op_checks import op_executor, run_checked, run_logged
from paddle_jax._core.lazy.recording import change_settings
from paddle_jax._core.lazy.settings import MODES, settings

_DETERMINISTIC = "--xla_gpu_deterministic_ops"
# attributes of the settings by flag: (attribute, default, least value)
_SETTINGS: dict[str, tuple[str, Any, int | None]] = {
    "deferred": ("mode", "sync", None),
    "deferred_min_repeats": ("min_repeats", 0, 0),
    "deferred_max_ops": ("max_ops", 2048, 1),
    "deferred_pending_in_mb": ("pending_mb", 64, 0),
    "deferred_background": ("background", True, None),
    "interpreter": ("interpreter", True, None),
    "compiled_code_in_mb": ("code_mb", 1024, 0),
}


def _check_mode(value: str) -> None:
    if value not in MODES:
        raise ValueError(f"FLAGS_deferred: got {value!r}; allowed are {', '.join(MODES)}")


def _minimum_check(name: str, least: int | None) -> Callable[[Any], None]:
    """A function that refuses values below a least one."""

    def check(value: Any) -> None:
        if least is not None and value < least:
            raise ValueError(f"FLAGS_{name}: got {value}; it must be at least {least}")

    return check


def _setter(attribute: str) -> Callable[[Any], None]:
    return lambda value: change_settings(**{attribute: value})


def _set_nan_check(value: bool) -> None:
    """Has each operation checked for NaN and infinity."""
    change_settings(executor=op_executor(value))


def _set_notice(value: bool) -> None:
    """Shows or hides that the program waits for the compiler."""
    CompileNotice.is_enabled = value


def _update_executor() -> None:
    """Prints each operation, or ends that, after a change of the levels of messages."""
    replaceable = (None, run_checked, run_logged)  # any other executor belongs to paddle.amp.debugging
    if settings.executor in replaceable:
        change_settings(executor=op_executor(flags.value_of("check_nan_inf")))


def _request_determinism() -> None:
    """Has XLA choose deterministic kernels, from its first use of a device on."""
    options = os.environ.get("XLA_FLAGS", "")
    if _DETERMINISTIC not in options:
        os.environ["XLA_FLAGS"] = f"{options} {_DETERMINISTIC}=true".strip()


def _set_deterministic(value: bool) -> None:
    """Lets XLA choose kernels with a fixed order, and switches the deferred tier off.

    In the deferred tier the way an operation runs depends on how often the process has run it before.
    """
    if value and _DETERMINISTIC not in os.environ.get("XLA_FLAGS", ""):
        refuse_if_device_in_use("cudnn_deterministic")
        _request_determinism()
    change_settings(mode="off" if value else flags.value_of("deferred"))


def start() -> None:
    """Applies the flags that the environment has."""
    values = {attribute: flags.from_environment(name) for name, (attribute, _, _) in _SETTINGS.items()}
    changes = {attribute: value for attribute, value in values.items() if value is not None}
    if flags.from_environment("cudnn_deterministic"):
        _request_determinism()
        changes["mode"] = "off"
    if flags.from_environment("compile_notice") is not None:
        CompileNotice.is_enabled = flags.from_environment("compile_notice")
    check_nan_inf = os.environ.get("FLAGS_check_nan_inf", "0").lower() in ("1", "true")
    changes["executor"] = op_executor(check_nan_inf)
    change_settings(**changes)


for _name, (_attribute, _default, _least) in _SETTINGS.items():
    if _name == "deferred":
        _check = _check_mode
    else:
        _check = _minimum_check(_name, _least)
    flags.declare(_name, _default, _setter(_attribute), _check)
flags.declare("check_nan_inf", False, _set_nan_check)
flags.declare("compile_notice", True, _set_notice)
flags.declare("cudnn_deterministic", False, _set_deterministic)
vlog.level_listeners.append(_update_executor)
