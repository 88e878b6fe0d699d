"""Compiled functions, and models in files."""

from paddle_jax.jit import marker
from paddle_jax.jit.api import enable_to_static, ignore_module, not_to_static, to_static
from paddle_jax._program.rewrite.code_log import set_code_level, set_verbosity
from paddle_jax.jit.io import save
from paddle_jax.jit.translated_layer import TranslatedLayer, load

__all__ = [
    "TranslatedLayer",
    "enable_to_static",
    "ignore_module",
    "load",
    "marker",
    "not_to_static",
    "save",
    "set_code_level",
    "set_verbosity",
    "to_static",
]
