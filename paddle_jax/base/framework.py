"""Names that programs take from `paddle.base.framework`; what users know by another name is found by
the table of paths."""

from __future__ import annotations

import contextlib
import functools as ft
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.flags import get_flags, set_flags
from paddle_jax._core.base.freed_value import FREED_VALUE
from paddle_jax._core.base.vlog import vlog_guard
from paddle_jax._core.lazy.symbol import DefaultPrograms
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors import place as _place
from paddle_jax._core.tensors import var_type
from paddle_jax._core.tensors.tensor import Parameter, wrap
from paddle_jax._core.tensors.tensor import Tensor as Variable
from paddle_jax._program.program import Program, default_main_program, default_startup_program
from paddle_jax.base.core import CPUPlace, Place, VarDesc, globals
from paddle_jax.base.dygraph.tracer import TRACER
from paddle_jax.framework.mode import (
    dygraph_not_support,
    dygraph_only,
    in_dynamic_mode,
    in_dynamic_or_pir_mode,
    in_pir_mode,
    non_static_only,
    static_only,
    switched,
    use_pir_api,
)

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.base.dtype import DType
    from paddle_jax._core.tensors.place import CUDAPinnedPlace
    from paddle_jax.base.dygraph.tracer import Tracer


in_dygraph_mode = in_dynamic_mode
EagerParamBase = Parameter
_dygraph_only_ = dygraph_only
_non_static_only_ = non_static_only
_static_only_ = static_only
_dygraph_not_support_ = dygraph_not_support
GRAD_VAR_SUFFIX = "@GRAD"
TEMP_VAR_NAME = "@TEMP@"
ZERO_VAR_SUFFIX = "@ZERO"
EMPTY_VAR_NAME = "@EMPTY@"
CONTROL_DEP_VAR_PREFIX = "__control_var"


# modes ------------------------------------------------------------------------------------------------------


def in_pir_executor_mode() -> bool:
    """False: what Paddle 3.3 says unless it is told otherwise by a flag."""
    return False


def in_cinn_mode() -> bool:
    """False: XLA is the compiler here."""
    return False


def _dygraph_tracer() -> Tracer | None:
    if in_dynamic_mode():
        return TRACER
    return None


def _dygraph_guard(tracer: Any) -> Any:
    return switched(dynamic=tracer is not None)


@contextlib.contextmanager
def _dygraph_place_guard(place: Any) -> Iterator[None]:
    before = _place.current()
    _place.set_device(place)
    try:
        yield
    finally:
        _place.set_device(before)


@contextlib.contextmanager
def _no_check_dy2st_diff() -> Iterator[None]:
    yield


_stride_in_no_check_dy2st_diff = _no_check_dy2st_diff


@contextlib.contextmanager
def flag_guard(flag_name: str, flag_value: Any) -> Iterator[None]:
    """Sets a flag inside the block.

    Args:
        flag_name: str that starts with FLAGS_.
        flag_value: its value.
    Example:
        >>> with paddle.base.framework.flag_guard("FLAGS_check_nan_inf", True):
        ...     paddle.get_flags("FLAGS_check_nan_inf")
        {'FLAGS_check_nan_inf': True}
    """
    before = get_flags(flag_name)
    set_flags({flag_name: flag_value})
    try:
        yield
    finally:
        set_flags(before)


def _global_flags() -> globals:
    return globals()


def deprecate_stat_dict(func: Callable[..., Any]) -> Any:
    """Decorator: the argument `stat_dict`, an old name, is taken for `state_dict`.

    Args:
        func: callable.
    """

    @ft.wraps(func)
    def called(*args: Any, **kwargs: Any) -> Any:
        if "stat_dict" in kwargs:
            kwargs["state_dict"] = kwargs.pop("stat_dict")
        return func(*args, **kwargs)

    return called


# devices ----------------------------------------------------------------------------------------------------


_current_expected_place = _current_expected_place_ = _place.current


def _set_expected_place(place: Any) -> None:
    _place.set_device(place)


_set_dygraph_tracer_expected_place = _set_expected_place


def _get_paddle_place(place: Any) -> Place | None:
    if place is None or isinstance(place, Place):
        return place
    if not isinstance(place, str):
        raise ValueError(f"place: got {place!r}; it must be a Place or a text such as 'cpu' or 'gpu:0'")
    found = _place.parse(place)
    _place.jax_device(found)  # raises where this machine has none
    return found


def _get_paddle_place_list(places: Any) -> list[Place | None]:
    if not isinstance(places, list | tuple):
        raise TypeError(f"element_moves: got {type(places).__name__}; it must be a list or a tuple")
    return [_get_paddle_place(place) for place in places]


def _cpu_num() -> int:
    return int(os.environ.get("CPU_NUM", 1))


def cuda_pinned_places(device_count: int | None = None) -> list[CUDAPinnedPlace]:
    """Places of host memory for transfers to a GPU, as many as asked for; by default CPU_NUM of the
    environment, or one.

    Args:
        device_count: int.
    """
    return [_place.CUDAPinnedPlace() for _ in range(device_count or _cpu_num())]


# names, dtypes, variables -----------------------------------------------------------------------------------


def grad_var_name(var_name: Any) -> str:
    """The name of the gradient of a variable.

    Example:
        >>> paddle.base.framework.grad_var_name("x")
        'x@GRAD'
    """
    return var_name + GRAD_VAR_SUFFIX


def convert_np_dtype_to_dtype_(np_dtype: Any) -> DType:
    """The Paddle dtype for a name or a NumPy dtype; float64 for None, as NumPy has it.

    Args:
        np_dtype: dtype in any spelling.
    Raises:
        TypeError: it is none.
    Example:
        >>> paddle.base.framework.convert_np_dtype_to_dtype_("int64")
        <DataType.INT64: 9>
    """
    if np_dtype is None:
        return dtypes.float64
    return dtypes.convert(np_dtype)


def convert_to_proto_type(dtype: DTypeLike) -> VarDesc.VarType:
    """The VarType for a dtype; float64 for None.

    Args:
        dtype: VarType, or dtype in any spelling.
    Raises:
        TypeError: it is none.
    Example:
        >>> paddle.base.framework.convert_to_proto_type("float32")
        <VarType.FP32: 5>
    """
    if isinstance(dtype, VarDesc.VarType):
        return dtype
    return var_type.of("float64" if dtype is None else dtype)


convert_np_dtype_to_proto_type = convert_to_proto_type


def _create_tensor(
    type: Any = VarDesc.VarType.DENSE_TENSOR,
    name: str | None = None,
    shape: Any = None,
    dtype: Any = None,
    persistable: Any = None,
    **kwargs: Any,
) -> Any:
    made = wrap(FREED_VALUE)
    if name is not None:
        made.name = name
    made.persistable = bool(persistable)
    return made


Block = Program  # a Program is the block of its operations


def _get_var(name: Any, program: Any = None) -> Any:
    return (program or default_main_program()).global_block().var(name)


def _all_is_type(vals: Any, expected_type: Any) -> bool:
    return all(isinstance(v, expected_type) for v in vals)


def switch_main_program(program: Program) -> Program:
    """Makes a Program the one that operations are added to; returns the one before.

    Args:
        program: paddle.static.Program.
    """
    before = default_main_program()
    DefaultPrograms.main = program
    return before


def switch_startup_program(program: Any) -> Program:
    """Makes a Program the one that fills parameters; returns the one before.

    Args:
        program: paddle.static.Program.
    """
    before = default_startup_program()
    DefaultPrograms.startup = program
    return before


__all__ = [
    "CPUPlace",
    "EagerParamBase",
    "Parameter",
    "Variable",
    "convert_np_dtype_to_dtype_",
    "convert_np_dtype_to_proto_type",
    "convert_to_proto_type",
    "cuda_pinned_places",
    "deprecate_stat_dict",
    "dygraph_not_support",
    "dygraph_only",
    "flag_guard",
    "get_flags",
    "grad_var_name",
    "in_cinn_mode",
    "in_dygraph_mode",
    "in_dynamic_mode",
    "in_dynamic_or_pir_mode",
    "in_pir_executor_mode",
    "in_pir_mode",
    "no_grad",
    "non_static_only",
    "set_flags",
    "static_only",
    "switch_main_program",
    "switch_startup_program",
    "use_pir_api",
    "vlog_guard",
]
