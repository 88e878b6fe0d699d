"""What compiles custom operators at installation: a command of setuptools, which need not be there to use
what is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setuptools.command.build_ext import build_ext

from paddle_jax.utils.cpp_extension.extension_utils import build_of, checked, compile_library

_MODULE = '''"""Operators of a C++ extension."""

from pathlib import Path

from paddle_jax.utils.cpp_extension.cpp_extension import module_of

globals().update(module_of(__name__, Path(__file__).parent / "library.so"))
'''


class BuildExtension(build_ext):
    """The command of setuptools that compiles extensions with custom operators."""

    __module__ = "paddle_jax.utils.cpp_extension.cpp_extension"  # where it is asked for

    output_dir = None  # where a library of the extension's name goes, instead of a package

    @classmethod
    def with_options(cls, output_dir: str | None = None, **options: Any) -> Any:
        """The command that puts a library with the name of the extension into a folder, for
        `_import_module_from_library`.

        Args:
            output_dir: str. Default: a package is made, as without options.
            **options: other options of Paddle, which change nothing here.
        """
        if output_dir is None:
            return cls
        return type(cls.__name__, (cls,), {"output_dir": output_dir})

    def build_extension(self, ext: Any) -> None:
        """Compiles one extension into a package of its name, or into one library."""
        files = checked(ext.sources)
        libraries = [f"-l{library}" for library in ext.libraries]
        target = Path(self.get_outputs_of(ext)[0])
        target.parent.mkdir(parents=True, exist_ok=True)
        compile_library(
            build_of(
                files,
                ext.extra_compile_args,
                [*ext.extra_link_args, *libraries],
                ext.include_dirs,
                ext.library_dirs,
                self.verbose > 1,
            ),
            target,
        )
        # An installed extension is a package with a module of its own.
        if self.output_dir is None:
            target.with_name("__init__.py").write_text(_MODULE)

    def get_outputs_of(self, ext: Any) -> list[str]:
        """The files of one extension, the library first."""
        if self.output_dir is not None:
            return [str(Path(self.output_dir) / f"{ext.name}.so")]
        return [str(Path(self.build_lib) / ext.name / file) for file in ("library.so", "__init__.py")]

    def get_outputs(self) -> list[str]:
        """The files that were made."""
        return [file for ext in self.extensions for file in self.get_outputs_of(ext)]
