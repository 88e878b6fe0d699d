"""Custom operators in C++ (`paddle.utils.cpp_extension`): compiled here, called by XLA, with gradients and with shapes known while compiling."""

from paddle_jax.utils.cpp_extension import extension_utils
from paddle_jax.utils.cpp_extension.cpp_extension import BuildExtension, CppExtension, load, setup
from paddle_jax.utils.cpp_extension.extension_utils import get_build_directory

__all__ = ["CppExtension", "load", "setup", "get_build_directory"]
