"""What `python -m paddle_jax.distributed.launch` calls."""

import sys


def launch(argv=None) -> int:
    """Starts a program as several processes; returns the exit status, that of the first process that failed.

    Args:
        argv: list of str. Default: the arguments of the command line, sys.argv[1:].
    """
    from paddle_jax.distributed.launch import job

    return job.run(sys.argv[1:] if argv is None else argv)
