"""XLA's persistent compile cache: what one process compiled, the next one loads.

JAX keeps the cache; here is where it lies and how large it may grow. Entries are files named by what they
hold, so processes share them; one that is read while it is written is compiled anew by JAX. An entry is code
that will run, so a directory that somebody else could put one into is not used.
"""

import atexit
import contextlib
import hashlib
import logging
import os
import platform
import stat
import sys
from importlib import metadata
from pathlib import Path

import jax

from paddle_jax._core.base import flags

LIMIT = 1 << 30  # bytes a cache directory may hold when a process ends
FLAG = "FLAGS_compile_cache"
flags.declare("compile_cache", "auto", apply=None)


def folder() -> Path:
    """The cache directory: per user, jaxlib, Python and kind of CPU, since compiled code for the CPU uses its
    instruction set."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    kind = hashlib.sha256(_processor().encode()).hexdigest()[:8]
    python = f"py{sys.version_info.major}{sys.version_info.minor}"
    return root / "paddle_jax" / f"xla-{metadata.version('jaxlib')}-{python}-{platform.machine()}-{kind}"


def _processor():
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("flags", "Features")):
                return line
    return platform.processor()


def start():
    """Switches the cache on: FLAGS_compile_cache is "auto", "off", or a directory. What the user has told
    JAX itself stays."""
    choice = os.environ.get(FLAG, "auto")
    if (
        choice == "off"
        or jax.config.jax_compilation_cache_dir is not None
        or "JAX_ENABLE_COMPILATION_CACHE" in os.environ
    ):
        return
    try:
        path = folder() if choice == "auto" else Path(choice)
        _make(path)
        refusal = _refusal(path)
    except (OSError, RuntimeError):
        # no home directory, or one that cannot be written: everything works without
        return
    if refusal:
        logging.getLogger(__package__).warning(
            "%s: the compile cache %s is not used: %s", FLAG, path, refusal
        )
        return
    jax.config.update("jax_compilation_cache_dir", str(path))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    atexit.register(prune, path)


def _make(path):
    """Makes the directory, and what is missing above it, for the user alone."""
    missing = [p for p in (path, *path.parents) if not p.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def _refusal(path):
    """Why the entries of a directory cannot be trusted, or None."""
    found = path.stat()
    if not hasattr(os, "geteuid"):
        return None
    if found.st_uid != os.geteuid():
        return "it belongs to another user; name a directory of your own"
    if stat.S_IMODE(found.st_mode) & 0o022:
        return (
            "others may write it, and what they put there would run here; "
            "delete it, or empty it and chmod 700"
        )
    return None


def prune(path, limit=LIMIT):
    """Deletes the files longest not used until the directory holds no more than `limit` bytes."""
    files = []
    with contextlib.suppress(OSError):
        for entry in os.scandir(path):
            with contextlib.suppress(OSError):  # another process may be deleting, too
                stat = entry.stat()
                files.append((max(stat.st_atime, stat.st_mtime), stat.st_size, entry.path))
    excess = sum(size for _, size, _ in files) - limit
    for _, size, name in sorted(files):
        if excess <= 0:
            return
        with contextlib.suppress(OSError):
            Path(name).unlink()
            excess -= size
