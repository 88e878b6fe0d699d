"""Names that programs take from `paddle.base.framework`."""

from paddle_jax._core import place as _place
from paddle_jax._core.autograd_mode import no_grad
from paddle_jax._core.flags import get_flags, set_flags
from paddle_jax._core.tensor import Parameter
from paddle_jax._core.tensor import Tensor as Variable
from paddle_jax.framework.mode import dygraph_only, in_dynamic_mode, in_dynamic_or_pir_mode, in_pir_mode, non_static_only, use_pir_api

_current_expected_place, in_dygraph_mode, EagerParamBase = _place.current, in_dynamic_mode, Parameter

__all__ = [
    "EagerParamBase", "Parameter", "Variable", "dygraph_only", "get_flags", "in_dygraph_mode", "in_dynamic_mode", "in_dynamic_or_pir_mode",
    "in_pir_mode", "no_grad", "non_static_only", "set_flags", "use_pir_api",
]
