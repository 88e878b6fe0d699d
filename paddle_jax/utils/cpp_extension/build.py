"""What compiles custom operators at installation: a command of setuptools, which need not be there to use what is installed."""

from pathlib import Path

from setuptools.command.build_ext import build_ext

from paddle_jax.utils.cpp_extension.extension_utils import checked, command_of, compile_library

_MODULE = '''"""Operators of a C++ extension."""

from pathlib import Path

from paddle_jax.utils.cpp_extension.cpp_extension import module_of

globals().update(module_of(__name__, Path(__file__).parent / "library.so"))
'''


class BuildExtension(build_ext):
    """The command of setuptools that compiles extensions with custom operators."""

    __module__ = "paddle_jax.utils.cpp_extension.cpp_extension"  # where it is asked for

    @classmethod
    def with_options(cls, **options):
        """The command; there are no options to choose."""
        return cls

    def build_extension(self, ext):
        """Compiles one extension into a package of its name."""
        files = checked(ext.sources)
        libraries = [f"-l{library}" for library in ext.libraries]
        folder = Path(self.build_lib) / ext.name
        folder.mkdir(parents=True, exist_ok=True)
        compile_library(command_of(files, ext.extra_compile_args, [*ext.extra_link_args, *libraries], ext.include_dirs, ext.library_dirs),
                        folder / "library.so", bool(self.verbose > 1))
        (folder / "__init__.py").write_text(_MODULE)

    def get_outputs(self):
        """The files that were made."""
        return [str(Path(self.build_lib) / ext.name / file) for ext in self.extensions for file in ("library.so", "__init__.py")]
