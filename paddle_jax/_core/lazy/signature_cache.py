"""What a process keeps of code, within bounds: signatures with their traces and plans, and compiled programs.

Signatures come in two generations. When a number of them have been met, those that were not used since the
generation before are dropped, and the kernels that have none left; who uses one of the older generation makes
it young again. So nothing is counted on the way of a hot operation. Where many of the dropped come back, the
program works with more signatures than a generation has room for, and the room is doubled.

An executable takes 1.6 to 8 MB and 6 to 25 memory maps, of which Linux allows a process 65 530 and LLVM ends
a process that has none left. So both are bounded, and looked at every _EVERY compilations: those used least
recently go, in small groups until the rest is within the bounds. Where most of those that went have been
compiled again since, the program uses more in turn than there is room for: the bound of memory is
doubled, twice at most.
"""

import contextlib
import functools as ft
import itertools
import weakref
from collections.abc import Callable
from pathlib import Path

import jax
from jax._src.interpreters.partial_eval import (
    trace_to_jaxpr,  # the public `clear_caches` forgets what is compiled, too
)

from paddle_jax._core.base.counters import Counters
from paddle_jax._core.base.event_log import log
from paddle_jax._core.base.interrupt_safe import CacheEpoch, InterruptSafeCall
from paddle_jax._core.lazy.aval import drop_unused_avals
from paddle_jax._core.lazy.settings import settings

_GENERATION = 1024  # combinations of op and shapes; each takes some 50 kB with its plan and JAX's traces
_MAX_GENERATION = 16 * _GENERATION
_MAX_DROPPED = 1 << 16
_SHARE = 0.6  # of the memory maps that the system allows
# memory that an executable takes for each memory map: 0.22 to 0.33 were measured for small and large ones
_MAP_MB = 0.3
_EXECUTABLE_MB = 1.6  # that it takes at least, also where its code lies on an accelerator
_EVERY = 64  # compilations from one look to the next
_AT_ONCE = 16  # programs that go together
_MAX_STRETCH = 4
DROPPED = -2  # when a kernel was last used, whose compiled forms have been dropped since


class Kept:
    """met: signatures in all. signatures: those of this generation, `again` of which had been dropped before.
    room: signatures of a generation. dropped: marks of those that were. due: at which number of compilations
    the bounds are looked at. maps: memory maps at the first look. kernels: weak references to all. owners:
    what keeps kernels, by attributes. went, returned: kernels whose programs were dropped the last time, and
    how many of them were compiled again. stretch: what the bound of memory is multiplied by. clear: functions
    that empty the caches of other modules. by_use: functions that list their programs."""

    went, returned, stretch = 0, 0, 1
    met, signatures, again, room, due, maps = 0, 0, 0, _GENERATION, 1, None
    dropped: set = set()
    kernels: dict = {}
    owners: list = []
    clear: list[Callable[[], None]] = []
    by_use: list[Callable[[], list[tuple[int, Callable[[], object]]]]] = []


def kept(kernel):
    """Says that a kernel exists."""
    Kept.kernels[weakref.ref(kernel, Kept.kernels.pop)] = None


def keeps(owner):
    """Says that an object keeps kernels: its `drop_idle(idle)` forgets those for which
    `idle(kernel)` is true."""
    Kept.owners.append(owner)


def register_cache(clear, by_use=None):
    """Makes a cache of compiled code known, so that it is emptied with all others.

    Args:
        clear: function that empties it.
        by_use: function that gives of each program (when it was last used, function that drops it).
    """
    Kept.clear.append(clear)
    if by_use is not None:
        Kept.by_use.append(by_use)


def met(kernel, avals):
    """Says that a kernel has been met with operands that are new to it."""
    Kept.met += 1
    Kept.signatures += 1
    Kept.again += _mark(kernel, avals) in Kept.dropped
    if Kept.signatures >= Kept.room:
        _age()
    watch()


def watch():
    """Looks at the bounds when enough programs have been compiled since the last time."""
    if Counters.compiled >= Kept.due:
        look()


def _mark(kernel, avals):
    return hash((kernel.name, *[(a.shape, a.dtype) for a in avals]))


def _age():
    if 4 * Kept.again > Kept.signatures and Kept.room < _MAX_GENERATION:
        Kept.room *= 2
        log.add(
            f"more than {2 * Kept.signatures} combinations of op and shapes are used in turn; "
            f"up to {2 * Kept.room} are kept from now on"
        )
    Kept.signatures = Kept.again = 0
    if len(Kept.dropped) > _MAX_DROPPED:
        Kept.dropped.clear()
    for kernel in _kernels():
        Kept.dropped.update([_mark(kernel, avals) for avals in kernel.older.copy()])
        kernel.age()
    for owner in [*Kept.owners, *_kernels()]:
        owner.drop_idle(_idle)
    # JAX keeps the traces of its own functions for ever; what is compiled stays
    if hasattr(trace_to_jaxpr, "cache_clear"):
        trace_to_jaxpr.cache_clear()
    drop_unused_avals()


def _kernels():
    return [kernel for kernel in [reference() for reference in list(Kept.kernels)] if kernel is not None]


def _idle(kernel):
    """Whether a kernel, and its gradients, have not been used since the generation began before this one, and
    are not compiled."""
    return not kernel.sigs and not kernel.older and kernel.used < 0 and all(map(_idle, kernel.grads.values()))


def look():
    """Drops compiled programs when there are too many; called when some have been compiled."""
    Kept.due = Counters.compiled + _EVERY
    if Kept.maps is None:
        Kept.maps = _maps()
    why = crowded()
    if why is None or _stretched():
        return
    Kept.went = Kept.returned = 0
    oldest, dropped = iter(_oldest_first()), 0
    for group in iter(ft.partial(_taken, oldest), []):
        for drop in group:
            drop()
        dropped += len(group)
        if crowded(0.8) is None:
            log.add(f"{dropped} compiled programs were dropped, the least recently used first: {why}")
            return
    forget(why)


def _stretched():
    """Whether it helps to allow more memory, where most of what was dropped is in use again."""
    if not 2 * Kept.returned > Kept.went > 0 or Kept.stretch >= _MAX_STRETCH:
        return False
    Kept.stretch *= 2
    Kept.went = Kept.returned = 0
    log.add(
        "compiled programs that were dropped are in use again; "
        f"they may take {Kept.stretch * settings.code_mb} MB from now on"
    )
    return crowded() is None


def _taken(items):
    return list(itertools.islice(items, _AT_ONCE))


def _oldest_first():
    """What drops each compiled program, the least recently used first."""
    found = [
        *[(kernel.used, kernel.drop_compiled) for kernel in _kernels() if kernel.used >= 0],
        *[
            (once.used, once.drop_compiled)
            for once in list(InterruptSafeCall.instances)
            if once.used >= 0 and once.tier != "segment"
        ],  # segments are among the programs
        *[entry for by_use in Kept.by_use for entry in by_use()],
    ]
    return [drop for _, drop in sorted(found, key=lambda each: each[0])]


def crowded(share=1.0):
    """Why the compiled programs are too many: None, or a text. share: of the bounds, below
    which they are not."""
    maps, allowed = _maps(), _allowed_maps()
    if maps > share * _SHARE * allowed:
        return "the process has few memory maps left"
    megabytes = max(
        _EXECUTABLE_MB * len(jax.devices()[0].client.live_executables()),
        _MAP_MB * (maps - (Kept.maps or maps)),
    )
    if settings.code_mb and megabytes > share * Kept.stretch * settings.code_mb:
        return f"they take more than FLAGS_compiled_code_in_mb = {settings.code_mb}" + (
            f" x {Kept.stretch}" if Kept.stretch > 1 else ""
        )
    return None


def _maps():
    """The memory maps of the process; 0 where the system does not tell."""
    with contextlib.suppress(OSError):
        return Path("/proc/self/maps").read_bytes().count(b"\n")
    return 0


@ft.cache
def _allowed_maps():
    with contextlib.suppress(OSError, ValueError):
        return int(Path("/proc/sys/vm/max_map_count").read_bytes())
    return 1 << 62


def forget(why):
    """Drops all compiled code, that of the program's own `jax.jit` too."""
    for clear in Kept.clear:
        clear()
    CacheEpoch.number += 1
    jax.clear_caches()
    log.add(f"all compiled code was dropped: {why}")
