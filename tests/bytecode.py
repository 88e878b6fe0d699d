"""Where the suite keeps compiled Python code."""

import os
import sys
from pathlib import Path


def allow(folder: Path) -> None:
    """Lets this process and its children keep bytecode in a folder, where the environment forbids bytecode.

    The suite starts hundreds of processes that import the package, JAX and Paddle. Each would compile
    thousands of files again, which takes longer than its test. Nothing is written beside the sources.
    """
    if not sys.dont_write_bytecode:
        return
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if sys.pycache_prefix is None:
        sys.pycache_prefix = str(folder)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
