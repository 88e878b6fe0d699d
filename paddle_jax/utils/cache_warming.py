"""`python -m paddle_jax warm script.py`: fills the persistent compile cache."""

from __future__ import annotations

import os
import pathlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

from paddle_jax._core.base.event_log import log
from paddle_jax._core.lazy.recording import change_settings
from paddle_jax._core.process import compile_cache
from paddle_jax._core.runner import background_compiler

_REPEATS = "2"  # runs of a sequence of operations, after which it is compiled


def warm(argv: Sequence[str], run: Callable[[list[str]], Any]) -> int:
    """The command `warm`: runs a script, and compiles all that recurs in it into the cache.

    A later run of the same program loads these programs early. Processes that the script starts do the same.

    Args:
        argv: the script and its arguments.
        run: function that runs a script with its arguments.
    Returns:
        0, or 2 where there is no script or no cache directory.
    """
    if not argv or not pathlib.Path(argv[0]).exists():
        print(f"python -m paddle_jax warm: got {list(argv)!r}; give the path of a script", file=sys.stderr)
        return 2
    directory = compile_cache.directory()
    if directory is None:
        print(
            "python -m paddle_jax warm: there is no cache to fill; set FLAGS_compile_cache to 'auto' or a "
            "directory of your own",
            file=sys.stderr,
        )
        return 2
    # for processes that the script starts
    os.environ["FLAGS_deferred_min_repeats"] = _REPEATS
    # in the background, as later: a program compiled in the foreground has other options of XLA
    change_settings(min_repeats=int(_REPEATS))
    try:
        run(list(argv))
    except SystemExit as end:
        # `sys.exit(0)` is a script's ordinary end.
        if end.code:
            raise
    finally:
        background_compiler.finish()
        _print_result(directory)
    return 0


def _print_result(directory: pathlib.Path) -> None:
    sizes = [entry.stat().st_size for entry in os.scandir(directory)]
    print(
        f"paddle_jax warm: {log.compiles} programs in {log.compile_seconds:.1f} s; the cache {directory} has "
        f"{len(sizes)} files of {sum(sizes) / 2**20:.1f} MiB",
        file=sys.stderr,
    )
