"""LayerHelper: how functions of libraries make parameters and find out about their arguments."""

from __future__ import annotations

import functools as ft
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base import unique_name
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.program import default_main_program, default_startup_program
from paddle_jax.base.framework import _create_tensor
from paddle_jax.base.param_attr import ParamAttr
from paddle_jax.framework.mode import in_dynamic_mode
from paddle_jax.nn import functional
from paddle_jax.nn.layer.parameter import new_parameter
from paddle_jax.nn.layer.registrations import Registered
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.tensors.tensor import Parameter


class LayerHelper:
    """Knows the arguments of a function by name, and makes what it needs.

    Args:
        layer_type: str, the name of the function; it begins the names of its parameters.
        kwargs: the arguments: `input`, `param_attr`, `bias_attr`, `act`, `name`, `dtype`...
    Example:
        >>> helper = paddle.base.layer_helper.LayerHelper("my_layer", input=paddle.ones([2, 3]), act="relu")
        >>> helper.create_parameter(helper.param_attr, [3, 4], helper.input_dtype()).shape
        paddle.Size([3, 4])
    """

    def __init__(self, layer_type: str, **kwargs: Any) -> None:
        self.layer_type = layer_type
        self.kwargs = kwargs
        if kwargs.get("name") is None:
            kwargs["name"] = unique_name.generate(layer_type)

    @property
    def name(self) -> Any:
        """The name of this use of the function."""
        return self.kwargs["name"]

    @property
    def main_program(self) -> Any:
        """The Program that operations are added to."""
        return default_main_program()

    @property
    def startup_program(self) -> Any:
        """The Program that fills parameters."""
        return default_startup_program()

    # arguments ----------------------------------------------------------------------------------------------

    def multiple_input(self, input_param_name: str = "input") -> list[Any]:
        """The Tensors of an argument, as a list."""
        found = self.kwargs.get(input_param_name, [])
        if isinstance(found, list | tuple):
            return list(found)
        return [found]

    def input(self, input_param_name: str = "input") -> Any:
        """The one Tensor of an argument.

        Raises:
            TypeError: there are several, or none.
        """
        found = self.multiple_input(input_param_name)
        if len(found) != 1:
            raise TypeError(
                f"{self.layer_type}: {input_param_name}: got {len(found)} Tensors; it must be one"
            )
        return found[0]

    def input_dtype(self, input_param_name: str = "input") -> Any:
        """The dtype that the Tensors of an argument have.

        Raises:
            ValueError: they have several.
        """
        found = {t.dtype for t in self.multiple_input(input_param_name)}
        if len(found) > 1:
            raise ValueError(
                f"{self.layer_type}: {input_param_name}: "
                f"got Tensors of {sorted(map(str, found))}; they must have one dtype"
            )
        return next(iter(found), None)

    @property
    def param_attr(self) -> Any:
        """The ParamAttr for weights."""
        return ParamAttr._to_attr(self.kwargs.get("param_attr"))

    @property
    def bias_attr(self) -> Any:
        """The ParamAttr for the bias, False for none."""
        return ParamAttr._to_attr(self.kwargs.get("bias_attr"))

    def multiple_param_attr(self, length: Any) -> list[Any]:
        """One ParamAttr for each of some Tensors."""
        found = self.param_attr
        if not isinstance(found, list):
            found = [found]
        if len(found) not in (1, length):
            raise ValueError(f"{self.layer_type}: param_attr: got {len(found)}; it must be one, or {length}")
        # One attr serves all.
        return [ParamAttr._to_attr(a) for a in (found * length if len(found) == 1 else found)]

    def iter_inputs_and_params(self, input_param_name: str = "input") -> Iterator[Any]:
        """Pairs of the Tensors of an argument and their ParamAttr."""
        inputs = self.multiple_input(input_param_name)
        yield from zip(inputs, self.multiple_param_attr(len(inputs)), strict=True)

    def is_instance(self, param_name: Any, cls) -> None:
        """Raises TypeError unless an argument is of a class."""
        if not isinstance(self.kwargs.get(param_name), cls):
            raise TypeError(
                f"{self.layer_type}: {param_name}: "
                f"got {type(self.kwargs.get(param_name)).__name__}; it must be {cls.__name__}"
            )

    # what it makes ------------------------------------------------------------------------------------------

    def create_parameter(
        self,
        attr: Any,
        shape: Sequence[int],
        dtype: DTypeLike | None = None,
        is_bias: Any = False,
        default_initializer: Any = None,
        stop_gradient: Any = False,
        type: Any = None,
        device: Any = None,
    ) -> Parameter | None:
        """A parameter of the function.

        Args:
            attr: ParamAttr, or what stands for one; False for no parameter.
            shape: list of ints.
            dtype: Default: the default floating dtype.
            is_bias: fill with zeros by default.
            default_initializer: initializer used when attr gives none.
            stop_gradient: whether no gradient is wanted.
            type: accepted.
            device: where it is put.
        Returns:
            Parameter, or None.
        """
        made = new_parameter(
            shape, attr, dtype or dtypes.default(), is_bias, default_initializer, self.name, device
        )
        if made is not None and stop_gradient:
            made.stop_gradient = True
        return made

    def get_default_dtype(self) -> str:
        """The dtype that parameters have by default, as `paddle.get_default_dtype` gives it."""
        return dtypes.get_default_dtype()

    def create_variable_for_type_inference(
        self, dtype: DTypeLike, stop_gradient: Any = False, shape: Any = None
    ) -> Any:
        """A Tensor without a value, for an operation to fill.

        Args:
            dtype, stop_gradient, shape: accepted; what fills it says them.
        """
        return _create_tensor(name=unique_name.generate(f"{self.name}.tmp"))

    def append_op(
        self,
        *,
        type: str,
        inputs: dict[str, Any] | None = None,
        outputs: dict[str, Any] | None = None,
        attrs: dict[str, Any] | None = None,
        stop_gradient: bool = False,
        inplace_map: Any = None,
    ) -> None:
        """Runs an operation on Tensors, and gives its results to the Tensors of `outputs`.

        Args:
            type: str, the name of the operation in older programs, such as "elementwise_add".
            inputs, outputs: {slot: Tensor or list of Tensors}, such as {"X": x, "Y": y} and {"Out": out}.
            attrs: {name: value}.
            stop_gradient, inplace_map: accepted.
        Raises:
            TypeError: the mode is static.
            KeyError: there is no operation of the name.
        Example:
            >>> helper = paddle.base.layer_helper.LayerHelper("my_layer")
            >>> out = helper.create_variable_for_type_inference("float32")
            >>> x = paddle.to_tensor([-1.0, 2.0])
            >>> _ = helper.append_op(type="relu", inputs={"X": x}, outputs={"Out": out})
            >>> out.tolist()
            [0.0, 2.0]
        """
        if not in_dynamic_mode():
            raise TypeError(
                f"append_op: {type}: static programs have no operations by slots; call the public function"
            )
        # lazy: the tables of older operations take a millisecond, and few programs need them
        from paddle_jax.framework.model_files.legacy_calls import append

        append(type, inputs, outputs, attrs)

    def to_variable(self, value: Any, name: str | None = None) -> Any:
        """A Tensor of an array."""
        if isinstance(value, Tensor):
            return value
        return to_tensor(value)

    def get_parameter(self, name: Any) -> Any:
        """The parameter of a name in the main Program."""
        return self.main_program.global_block().var(name)

    def append_bias_op(self, input_var: Any, dim_start: Any = 1, dim_end: Any = None) -> Any:
        """The input plus a new bias of its axes from dim_start to dim_end, unless bias_attr is False."""
        attr = self.bias_attr
        if not attr:
            return input_var
        size = list(input_var.shape[dim_start:dim_end])
        bias = self.create_parameter(attr, size, input_var.dtype, is_bias=True)
        # Axes of length one in place of those behind the bias.
        return input_var + bias.reshape(size + [1] * (len(input_var.shape) - dim_start - len(size)))

    def append_activation(self, input_var: Any) -> Any:
        """What `act` names, of the input; without it the input."""
        act = self.kwargs.get("act")
        if act is None:
            return input_var
        if isinstance(act, dict):
            settings = dict(act)
        else:
            settings = {"type": act}
        return ft.partial(getattr(functional, settings.pop("type")), **settings)(input_var)


Registered.layer_helper = LayerHelper

__all__ = ["LayerHelper"]
