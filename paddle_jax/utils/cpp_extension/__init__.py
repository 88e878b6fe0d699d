"""Custom operators in C++ (`paddle.utils.cpp_extension`): compiled here, called by XLA, with gradients and
with shapes known while compiling."""

from __future__ import annotations


from typing import Any
from paddle_jax.utils.cpp_extension import cpp_extension as cpp_extension, extension_utils as extension_utils
from paddle_jax.utils.cpp_extension.cpp_extension import CppExtension, load, setup
from paddle_jax.utils.cpp_extension.extension_utils import get_build_directory
from paddle_jax.utils.cpp_extension.registered import load_op_meta_info_and_register_op, parse_op_info

__all__ = ["CppExtension", "load", "setup", "get_build_directory"]


def __getattr__(name: str) -> Any:
    """BuildExtension and CUDA_HOME, which are made at their first use."""
    if name in ("BuildExtension", "CUDA_HOME"):
        return getattr(cpp_extension, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
