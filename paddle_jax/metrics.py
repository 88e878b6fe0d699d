"""What the process has done, for people who watch many: steps, compilations, memory, waiting. See
docs/metrics.md."""

import json

from paddle_jax._core.process.metrics import snapshot, start, stop
from paddle_jax.framework.atomic import replace_file

__all__ = ["snapshot", "start", "stop", "write"]


def write(path):
    """Writes a snapshot as a JSON file, whole or not at all.

    Args:
        path: str or Path, the file.
    Returns:
        None.
    Example:
        >>> from paddle_jax import metrics
        >>> metrics.write("metrics.json")
    """
    with replace_file(path) as stream:
        stream.write(f"{json.dumps(snapshot(), indent=1)}\n".encode())
