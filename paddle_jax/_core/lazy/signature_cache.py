"""Bounds the compiled code, and the signatures with their traces, that a process keeps.

Signatures come in two generations. After a number of new signatures, those that were not used since the
generation before are dropped, and the kernels that have none left. Using one of the older generation makes it
young again. So a hot operation counts nothing. If many of the dropped ones come back, the program works with
more signatures than a generation has room for. The generations get twice as large as long as two of them are
within _SIGNATURE_BYTES. Beyond that they grow only if nearly all come back. A network that is asked for ever
other widths gets some again, since two widths give one after a stride of two. It need not keep them.

An executable takes 1.6 to 8 MB and 6 to 25 memory maps. Linux allows a process 65 530 of them, and LLVM ends
a process that has none left. So both are bounded, and checked every _CHECK_INTERVAL compilations. The
programs used least recently go, in small groups, until the rest is within the bounds. If most of those that
went have been compiled again since, the program uses more in turn than there is room for, and the bound of
memory is doubled, twice at most.
"""

from __future__ import annotations

import contextlib
import functools as ft
import itertools
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import jax
from jax._src.interpreters.partial_eval import (
    trace_to_jaxpr,  # the public `clear_caches` forgets what is compiled, too
)

from paddle_jax._core.base.counters import Counters
from paddle_jax._core.base.event_log import log
from paddle_jax._core.base.interrupt_safe import CacheEpoch, InterruptSafeCall
from paddle_jax._core.lazy.aval import Aval, drop_unused_avals
from paddle_jax._core.lazy.settings import settings

if TYPE_CHECKING:
    from paddle_jax._core.kernels.kernel import Kernel

_GENERATION = 1024  # combinations of op and shapes
_SIGNATURE_BYTES = 64 << 20  # for all of them, with their plans
_BYTES = 2048  # that one takes about
_EQUATION_BYTES = 1024  # and each of its equations
_MAX_GENERATION = 16 * _GENERATION
_MAX_DROPPED = 1 << 16
_MAP_SHARE = 0.6  # of the memory maps that the system allows
# memory that an executable takes for each memory map: 0.22 to 0.33 were measured for small and large ones
_MAP_MB = 0.3
_EXECUTABLE_MB = 1.6  # that it takes at least, also where its code is on an accelerator
_CHECK_INTERVAL = 64  # compilations from one check to the next
_GROUP_SIZE = 16  # programs that are dropped together
_MAX_MEMORY_FACTOR = 4
DROPPED = -2  # `Kernel.last_used` of a kernel whose compiled forms have been dropped


class KernelOwner(Protocol):
    """An object that keeps kernels."""

    def drop_idle(self, is_idle: Callable[[Kernel], bool]) -> None:
        """Forgets the kernels for which `is_idle` is true."""


class SignatureCache:
    """What is known of all signatures and programs of the process.

    Attributes:
        total_signatures: int, signatures so far.
        generation_signatures: int, signatures of this generation.
        generation_bytes: int, what they take about.
        returning_signatures: int, those of them that had been dropped before.
        generation_size: int, signatures that a generation has room for.
        dropped_fingerprints: set of the fingerprints of dropped signatures.
        next_check: int, number of compilations at which the bounds are checked next.
        initial_memory_maps: int, memory maps of the process at the first check; None before.
        dropped_programs: int, kernels whose programs were dropped the last time.
        recompiled_programs: int, those of them that were compiled again since.
        memory_factor: int, what the bound of memory is multiplied by.
        kernels: dict with weak references to all kernels as keys.
        owners: list of objects that keep kernels by their attributes.
        clear_functions: list of functions that empty the caches of other modules.
        list_functions: list of functions that give (last use, function that drops it) of each program.
    """

    total_signatures = 0
    generation_signatures = 0
    generation_bytes = 0
    returning_signatures = 0
    generation_size = _GENERATION
    dropped_fingerprints: set[int] = set()
    next_check = 1
    initial_memory_maps: int | None = None
    dropped_programs = 0
    recompiled_programs = 0
    memory_factor = 1
    kernels: dict[weakref.ref[Kernel], None] = {}
    owners: list[KernelOwner] = []
    clear_functions: list[Callable[[], None]] = []
    list_functions: list[Callable[[], list[tuple[int, Callable[[], object]]]]] = []


def register_kernel(kernel: Kernel) -> None:
    """Makes a kernel known, as long as somebody refers to it."""
    SignatureCache.kernels[weakref.ref(kernel, SignatureCache.kernels.pop)] = None


def register_owner(owner: KernelOwner) -> None:
    """Makes an object known that keeps kernels."""
    SignatureCache.owners.append(owner)


def register_cache(
    clear: Callable[[], None],
    programs_by_use: Callable[[], list[tuple[int, Callable[[], object]]]] | None = None,
) -> None:
    """Makes a cache of compiled code known, so that it is emptied with all others.

    Args:
        clear: function that empties it.
        programs_by_use: function that gives of each program (last use, function that drops it).
    """
    SignatureCache.clear_functions.append(clear)
    if programs_by_use is not None:
        SignatureCache.list_functions.append(programs_by_use)


def note_signature(kernel: Kernel, avals: tuple[Aval, ...], equation_count: int) -> None:
    """Counts a kernel that is called with operands that are new to it."""
    SignatureCache.total_signatures += 1
    SignatureCache.generation_signatures += 1
    SignatureCache.generation_bytes += _BYTES + _EQUATION_BYTES * equation_count
    SignatureCache.returning_signatures += _fingerprint(kernel, avals) in SignatureCache.dropped_fingerprints
    if SignatureCache.generation_signatures >= SignatureCache.generation_size:
        _start_generation()
    evict_if_due()


def evict_if_due() -> None:
    """Checks the bounds if enough programs have been compiled since the last time."""
    if Counters.compiled >= SignatureCache.next_check:
        evict_if_over_budget()


def _fingerprint(kernel: Kernel, avals: tuple[Aval, ...]) -> int:
    return hash((kernel.name, *[(aval.shape, aval.dtype) for aval in avals]))


def _is_too_small() -> bool:
    """Whether so many dropped signatures came back that generations should be twice as large."""
    if SignatureCache.generation_size >= _MAX_GENERATION:
        return False
    returning_share = SignatureCache.returning_signatures / SignatureCache.generation_signatures
    # this generation and the one before are kept, and both would be twice as large
    if 4 * SignatureCache.generation_bytes <= _SIGNATURE_BYTES:
        return returning_share > 0.25
    return returning_share > 0.9


def _start_generation() -> None:
    size = SignatureCache.generation_signatures
    if _is_too_small():
        SignatureCache.generation_size *= 2
        log.add(
            f"more than {2 * size} combinations of op and shapes are used in turn; "
            f"up to {2 * SignatureCache.generation_size} are kept from now on"
        )
    SignatureCache.generation_signatures = 0
    SignatureCache.generation_bytes = 0
    SignatureCache.returning_signatures = 0
    # Old fingerprints would fill the memory of a long run.
    if len(SignatureCache.dropped_fingerprints) > _MAX_DROPPED:
        SignatureCache.dropped_fingerprints.clear()
    for kernel in _kernels():
        SignatureCache.dropped_fingerprints.update(
            [_fingerprint(kernel, avals) for avals in kernel.older_signatures.copy()]
        )
        kernel.start_generation()
    for owner in [*SignatureCache.owners, *_kernels()]:
        owner.drop_idle(_is_idle)
    # JAX keeps the traces of its own functions for ever; what is compiled stays
    if hasattr(trace_to_jaxpr, "cache_clear"):
        trace_to_jaxpr.cache_clear()
    drop_unused_avals()


def _kernels() -> list[Kernel]:
    kernels = [reference() for reference in list(SignatureCache.kernels)]
    return [kernel for kernel in kernels if kernel is not None]


def _is_idle(kernel: Kernel) -> bool:
    """Whether a kernel, and its gradients, have not been used since the generation before this one began, and
    are not compiled."""
    if kernel.signatures or kernel.older_signatures or kernel.last_used >= 0:
        return False
    return all(map(_is_idle, kernel.grads.values()))


def evict_if_over_budget() -> None:
    """Drops compiled programs if there are too many."""
    SignatureCache.next_check = Counters.compiled + _CHECK_INTERVAL
    maps = _count_memory_maps()
    # Libraries have maps, too; only later ones count as those of programs.
    if SignatureCache.initial_memory_maps is None:
        SignatureCache.initial_memory_maps = maps
    reason = over_budget(maps=maps)
    if reason is None or _raise_memory_limit():
        return
    SignatureCache.dropped_programs = 0
    SignatureCache.recompiled_programs = 0
    oldest = iter(_oldest_first())
    dropped = 0
    for group in iter(ft.partial(_next_group, oldest), []):
        for drop in group:
            drop()
        dropped += len(group)
        # A little below the limit, so that the next programs do not exceed it at once.
        if over_budget(0.8) is None:
            log.add(f"{dropped} compiled programs were dropped, the least recently used first: {reason}")
            return
    drop_all(reason)


def _raise_memory_limit() -> bool:
    """Allows more memory if most of what was dropped is in use again; returns whether that is enough."""
    if not 2 * SignatureCache.recompiled_programs > SignatureCache.dropped_programs > 0:
        return False
    if SignatureCache.memory_factor >= _MAX_MEMORY_FACTOR:
        return False
    SignatureCache.memory_factor *= 2
    SignatureCache.dropped_programs = 0
    SignatureCache.recompiled_programs = 0
    log.add(
        "compiled programs that were dropped are in use again; "
        f"they may take {SignatureCache.memory_factor * settings.code_mb} MB from now on"
    )
    return over_budget() is None


def _next_group(functions: Iterator[Callable[[], object]]) -> list[Callable[[], object]]:
    return list(itertools.islice(functions, _GROUP_SIZE))


def _oldest_first() -> list[Callable[[], object]]:
    """The function that drops each compiled program, the least recently used first."""
    entries: list[tuple[int, Callable[[], object]]] = [
        (kernel.last_used, kernel.drop_compiled) for kernel in _kernels() if kernel.last_used >= 0
    ]
    for call in list(InterruptSafeCall.instances):
        if call.used >= 0 and call.tier != "segment":  # compiled segments come from `list_functions`
            entries.append((call.used, call.drop_compiled))
    for list_programs in SignatureCache.list_functions:
        entries += list_programs()
    return [drop for _, drop in sorted(entries, key=_last_use)]


def _last_use(entry: tuple[int, Any]) -> int:
    return entry[0]


def over_budget(share: float = 1.0, maps: int | None = None) -> str | None:
    """Why the compiled programs are too many, as a text; None if they are not.

    Args:
        share: the part of the bounds that they may use.
        maps: number of the memory maps; default: they are counted, which takes milliseconds.
    """
    if maps is None:
        maps = _count_memory_maps()
    if maps > share * _MAP_SHARE * _allowed_memory_maps():
        return "the process has few memory maps left"
    executables = len(jax.devices()[0].client.live_executables())
    new_maps = maps - (SignatureCache.initial_memory_maps or maps)
    megabytes = max(_EXECUTABLE_MB * executables, _MAP_MB * new_maps)
    if settings.code_mb and megabytes > share * SignatureCache.memory_factor * settings.code_mb:
        if SignatureCache.memory_factor > 1:
            factor = f" x {SignatureCache.memory_factor}"
        else:
            factor = ""
        return f"they take more than FLAGS_compiled_code_in_mb = {settings.code_mb}{factor}"
    return None


def _count_memory_maps() -> int:
    """The memory maps of the process; 0 where the system has no list of them."""
    with contextlib.suppress(OSError):
        return Path("/proc/self/maps").read_bytes().count(b"\n")
    return 0


@ft.cache
def _allowed_memory_maps() -> int:
    with contextlib.suppress(OSError, ValueError):
        return int(Path("/proc/sys/vm/max_map_count").read_bytes())
    return 1 << 62


def drop_all(reason: str) -> None:
    """Drops all compiled code, that of the program's own `jax.jit` too."""
    for clear in SignatureCache.clear_functions:
        clear()
    CacheEpoch.number += 1
    jax.clear_caches()
    log.add(f"all compiled code was dropped: {reason}")
