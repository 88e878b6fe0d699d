"""Creation of parameters from a shape, a ParamAttr and default initializers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base import unique_name
from paddle_jax._core.base.param_defaults import ParameterDefaults
from paddle_jax._core.base.state import local
from paddle_jax._core.base.uninitialized import Uninitialized
from paddle_jax._core.tensors import place as places
from paddle_jax._core.tensors.tensor import Parameter, Tensor
from paddle_jax.base.param_attr import ParamAttr
from paddle_jax.nn.initializer import Constant, Initializer, XavierUniform

if TYPE_CHECKING:
    from paddle_jax._annotations import DeviceLike, DTypeLike, ParamAttrLike
    from paddle_jax._core.base.dtype import DType


def create_parameter(
    shape: Sequence[int] | Tensor,
    dtype: DTypeLike,
    name: str | None = None,
    attr: ParamAttrLike | None = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
) -> Parameter | None:
    """Creates a parameter outside of a layer.

    Args:
        shape: list of ints.
        dtype: floating dtype (any dtype when an initializer is given).
        name: str, the name. Default: generated. A name in `attr` comes first.
        attr: ParamAttr, or False for no parameter.
        is_bias: fill with zeros by default, instead of Xavier-uniform values.
        default_initializer: initializer used when neither `attr` nor `set_global_initializer` gives one.
    Returns:
        Parameter, or None for attr=False.
    Raises:
        TypeError: the shape is not made of ints; the default initializer cannot fill this dtype.
        ValueError: the name is in use.
    Example:
        >>> paddle.create_parameter([2], "float32", is_bias=True).tolist()
        [0.0, 0.0]
    """
    attr = ParamAttr._to_attr(attr)
    if attr and attr.name is None:
        attr = _named(attr, name)
    return new_parameter(
        shape, attr, dtype, is_bias, default_initializer, unique_name.generate("create_parameter")
    )


def _named(attr: ParamAttr, name: str | None) -> ParamAttr:
    fields = vars(attr) | {"name": name}
    # The user's own object stays without a name, so it can serve for other parameters.
    copy = type(attr).__new__(type(attr))
    copy.__dict__.update(fields)
    return copy


def new_parameter(
    shape: Sequence[int] | Tensor,
    attr: ParamAttrLike | None,
    dtype: DTypeLike | None,
    is_bias: bool,
    default_initializer: Initializer | None,
    owner: str,
    device: DeviceLike | None = None,
) -> Parameter | None:
    """What Layer.create_parameter and paddle.create_parameter do; `owner` starts the generated name."""
    attr = ParamAttr._to_attr(attr)
    if attr is False:
        return None
    if not isinstance(attr, ParamAttr):
        raise AssertionError(
            f"create_parameter: attr: got {type(attr).__name__}; it must be one ParamAttr, "
            "or what stands for one"
        )
    shape = _shape(shape)
    if dtype is None:
        dtype = dtypes.default()
    else:
        dtype = dtypes.convert(dtype)
    # The attribute first, then `set_global_initializer`, then the layer's default.
    initializer = (
        attr.initializer
        or (ParameterDefaults.bias if is_bias else ParameterDefaults.weight)
        or default_initializer
        or _fallback(dtype, is_bias)
    )
    name = attr.name or unique_name.generate(f"{owner}.{'b' if is_bias else 'w'}")
    parameter = local.ctx.frame.declare_parameter(
        shape, dtype.np, name, bool(attr.trainable), lambda: _first_value(initializer, shape, dtype)
    )
    if parameter is None:  # not in a static program
        # A name that was given must not be generated later.
        unique_name.reserve(name)
        parameter = Parameter(trainable=bool(attr.trainable), name=name)
        # With `LazyGuard` values come later; until then there is a shape.
        parameter._value = Uninitialized(shape, dtype.np, name)
        parameter.set_init_func(lambda p: _fill(p, initializer, shape, dtype, device))
        if not ParameterDefaults.lazy:
            parameter.initialize()
    parameter.optimize_attr = {"learning_rate": attr.learning_rate}
    parameter.regularizer = attr.regularizer
    parameter.need_clip = attr.need_clip
    parameter.do_model_average = attr.do_model_average
    return parameter


def _first_value(initializer: Initializer, shape: tuple[int, ...], dtype: DType) -> Any:
    """The array that an initializer gives, outside the Parameter it is for."""
    parameter = Parameter()
    parameter._value = jax.ShapeDtypeStruct(shape, dtype.np)
    _fill(parameter, initializer, shape, dtype, None)
    return parameter._value


def _fill(
    parameter: Parameter,
    initializer: Initializer,
    shape: tuple[int, ...],
    dtype: DType,
    device: DeviceLike | None,
) -> None:
    if _is_plain(initializer):
        array = initializer._values(shape, dtype.np)
    else:
        # Such an initializer fills a Tensor that is there.
        array = np.zeros(shape, dtype.np)
    if device is None:
        parameter._value = places.put(array)
    else:
        parameter._value = places.put(np.asarray(array), device)
    if not _is_plain(initializer):
        initializer(parameter, None)


def _is_plain(initializer: Initializer) -> bool:
    """Whether the initializer gives an array; one that overrides how a Tensor is filled is called
    on the parameter."""
    return (
        type(initializer).forward is Initializer.forward
        and type(initializer).__call__ is Initializer.__call__
    )


def _fallback(dtype: DType, is_bias: bool) -> Initializer:
    if not dtype.is_floating:
        raise TypeError(
            f"create_parameter: dtype: got {dtype._key}; the default initializer fills floating "
            "dtypes only; pass default_initializer"
        )
    if is_bias:
        return Constant(0.0)
    return XavierUniform()


def _shape(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, Tensor):
        shape = shape.tolist()
    if isinstance(shape, str):
        raise TypeError(f"create_parameter: shape: got {shape!r}; it must be a list of ints")
    shape = tuple(_length(n) for n in shape)
    for axis, n in enumerate(shape):
        if n < 0:
            raise AssertionError(
                f"create_parameter: shape: got {n} for axis {axis}; lengths must be 0 or more"
            )
    return shape


def _length(n: Any) -> int:
    if isinstance(n, Tensor):
        return int(n)
    if isinstance(n, bool) or not isinstance(n, int | np.integer):
        raise TypeError(f"create_parameter: shape: got {n!r}; lengths must be ints")
    return int(n)
