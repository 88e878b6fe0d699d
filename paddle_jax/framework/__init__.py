"""Framework level names that programs import by this path."""

from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.base.dtype import get_default_dtype, set_default_dtype
from paddle_jax._core.base.flags import get_flags, set_flags
from paddle_jax._core.tensors.place import CPUPlace, CUDAPinnedPlace, CUDAPlace, CustomPlace, XPUPlace
from paddle_jax._core.tensors.random import seed
from paddle_jax._core.tensors.tensor import Parameter, Parameter as EagerParamBase
from paddle_jax.autograd import grad
from paddle_jax.base import core
from paddle_jax.base.param_attr import ParamAttr
from paddle_jax.base.data_feeder import check_shape
from paddle_jax.framework.io import async_save, clear_async_save_task_queue, load, save
from paddle_jax.framework.mode import (
    disable_signal_handler,
    disable_static,
    dygraph_only,
    enable_static,
    in_dynamic_mode,
    in_dynamic_or_pir_mode,
    in_pir_mode,
    use_pir_api,
)

__all__ = [
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "CustomPlace",
    "EagerParamBase",
    "ParamAttr",
    "Parameter",
    "XPUPlace",
    "async_save",
    "clear_async_save_task_queue",
    "core",
    "disable_signal_handler",
    "disable_static",
    "dygraph_only",
    "enable_static",
    "get_default_dtype",
    "get_flags",
    "grad",
    "in_dynamic_mode",
    "in_dynamic_or_pir_mode",
    "in_pir_mode",
    "load",
    "no_grad",
    "save",
    "seed",
    "set_default_dtype",
    "set_flags",
    "use_pir_api",
]
