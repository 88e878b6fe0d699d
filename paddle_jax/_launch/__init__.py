"""The launcher of programs of several processes. It needs the standard library alone, so it starts at once.

`python -m paddle_jax.distributed.launch` and `fleetrun` import the package before they run. The package asks
`run_when_asked` first thing, which runs the launcher in place of importing everything else.
"""

import pathlib
import sys

_MODULE = "paddle_jax.distributed.launch"
_ALIAS = ["-m", "paddle_jax", "-m", "paddle.distributed.launch"]


def run_when_asked() -> None:
    """Runs the launcher and ends the process, if that is what this process was started for."""
    words = sys.orig_argv[1:]
    while words and words[0].startswith("-") and words[0] not in ("-m", "-c"):
        words.pop(0)  # options of Python, such as -u
    program = pathlib.Path(sys.argv[0]).name if sys.argv else ""
    if words[:2] == ["-m", _MODULE]:
        arguments = words[2:]
        alias = False
    elif words[:4] == _ALIAS:
        arguments = words[4:]
        alias = True
    elif program == "fleetrun":
        arguments = sys.argv[1:]
        alias = True
    else:
        return
    from paddle_jax._launch import job  # lazy: import time, this is asked at every import of the package

    sys.exit(job.run(arguments, alias))


def fleetrun() -> int:
    """What the console script calls; `run_when_asked` has ended the process before."""
    from paddle_jax._launch import job  # lazy: import time

    return job.run(sys.argv[1:], alias=True)
