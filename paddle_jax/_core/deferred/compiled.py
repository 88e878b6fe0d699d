"""How much compiled code a process may hold.

An executable takes about 1.6 MB and 6 to 40 memory maps, of which Linux allows a process 65 530; LLVM ends a process that has none left. So the maps
are counted now and then, and before they run out the programs used least recently go, then everything.
"""

import contextlib
import itertools
from pathlib import Path

import jax

from paddle_jax._core.deferred.log import log
from paddle_jax._core.uninterrupted import Epoch

_MAX_SIGNATURES = 4096  # combinations of op and shapes, whose traces JAX keeps
_SHARE = 0.6  # of the memory maps that the system allows
_EVERY = 64  # signatures and programs from one count to the next


class _Code:
    """signatures: met since everything was last dropped. notes: what was met or compiled in all."""

    signatures = 0
    notes = itertools.count(1)


def noted(signature=False):
    """Says that a program has been compiled, or a combination of op and shapes met, most of which are not compiled."""
    if signature:
        _Code.signatures += 1
        if _Code.signatures >= _MAX_SIGNATURES:
            forget(f"{_MAX_SIGNATURES} combinations of op and shapes have been met")
    if next(_Code.notes) % _EVERY == 0 and crowded():
        from paddle_jax._core.deferred import program

        program.drop_oldest()
        if crowded():
            forget("the process has few memory maps left")


def crowded() -> bool:
    """Whether the process uses most of the memory maps it may have; never, where the system does not tell."""
    with contextlib.suppress(OSError, ValueError):
        allowed = int(Path("/proc/sys/vm/max_map_count").read_bytes())
        return Path("/proc/self/maps").read_bytes().count(b"\n") > _SHARE * allowed
    return False


def forget(why):
    """Drops all compiled code."""
    from paddle_jax._core.deferred import program

    _Code.signatures = 0
    program.clear()
    Epoch.number += 1
    jax.clear_caches()
    log.add(f"all compiled code was dropped: {why}")
