"""Whether IPython runs the program, and whether it shows pictures."""

from __future__ import annotations

import sys
from typing import Any


def running_shell() -> Any:
    """IPython's shell that runs this program, or None."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    if get_ipython is None:  # IPython is not there, or is being imported
        return None
    return get_ipython()


def is_notebook() -> bool:
    """Whether a kernel of Jupyter runs the program, so that cells show HTML and pictures."""
    return getattr(running_shell(), "kernel", None) is not None
