"""What `python -m paddle_jax.distributed.launch` calls."""

import sys

from paddle_jax import _paths
from paddle_jax._launch import job


def launch(argv: list[str] | None = None) -> int:
    """Starts a program as several processes; returns the exit status, that of the first process that failed.

    Args:
        argv: list of str. Default: the arguments of the command line, sys.argv[1:].
    Returns:
        int, the exit status.
    Example:
        >>> with open("program.py", "w") as file:
        ...     _ = file.write("import os; print(os.environ['PADDLE_TRAINER_ID'], 'of 2')")
        >>> from paddle_jax.distributed import launch
        >>> launch(["--nproc_per_node", "2", "program.py"])
        0
        >>> with open("log/workerlog.1") as file:
        ...     file.read().strip()
        '1 of 2'
    """
    return job.run(sys.argv[1:] if argv is None else argv, alias=_paths.Paths.root == "paddle")
