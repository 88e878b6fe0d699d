"""Paddle's flags about the memory of accelerators, as settings of XLA's client.

XLA's client reads the settings once, when the program uses the first device.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import jax

from paddle_jax._core.base import flags
from paddle_jax._core.base.vlog import vlog

STRATEGIES = ("auto_growth", "naive_best_fit", "thread_local")
DEFAULT_FRACTION = 0.92  # Paddle's; XLA's own is 0.75, also where it grows on demand
_PREALLOCATE = "XLA_PYTHON_CLIENT_PREALLOCATE"
_ALLOCATOR = "XLA_PYTHON_CLIENT_ALLOCATOR"
_UNIFIED = "TF_FORCE_UNIFIED_MEMORY"
# XLA refuses to start where both of these are set
_FRACTION = "XLA_CLIENT_MEM_FRACTION"
_OLD_FRACTION = "XLA_PYTHON_CLIENT_MEM_FRACTION"


def allocator_strategy(value: str) -> dict[str, str]:
    """auto_growth takes memory as it is needed; naive_best_fit takes its share at the start, as XLA does."""
    if value not in STRATEGIES:
        raise ValueError(f"FLAGS_allocator_strategy: got {value!r}; allowed are {', '.join(STRATEGIES)}")
    return {_PREALLOCATE: "true" if value == "naive_best_fit" else "false"}


def fraction_of_gpu_memory_to_use(value: float) -> dict[str, str]:
    """The share of the memory of a device that the program may use."""
    if not 0 < value <= 1:
        raise ValueError(
            f"FLAGS_fraction_of_gpu_memory_to_use: got {value}; it must be above 0 and at most 1"
        )
    return {_FRACTION: str(value)}


def use_cuda_malloc_async_allocator(value: bool) -> dict[str, str]:
    """CUDA's own pool."""
    return {_ALLOCATOR: "cuda_async" if value else "default"}


def use_system_allocator(value: bool) -> dict[str, str]:
    """No pool: each array is given back at once. It is slow, and shows what a program needs."""
    return {_ALLOCATOR: "platform" if value else "default"}


def use_cuda_managed_memory(value: bool) -> dict[str, str]:
    """Memory may be on the host where the device has no more."""
    return {_UNIFIED: "1" if value else "0"}


# functions from a value to environment variables of XLA, by flag, and the default in Paddle
_SETTINGS: dict[str, tuple[Callable[[Any], dict[str, str]], Any]] = {
    "allocator_strategy": (allocator_strategy, "auto_growth"),
    "fraction_of_gpu_memory_to_use": (fraction_of_gpu_memory_to_use, 0.9200000166893005),
    "use_cuda_malloc_async_allocator": (use_cuda_malloc_async_allocator, False),
    "use_system_allocator": (use_system_allocator, False),
    "use_cuda_managed_memory": (use_cuda_managed_memory, False),
}


def refuse_if_device_in_use(name: str) -> None:
    """Raises where XLA has read its settings already; on a CPU the flags have no meaning."""
    from jax._src import xla_bridge  # no public function tells it without starting the backend

    if xla_bridge.backends_are_initialized() and jax.default_backend() != "cpu":
        raise RuntimeError(
            f"FLAGS_{name} is set after the device was first used; "
            "set it (or the environment variable) before the first tensor"
        )


def _set(name: str, value: Any) -> None:
    """Passes a flag on to XLA's client."""
    if value == flags.value_of(name):
        return
    refuse_if_device_in_use(name)
    variables = _SETTINGS[name][0](value)
    if _FRACTION in variables:
        # JAX refuses both names together.
        os.environ.pop(_OLD_FRACTION, None)
    os.environ.update(variables)
    _report({name: value}, variables)


def _report(values: dict[str, Any], variables: dict[str, str]) -> None:
    """Prints flags and the variables that they set, at the level for memory."""
    names = ", ".join(f"FLAGS_{name}={value}" for name, value in values.items())
    vlog(
        "memory",
        f"{names} for XLA's allocator: " + ", ".join(f"{name}={value}" for name, value in variables.items()),
    )


def start() -> None:
    """Applies the flags that the environment has.

    XLA's own variables stay as they are. Without any, memory grows on demand up to Paddle's share.
    """
    values = {name: flags.from_environment(name) for name in _SETTINGS}
    values = {name: value for name, value in values.items() if value is not None}
    requested: dict[str, str] = {}
    for name, value in values.items():
        requested.update(_SETTINGS[name][0](value))
    wanted = {_PREALLOCATE: "false", _FRACTION: str(DEFAULT_FRACTION), **requested}
    # The user has set it under its old name, and JAX refuses both.
    if _OLD_FRACTION in os.environ:
        del wanted[_FRACTION]
    # What the user has set comes first.
    for variable, text in wanted.items():
        os.environ.setdefault(variable, text)
    if values:
        _report(values, {name: os.environ[name] for name in requested if name in os.environ})


def _setter(name: str) -> Callable[[Any], None]:
    return lambda value: _set(name, value)


for _name, (_, _default) in _SETTINGS.items():
    flags.declare(_name, _default, _setter(_name))
