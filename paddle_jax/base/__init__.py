"""Names that programs take from Paddle's inside."""

from paddle_jax._core.flags import get_flags, set_flags
from paddle_jax._core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace, CustomPlace, XPUPlace
from paddle_jax._core.tensor import Tensor
from paddle_jax.base import core, framework
from paddle_jax.base.param_attr import ParamAttr

__all__ = [
    "CPUPlace", "CUDAPinnedPlace", "CUDAPlace", "CustomPlace", "ParamAttr", "Tensor", "XPUPlace", "core", "framework", "get_flags", "set_flags",
]

_STATIC = ("CompiledProgram", "Executor", "Program", "append_backward", "default_main_program", "default_startup_program", "global_scope",
           "name_scope", "program_guard", "scope_guard")


def __getattr__(name):
    if name in _STATIC:  # that package needs this one
        from paddle_jax import static

        return getattr(static, name)
    if name == "Scope":
        return core.Scope
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
