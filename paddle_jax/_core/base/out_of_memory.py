"""No memory: what the exception says. Class and kind are Paddle's; besides, the largest live Tensors with
their lines, and what helps."""

import re

import jax

from paddle_jax._core.base.counters import Counters

_WORDS = ("RESOURCE_EXHAUSTED", "Out of memory")
_SIZE = re.compile(r"allocat\w*\s+(\d[\d.]*)\s?([KMGT]i?B|bytes)?")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_LISTED = 8  # groups of Tensors


class OutOfMemoryError(MemoryError):
    """There is no memory for a result. Paddle raises MemoryError."""


def exhausted(error) -> bool:
    """Whether an exception of JAX, XLA or NumPy says that there is no memory."""
    if isinstance(error, MemoryError):
        return not isinstance(error, OutOfMemoryError)
    if type(error) is ValueError:  # what jaxlib raises where the memory for the result itself is missing
        return str(error).startswith(_WORDS[0])
    return isinstance(error, jax.errors.JaxRuntimeError) and any(word in str(error) for word in _WORDS)


def told_as_memory(error, doing, values=(), more=()):
    """The exception to raise for one that came up while `doing` (an operation in words): ours where there was
    no memory, else the same."""
    return out_of_memory(doing, error, values, more) if exhausted(error) else error


def out_of_memory(doing, error, values=(), more=()):
    """The exception for a lack of memory. values: the operands, as far as they are known. more: lines that
    are told before the live Tensors."""
    Counters.failed += 1
    size = _size(str(error))
    wanted = "" if size is None else f" for {readable(size)}"
    given = ", ".join(f"{v.dtype}{list(v.shape)}" for v in values if hasattr(v, "shape"))
    head = (
        f"(ResourceExhausted) {doing}: there is no memory{wanted}{f'; got {given}' if given else ''}; "
        f"{_place()}"
    )
    try:
        return OutOfMemoryError("\n".join([head, *more, *_report()]))
    except MemoryError:  # for the report itself
        return OutOfMemoryError(head)


def _size(text):
    found = _SIZE.search(text)
    if found is None:
        return None
    return int(float(found[1].rstrip(".")) * _UNITS.get((found[2] or "b")[0], 1))


def readable(size) -> str:
    """Bytes in words."""
    for unit, one in reversed(_UNITS.items()):
        if size >= one:
            return f"{size / one:.1f} {unit}iB"
    return f"{size} bytes"


def _place():
    """How much of the current device is in use."""
    device = jax.config.jax_default_device or jax.local_devices()[0]
    figures = getattr(device, "memory_stats", lambda: None)() or {}
    if "bytes_limit" not in figures:
        return "this machine, or the limit of this process, has no more"
    return (
        f"{readable(figures.get('bytes_in_use', 0))} of the {readable(figures['bytes_limit'])} that this "
        f"program may use of {device} are in use"
    )


def _report():
    """The lines below the first one."""
    from paddle_jax._core.tensors.memory_report import live_tensors

    found = live_tensors(_LISTED)
    if found.tensors:
        yield f"The largest of {found.tensors} live tensors, which hold {readable(found.nbytes)}:"
        yield from repr(found).splitlines()[1:]
    yield "What helps, best first (docs/memory.md):"
    kept = sum(group.kept for group in found)
    if kept:
        yield (
            f"- {readable(kept)} are kept for backward passes: keep loss.item() or loss.detach() instead "
            "of a loss, evaluate under paddle.no_grad()"
        )
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
