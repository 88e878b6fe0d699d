"""Finds out quickly whether JAX's search for plugins would find nothing.

JAX reads the descriptions of all installed packages with `importlib.metadata`, 3 ms for a hundred of them,
which is a tenth of a small program. Here their files are searched for the name of the group alone, in 1 ms.
Whatever is not an ordinary directory of packages, and whatever mentions plugins, is left to JAX.
"""

from __future__ import annotations

import importlib.machinery
import os
import pkgutil
import sys
from typing import Any

from jax._src import xla_bridge

_GROUP = b"jax_plugins"
_SUFFIXES = (".dist-info", ".egg-info")


def none_installed() -> bool:
    """Whether nothing on this machine says that it is a plugin of JAX's; False where that is not certain."""
    folder = xla_bridge.jax_plugins  # pyright: ignore[reportPrivateImportUsage]
    return (
        not os.environ.get("PJRT_NAMES_AND_LIBRARY_PATHS")
        and all(map(_is_usual, sys.meta_path))
        and not (folder and any(pkgutil.iter_modules(folder.__path__)))
        and not any(map(_may_have_plugin, sys.path))
    )


def _is_usual(finder: Any) -> bool:
    """Whether an importer finds packages in directories, or their descriptions not at all."""
    return finder is importlib.machinery.PathFinder or not hasattr(finder, "find_distributions")


def _may_have_plugin(root: str) -> bool:
    """Whether an entry of `sys.path` may hold the description of a plugin."""
    try:
        with os.scandir(root or ".") as entries:
            packages = [entry.path for entry in entries if entry.name.lower().endswith(_SUFFIXES)]
    except FileNotFoundError:
        return False
    except (OSError, TypeError, ValueError):  # an archive, or what only an importer of its own understands
        return True
    return root.lower().endswith(".egg") or any(map(_names_plugin_group, packages))


def _names_plugin_group(package: str) -> bool:
    try:
        file = os.open(f"{package}/entry_points.txt", os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        # A file that cannot be read may name it.
        return True
    with os.fdopen(file, "rb", 0) as text:
        return _GROUP in text.read()
