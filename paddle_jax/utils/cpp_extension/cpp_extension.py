"""Compiling custom operators at the first use (`load`) or at installation (`setup`)."""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddle_jax.utils.cpp_extension.calls import functions
from paddle_jax.utils.cpp_extension.extension_utils import (
    build_of,
    checked,
    compile_library,
    compiler,
    find_cuda_home,
    get_build_directory,
)
from paddle_jax.utils.cpp_extension.library import opened

if TYPE_CHECKING:
    from paddle_jax.utils.cpp_extension.build import BuildExtension


__all__ = []


def __getattr__(name: str) -> str | type[BuildExtension]:
    """The command of setuptools, which takes as long to import as half of this package and is for
    installations only; the folder of CUDA."""
    if name == "CUDA_HOME":
        return find_cuda_home()
    if name == "BuildExtension":
        _need_setuptools()
        from paddle_jax.utils.cpp_extension.build import BuildExtension  # lazy: setuptools is optional

        return BuildExtension
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def module_of(name: Any, path: Any) -> Any:
    """{name: function} of the operators in a library."""
    return functions(opened(Path(path).resolve()))


def load(
    name: str,
    sources: Any,
    extra_cxx_cflags: Any = None,
    extra_cuda_cflags: Any = None,
    extra_ldflags: Any = None,
    extra_include_paths: Any = None,
    extra_library_paths: Any = None,
    build_directory: str | None = None,
    verbose: Any = False,
) -> types.ModuleType:
    """Compiles C++ files with custom operators and gives a module with a function for each of them.

    The files include `paddle/extension.h` and declare operators with PD_BUILD_OP, PD_BUILD_GRAD_OP and
    PD_BUILD_DOUBLE_GRAD_OP. A function takes the inputs and then the attributes. Operators run eagerly and in
    compiled functions, on CPUs. What is compiled is kept, and compiled again when a file, a header beside it,
    or an option changes.

    Args:
        name: str, the name of the module.
        sources: list of paths of C++ files.
        extra_cxx_cflags, extra_ldflags: lists of options of the compiler, in front of and behind the files.
        extra_cuda_cflags: accepted; CUDA is not compiled.
        extra_include_paths, extra_library_paths: lists of folders.
        build_directory: str, where to keep what is compiled. Default: `get_build_directory()`.
        verbose: print the command and what the compiler says. Default False.
    Returns:
        module.
    Raises:
        RuntimeError: there is no compiler, or it failed.
        ValueError: a source is not C++.
        FileNotFoundError: a source is not there.
    Example:
        >>> ops = paddle.utils.cpp_extension.load("ops", ["ops.cc"])  # doctest: +SKIP
        >>> ops.custom_relu(paddle.to_tensor([-1.0, 2.0])).tolist()  # doctest: +SKIP
        [0.0, 2.0]
    Differs from Paddle: Tensors have memory, shape and dtype only (there are no operations such as
    `paddle::add`), inputs are not changed in place, and an output is a single Tensor.
    See: docs/custom-ops.md.
    """
    files = checked(sources)
    build = build_of(
        files,
        extra_cxx_cflags or (),
        extra_ldflags or (),
        extra_include_paths or (),
        extra_library_paths or (),
        bool(verbose),
    )
    root = Path(build_directory or get_build_directory())
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}_{build.stamp()}.so"
    if not path.exists():
        compile_library(build, path, root)
    module = types.ModuleType(name, f"Operators of the C++ extension {name}.")
    module.__file__ = str(path)
    vars(module).update(module_of(name, path))
    sys.modules[name] = module
    return module


def CppExtension(sources: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N802  Paddle's name
    """What `setup` compiles: C++ files, and options as of `setuptools.Extension`.

    Args:
        sources: list of paths of C++ files.
        *args, **kwargs: such as include_dirs, library_dirs, libraries, extra_compile_args (a list, or a dict
            with the key "cxx"), extra_link_args.
    Returns:
        setuptools.Extension.
    Raises:
        ModuleNotFoundError: setuptools is not installed.
    Example:
        >>> extension = paddle.utils.cpp_extension.CppExtension(["ops.cc"], include_dirs=["include"])
        >>> extension.sources
        ['ops.cc']
    """
    _need_setuptools()
    from setuptools import Extension

    # As in torch: options by compiler, of which only that for C++ is used.
    flags = kwargs.get("extra_compile_args")
    if isinstance(flags, dict):
        kwargs["extra_compile_args"] = flags.get("cxx", [])
    return Extension(kwargs.pop("name", "extension"), [str(source) for source in sources], *args, **kwargs)


def setup(**attr: Any) -> Any:
    """Compiles C++ files with custom operators into a package that is installed: for a setup.py.

    Args:
        **attr: as of `setuptools.setup`: `name`, and `ext_modules`, a CppExtension or a list of one. The
            package has the name of the distribution.
    Returns:
        What `setuptools.setup` returns.
    Raises:
        ModuleNotFoundError: setuptools is not installed.
        ValueError: the name is missing, or ext_modules is not one CppExtension.
        RuntimeError: there is no compiler, or it failed.
    Example:
        >>> from paddle.utils.cpp_extension import CppExtension, setup  # doctest: +SKIP
        >>> setup(name="ops", ext_modules=CppExtension(["ops.cc"]))  # in setup.py  # doctest: +SKIP
    See: docs/custom-ops.md.
    """
    _need_setuptools()
    import setuptools

    from paddle_jax.utils.cpp_extension.build import BuildExtension  # lazy: setuptools is optional

    modules = attr.get("ext_modules")
    if isinstance(modules, list | tuple):
        modules = list(modules)
    else:
        modules = [modules]
    if not attr.get("name") or len(modules) != 1 or not isinstance(modules[0], setuptools.Extension):
        raise ValueError(
            f"setup: got name={attr.get('name')!r} and {len(modules)} ext_modules; "
            "give a name and one CppExtension"
        )
    modules[0].name = attr["name"]
    # Without a compiler the error comes here, not from the midst of setuptools.
    compiler()
    commands = {"build_ext": BuildExtension, **attr.get("cmdclass", {})}
    return setuptools.setup(
        **{
            "packages": [],
            "py_modules": [],
            "zip_safe": False,
            **attr,
            "ext_modules": modules,
            "cmdclass": commands,
        }
    )


def _need_setuptools() -> None:
    """Sees to it that setuptools can be imported: pip, imported before it, leaves a mark after which
    setuptools does not find its distutils."""
    finder = getattr(sys.modules.get("_distutils_hack"), "DISTUTILS_FINDER", None)
    if finder is not None and "setuptools" not in sys.modules:
        vars(finder).pop("spec_for_distutils", None)
    if importlib.util.find_spec("setuptools") is None:
        raise ModuleNotFoundError("cpp_extension: setup needs setuptools: pip install setuptools")
