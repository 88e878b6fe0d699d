"""What the memory of accelerators is used for. XLA keeps the figures per device; on a machine with only a
CPU there are none."""

from __future__ import annotations

import collections
import gc
from typing import Any

import jax

from paddle_jax._core.lazy.recording import run_pending
from paddle_jax._core.tensors.place import CPUPlace, Place, current, jax_device, parse

_GPU = ("gpu", "cuda", "rocm")
KINDS = {"cuda": _GPU, "xpu": ("xpu",), "custom_device": None, "": None}
Properties = collections.namedtuple(
    "_gpuDeviceProperties", "name major minor total_memory multi_processor_count"
)


class NoAccelerator(ValueError, TypeError, NameError, RuntimeError):
    """There is no such accelerator. Paddle's CPU build raises ValueError, TypeError, NameError or
    RuntimeError, depending on the function."""


class _Resets:
    """peaks: (device, figure) -> (the peak that XLA had counted when it was reset, the most seen since)."""

    peaks: dict[Any, Any] = {}


def devices(kind: str = "") -> list[Any]:
    """The accelerators of one of KINDS, in JAX's order."""
    platforms = KINDS[kind]
    if kind == "custom_device":
        return [d for d in jax.local_devices() if d.platform not in ("cpu", "xpu", *_GPU)]
    return [
        d
        for d in jax.local_devices()
        if d.platform != "cpu" and (platforms is None or d.platform in platforms)
    ]


def accelerator(device: Any, kind: str, name: str) -> Any:
    """The jax device that an argument of Paddle's means.

    Args:
        device: None (the current one, or the first), its number, "gpu:0", a Place, or a jax device.
        kind: one of KINDS. name: the function that asks, for the error.
    """
    here = devices(kind)
    call = f"paddle.device.{kind + '.' if kind else ''}{name}"
    if not here:
        words = {"cuda": "a GPU", "xpu": "an XPU"}.get(kind, "an accelerator")
        raise NoAccelerator(
            f"{call}: this machine has no {words.split()[1]} that JAX sees; "
            "ask paddle.device.device_count() first"
        )
    if isinstance(device, Place) and isinstance(device, CPUPlace) or device == "cpu":
        raise NoAccelerator(f"{call}: device: got {device}; it must be an accelerator")
    if device is None:
        return _current(here)
    if isinstance(device, int):
        number = device
        if not 0 <= number < len(here):
            raise NoAccelerator(f"{call}: device: got {number}; there are {len(here)}")
        return here[number]
    return jax_device(parse(device))


def _current(here: list[Any]) -> Any:
    """The current device if it is one of these, else the first of them."""
    place = current()
    # These functions are for accelerators, also while new Tensors go to the CPU.
    if place.is_cpu_place():
        return here[0]
    device = jax_device(place)
    return device if device in here else here[0]


def stat(device: Any, name: str, *more: Any) -> int:
    """The first of XLA's figures of a device that it knows; 0 where it knows none of them."""
    # Pending operations have not taken their memory yet.
    run_pending("a question about memory")
    figures = device.memory_stats() or {}
    return int(next((figures[key] for key in (name, *more) if key in figures), 0))


# Platforms have different figures of XLA; the first one that is there counts.
_NOW = {"allocated": ("bytes_in_use",), "reserved": ("pool_bytes", "bytes_reserved", "bytes_in_use")}
_MOST = {
    "allocated": ("peak_bytes_in_use",),
    "reserved": ("peak_pool_bytes", "peak_bytes_reserved", "pool_bytes", "peak_bytes_in_use"),
}


def now(device: Any, what: str) -> int:
    """Bytes "allocated" or "reserved" just now."""
    value = stat(device, *_NOW[what])
    # Each question sees the present value, so the peak since a reset is at least that.
    if (device, what) in _Resets.peaks:
        base, seen = _Resets.peaks[device, what]
        _Resets.peaks[device, what] = base, max(seen, value)
    return value


def most(device: Any, what: str) -> int:
    """The most since the last reset. XLA counts since its start: while that peak has not been passed, the
    most that was seen when somebody asked."""
    peak = stat(device, *_MOST[what])
    value = now(device, what)
    if (device, what) not in _Resets.peaks:
        return max(peak, value)
    base, seen = _Resets.peaks[device, what]
    # XLA has counted a higher peak since the reset.
    if peak > base:
        return peak
    return seen


def reset(device: Any, what: str) -> None:
    """Restarts the count of the most."""
    _Resets.peaks[device, what] = stat(device, *_MOST[what]), stat(device, *_NOW[what])


def summary(device: Any) -> str:
    """A table of XLA's figures of a device, as text."""
    figures = device.memory_stats() or {}
    rows = [(key.replace("_", " "), f"{value:,}") for key, value in sorted(figures.items())]
    width = max([len(key) for key, _ in rows] + [20])
    return "\n".join(
        [
            f"Memory of {device.device_kind} ({device})",
            "-" * (width + 22),
            *[f"{key:<{width}}  {value:>20}" for key, value in rows],
        ]
    )


def properties(device: Any) -> Any:
    """Name, compute capability, memory in bytes and number of multiprocessors, as a named tuple."""
    return Properties(
        device.device_kind,
        *capability(device),
        stat(device, "bytes_limit"),
        int(getattr(device, "core_count", 0) or 0),
    )


def capability(device: Any) -> tuple[int, int]:
    """The compute capability, (major, minor)."""
    major, _, minor = str(getattr(device, "compute_capability", "0.0")).partition(".")
    return int(major), int(minor or 0)


def wait(device: Any) -> None:
    """Waits until everything started on a device is done."""
    run_pending("device.synchronize")
    # A device runs in order what it gets: after this everything before is done.
    jax.block_until_ready(jax.device_put(0, device) + 0)


def collect() -> None:
    """Frees what only dead Python objects hold; XLA keeps the memory in its pool."""
    gc.collect()
