"""Builds the extension module of the C files in `paddle_jax/_core/lazy`, where a C compiler is at hand.

Without one, or with `PADDLE_JAX_PURE_PYTHON=1`, the wheel is a pure one: the package has the same in Python.
`pip install -e .` builds it in place, and so does `python hatch_build.py` where setuptools and hatchling are.
"""

import os
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = (
    "paddle_jax/_core/lazy/recorder.c",
    "paddle_jax/_core/lazy/interpreter.c",
    "paddle_jax/_core/lazy/random_words.c",
)
MODULE = "paddle_jax._core.lazy._recorder"


class ExtensionHook(BuildHookInterface):
    """Adds the extension module to a wheel, and builds it in place for an editable installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before the wheel is made. version: "standard" or "editable"."""
        if self.target_name != "wheel" or not is_wanted():
            return
        root = Path(self.root)
        try:
            target = build(root)
        except Exception as error:  # setuptools has a dozen classes for a compiler that is missing or fails
            self.app.display_warning(f"no extension module, the package is pure Python: {error}")
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["artifacts"].append(str(target.relative_to(root)))


def is_wanted() -> bool:
    """Whether an extension module can be of use: it relies on the lock of the interpreter."""
    is_free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    return os.environ.get("PADDLE_JAX_PURE_PYTHON", "0") in ("", "0") and not is_free_threaded


def build(root: Path) -> Path:
    """Compiles the sources into an extension module beside them, and returns its file."""
    # Without setuptools, as in a build that is not isolated, the package can still be pure Python.
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    target = root / (MODULE.replace(".", "/") + sysconfig.get_config_var("EXT_SUFFIX"))
    with tempfile.TemporaryDirectory() as folder:
        # Without debugging information, which names folders, a second build gives the same bytes.
        flags = [] if sys.platform == "win32" else ["-g0"]
        sources = [str(root / source) for source in SOURCES]
        extension = Extension(MODULE, sources, extra_compile_args=flags)
        distribution = Distribution({"ext_modules": [extension]})
        command = build_ext(distribution)
        command.build_lib = folder
        command.build_temp = folder
        command.ensure_finalized()
        command.run()
        built = Path(folder) / command.get_ext_filename(MODULE)
        # A process may have the old file loaded, so it is replaced, not written into.
        target.unlink(missing_ok=True)
        target.write_bytes(built.read_bytes())
    return target


if __name__ == "__main__":
    print(build(Path(__file__).parent))
