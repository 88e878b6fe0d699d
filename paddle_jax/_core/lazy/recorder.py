"""The extension module of the C files beside this one, where the installation could build it."""

from __future__ import annotations

import importlib
import os
import warnings
from typing import Any

# as in recorder.c; raised with each change of the C files, since an older build may be beside it
_INTERFACE = 12


def _built() -> Any:
    """The extension module; None where there is none, or where `PADDLE_JAX_PURE_PYTHON` is set."""
    if os.environ.get("PADDLE_JAX_PURE_PYTHON", "0") not in ("", "0"):
        return None
    try:
        module = importlib.import_module("paddle_jax._core.lazy._recorder")
    except ImportError:  # a pure wheel, or no compiler where it was installed
        return None
    if module.INTERFACE != _INTERFACE:
        warnings.warn(
            f"{module.__file__} was built from another version of the source, so Python code runs instead; "
            "build it again with `python hatch_build.py`, or install the package again",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return module


extension: Any = _built()
