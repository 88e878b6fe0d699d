"""Spares the import of JAX the metadata of every installed package."""

import contextlib
import importlib.metadata
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution
from typing import Any

# The module of JAX that looks for the plugin of ROCm.
_READER = "jax._src.numpy.array_constructors"


@contextlib.contextmanager
def quick_plugin_search() -> Iterator[None]:
    """Within it JAX looks for its plugin for ROCm among folders that may be it.

    JAX reads the name of each installed package from a file: a tenth of the time of `import jax` for 130
    packages. The name of a package's folder shows as much. Other callers get all packages.
    """
    find = importlib.metadata.distributions

    def distributions(**conditions: Any) -> Iterable[Distribution]:
        found = find(**conditions)
        # Only JAX's search is narrowed.
        if sys._getframe(1).f_globals.get("__name__") != _READER:
            return found
        return (one for one in found if _may_be_rocm(one))

    importlib.metadata.distributions = distributions
    try:
        yield
    finally:
        importlib.metadata.distributions = find


def _may_be_rocm(distribution: Distribution) -> bool:
    """Whether JAX has to read the package's name: its folder names ROCm, or has an unusual form."""
    # Paths of the standard library alone have a folder; other finders give what has no `_path`.
    folder = getattr(getattr(distribution, "_path", None), "name", "")
    return not folder.endswith(".dist-info") or "rocm" in folder.lower()
