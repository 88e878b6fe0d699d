"""The exception for a lack of memory.

Class and kind are Paddle's. The message lists the largest live Tensors with their lines, and advice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import jax

from paddle_jax._core.base.counters import Counters

_WORDS = ("RESOURCE_EXHAUSTED", "Out of memory")
# Devices differ: `allocating 4096 bytes`, `allocate 1.5GiB`.
_SIZE = re.compile(r"allocat\w*\s+(\d[\d.]*)\s?([KMGT]i?B|bytes)?")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class MemoryDetails(NamedTuple):
    """Lines that a part of the package adds to the message.

    Attributes:
        facts: list of str, below the first line.
        advice: list of str, the first entries of the list of advice.
    """

    facts: list[str]
    advice: list[str]


# functions that give MemoryDetails; tensors/memory_report.py adds the largest Tensors
detail_providers: list[Callable[[], MemoryDetails]] = []


class OutOfMemoryError(MemoryError):
    """There is no memory for a result. Paddle raises MemoryError."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception of JAX, XLA or NumPy says that there is no memory."""
    if isinstance(error, MemoryError):
        return not isinstance(error, OutOfMemoryError)
    if type(error) is ValueError:  # jaxlib raises it where the memory for the result itself is missing
        return str(error).startswith(_WORDS[0])
    return isinstance(error, jax.errors.JaxRuntimeError) and any(word in str(error) for word in _WORDS)


def as_out_of_memory(
    error: Exception, doing: str, values: Sequence[Any] = (), more: Iterable[str] = ()
) -> Exception:
    """The exception to raise for one that came up while `doing` (an operation in words).

    It is an OutOfMemoryError where there was no memory, else `error`.
    """
    if is_out_of_memory(error):
        return out_of_memory(doing, error, values, more)
    return error


def out_of_memory(
    doing: str, error: BaseException, values: Sequence[Any] = (), more: Iterable[str] = ()
) -> OutOfMemoryError:
    """The exception for a lack of memory.

    Args:
        doing: the operation in words.
        error: the exception of JAX, XLA or NumPy.
        values: the operands, as far as they are known.
        more: lines above those about live Tensors.
    """
    Counters.failed_allocations += 1
    size = _requested_size(str(error))
    wanted = "" if size is None else f" for {format_bytes(size)}"
    operands = ", ".join(f"{v.dtype}{list(v.shape)}" for v in values if hasattr(v, "shape"))
    got = f"; got {operands}" if operands else ""
    head = f"(ResourceExhausted) {doing}: there is no memory{wanted}{got}; {_device_use()}"
    try:
        return OutOfMemoryError("\n".join([head, *more, *_report()]))
    except MemoryError:  # for the report itself
        return OutOfMemoryError(head)


def _requested_size(text: str) -> int | None:
    """The number of bytes that a message of XLA names, or None."""
    match = _SIZE.search(text)
    if match is None:
        return None
    # A number without a unit counts bytes.
    unit = (match[2] or "b")[0]
    return int(float(match[1].rstrip(".")) * _UNITS.get(unit, 1))


def format_bytes(size: int) -> str:
    """A number of bytes in the largest unit that it fills."""
    for unit, one in reversed(_UNITS.items()):
        if size >= one:
            return f"{size / one:.1f} {unit}iB"
    return f"{size} bytes"


def _device_use() -> str:
    """A sentence about the memory of the current device that is in use."""
    default = jax.config.jax_default_device  # pyright: ignore[reportAttributeAccessIssue]
    device = default or jax.local_devices()[0]
    figures = getattr(device, "memory_stats", lambda: None)() or {}
    if "bytes_limit" not in figures:
        return "this machine, or the limit of this process, has no more"
    return (
        f"{format_bytes(figures.get('bytes_in_use', 0))} of the {format_bytes(figures['bytes_limit'])} "
        f"that this program may use of {device} are in use"
    )


def _report() -> Iterator[str]:
    """The lines below the first one."""
    details = [provider() for provider in detail_providers]
    for detail in details:
        yield from detail.facts
    yield "What helps, best first (docs/memory.md):"
    for detail in details:
        yield from detail.advice
    yield (
        "- smaller batches, with opt.step() after several backward passes; "
        "paddle.amp.auto_cast halves what a forward pass keeps"
    )
    yield (
        "- paddle.distributed.fleet.utils.recompute(block, x) keeps only the input of a block; "
        "`del` what is not needed any more"
    )
    yield (
        "- paddle_jax.distributed.plan(step, *args) tells what a step will need before it runs; "
        "python -X tracemalloc=20 gives every line"
    )
