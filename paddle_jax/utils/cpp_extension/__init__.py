"""Custom operators in C++ (`paddle.utils.cpp_extension`): compiled here, called by XLA, with gradients and with shapes known while compiling."""

from paddle_jax.utils.cpp_extension import cpp_extension, extension_utils
from paddle_jax.utils.cpp_extension.cpp_extension import CppExtension, load, setup
from paddle_jax.utils.cpp_extension.extension_utils import get_build_directory

__all__ = ["CppExtension", "load", "setup", "get_build_directory"]


def __getattr__(name):
    """BuildExtension, which is made at its first use."""
    if name == "BuildExtension":
        return cpp_extension.BuildExtension
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
