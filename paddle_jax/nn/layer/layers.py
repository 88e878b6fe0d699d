"""Layer: the base of all neural-network layers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, Protocol, Self, TypeVar

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base import unique_name
from paddle_jax._core.base.error_kinds import ARGUMENT_ERRORS
from paddle_jax._core.base.state import LayerVersion, Observing, local
from paddle_jax._core.execution.module_protocol import AttributeStore, ModuleBase
from paddle_jax._core.lazy.lazy_array import persistent_from_numpy
from paddle_jax._core.tensors.pytree import register_layer
from paddle_jax._core.tensors.tensor import Parameter, Tensor, wrap
from paddle_jax.nn.layer.convert import ConvertMixin
from paddle_jax.nn.layer.helpers import alias
from paddle_jax.nn.layer.hooks import HookMixin, HookRemoveHelper  # noqa: F401
from paddle_jax.nn.layer.mistakes import no_tensor, note
from paddle_jax.nn.layer.parameter import new_parameter
from paddle_jax.nn.layer.registrations import Registered
from paddle_jax.nn.layer.state import StateMixin
from paddle_jax.nn.layer.tree import TreeMixin

if TYPE_CHECKING:
    from paddle_jax._annotations import DeviceLike, DTypeLike, ParamAttrLike
    from paddle_jax.nn.initializer import Initializer

    _Inputs = ParamSpec("_Inputs")
    _Output_co = TypeVar("_Output_co", covariant=True)

    class _HasForward(Protocol[_Inputs, _Output_co]):
        """A layer, for type checkers: calling it takes and returns what its `forward` does."""

        def forward(self, *inputs: _Inputs.args, **kwargs: _Inputs.kwargs) -> _Output_co: ...


_WORD_START = re.compile("(.)([A-Z][a-z]+)")
_WORD_END = re.compile("([a-z])([A-Z])")
_STORES = ("_parameters", "_sub_layers", "_buffers")
_NONE: dict[Any, Any] = {}


def snake(name: str) -> str:
    """BatchNorm2D -> batch_norm2d, as Paddle names layers."""
    return _WORD_END.sub(r"\1_\2", _WORD_START.sub(r"\1_\2", name)).lower()


class Layer(TreeMixin, StateMixin, ConvertMixin, HookMixin, ModuleBase):
    """The base of all layers: holds parameters, buffers and other layers, and is called like a function.

    A subclass calls `super().__init__()`, sets parameters and layers as attributes, and defines `forward`.

    Args:
        name_scope: str, begins the layer's name and those of its parameters. Default: the class
            name in snake case.
        dtype: kept as `_dtype`.
    Example:
        >>> class Twice(paddle.nn.Layer):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.linear = paddle.nn.Linear(3, 3)
        ...     def forward(self, x):
        ...         return self.linear(self.linear(x))
        >>> Twice()(paddle.ones([2, 3])).shape
        paddle.Size([2, 3])
    """

    def __init__(self, name_scope: str | None = None, dtype: DTypeLike = "float32") -> None:
        full_name = unique_name.generate(snake(type(self).__name__) if name_scope is None else name_scope)
        # Past `__setattr__`, which needs these stores.
        self.__dict__.update(
            training=True,
            _full_name=full_name,
            _dtype=dtype,
            _parameters=AttributeStore(),
            _buffers=AttributeStore(),
            _non_persistable_buffer_names_set=set(),
            _sub_layers=AttributeStore(),
        )
        self._init_hooks()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        register_layer(cls)

    # calling ------------------------------------------------------------------------------------------------

    if TYPE_CHECKING:

        def __call__(
            self: _HasForward[_Inputs, _Output_co], *inputs: _Inputs.args, **kwargs: _Inputs.kwargs
        ) -> _Output_co: ...

    else:

        def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
            # While a function is compiled, an observer reads `forward` to follow what it does.
            observer = Observing.observer
            # Only the thread that traces is observed.
            if observer is None or not observer.is_current_thread():
                forward = self.forward
            else:
                forward = observer.observed_forward(self)
            try:
                # The usual case has no hooks, and goes straight on.
                if self._forward_pre_hooks or self._forward_post_hooks:
                    return self._call_hooked(forward, inputs, kwargs)
                return forward(*inputs, **kwargs)
            except (*ARGUMENT_ERRORS, AssertionError) as error:
                note(self, error)
                raise
            except AttributeError as error:
                # An argument that is no Tensor fails somewhere inside; the error then names the argument.
                if (clearer_error := no_tensor(self, error, inputs, kwargs)) is error:
                    raise
                note(self, clearer_error)
                raise clearer_error from None

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Computes the output; every subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__}.forward is not defined; define it in the class")

    def backward(self, *inputs: Any) -> NoReturn:
        """Always raises: gradients are derived from `forward`.

        Raises:
            ValueError: always.
        """
        raise ValueError("Layer.backward: a layer has no backward of its own; call backward() on its output")

    def train(self, mode: bool = True) -> Self:
        """Puts this layer and all below it into training mode (or evaluation mode, with mode=False);
        returns the layer.

        Raises:
            ValueError: mode is not a bool.
        """
        if not isinstance(mode, bool):
            raise ValueError(f"Layer.train: mode: got {mode!r}; it must be a bool")
        return self._put(mode)

    def eval(self) -> Self:
        """Puts this layer and all below it into evaluation mode: no dropout, normalisation by
        running statistics."""
        return self._put(False)  # not by train(), which user code may have replaced

    def _put(self, training: bool) -> Self:
        for layer in self.sublayers(include_self=True):
            layer.training = training
        return self

    def apply(self, fn: Callable[[Layer], Any]) -> Self:
        """Calls `fn(layer)` for all layers below and then for this one; returns the layer.

        Example:
            >>> net = paddle.nn.Sequential(paddle.nn.ReLU())
            >>> _ = net.apply(lambda layer: print(type(layer).__name__))
            ReLU
            Sequential
        """
        # From the leaves up, as in Paddle: a parent may overrule.
        for layer in self.children():
            layer.apply(fn)
        fn(self)
        return self

    # gradients ----------------------------------------------------------------------------------------------

    def clear_gradients(self, set_to_zero: bool = True) -> None:
        """Sets the gradients of all trainable parameters to zeros, or to None with set_to_zero=False."""
        for parameter in self.parameters():
            if parameter.trainable:
                parameter.clear_gradient(set_to_zero)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Sets the gradients of all parameters to None, or to zeros with set_to_none=False."""
        for parameter in self.parameters():
            parameter.clear_gradient(not set_to_none)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Makes all parameters take part in gradients (or not); returns the layer."""
        for parameter in self.parameters():
            parameter.stop_gradient = not requires_grad
        return self

    # making and adding --------------------------------------------------------------------------------------

    def full_name(self) -> str:
        """The name of the layer, e.g. "linear_0"; it begins the names of its parameters."""
        return self._full_name

    def create_parameter(
        self,
        shape: Sequence[int],
        attr: ParamAttrLike | None = None,
        dtype: DTypeLike | None = None,
        is_bias: bool = False,
        default_initializer: Initializer | None = None,
        device: DeviceLike | None = None,
    ) -> Parameter:  # None for attr=False, a Variable in a static program
        """Makes a parameter named after this layer; assign it to an attribute to add it.

        Args:
            shape: list of ints.
            attr: ParamAttr, initializer, name, or False for no parameter.
            dtype: dtype. Default: paddle.get_default_dtype().
            is_bias: fill with zeros by default, instead of Xavier-uniform values.
            default_initializer: used when neither `attr` nor `set_global_initializer` gives one.
            device: device to put it on.
        Returns:
            Parameter, or None for attr=False.
        Raises:
            TypeError: the shape is not made of ints, or the default initializer cannot fill the dtype.
            ValueError: the name in attr is in use.
        """
        made: Any = new_parameter(shape, attr, dtype, is_bias, default_initializer, self._full_name, device)
        return made

    def create_tensor(
        self, name: str | None = None, persistable: bool | None = None, dtype: DTypeLike | None = None
    ) -> Tensor:
        """Makes an empty Tensor named after this layer."""
        # A layer made with dtype=None has no dtype of its own.
        if dtype is None:
            dtype = dtypes.convert(self._dtype or dtypes.get_default_dtype())
        else:
            dtype = dtypes.convert(dtype)
        tensor = wrap(persistent_from_numpy(np.zeros((0,), dtype.np)))
        if name:
            tensor.name = f"{self._full_name}.{name}"
        else:
            tensor.name = unique_name.generate(f"{self._full_name}._generated_var")
        tensor.persistable = bool(persistable)
        return tensor

    create_variable = create_tensor

    def add_parameter(self, name: str, parameter: Parameter | None) -> Parameter | None:
        """Adds a parameter under `name` and returns it.

        Args:
            name: str without dots.
            parameter: Parameter or None.
        Raises:
            TypeError: an argument has the wrong type.
            KeyError: the name is empty, has a dot or is in use.
        """
        self._check_name("add_parameter", name, self._parameters)
        if parameter is not None and not isinstance(parameter, Parameter):
            raise TypeError(
                f"add_parameter: parameter: got {type(parameter).__name__}; it must be a Parameter or None"
            )
        self._changes()
        self._parameters[name] = parameter
        return parameter

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Same as `add_parameter`, returning nothing."""
        self.add_parameter(name, param)

    def add_sublayer(self, name: str, sublayer: Layer | None) -> Layer | None:
        """Adds a layer under `name` and returns it.

        Raises:
            AssertionError: sublayer is neither a Layer nor None.
        """
        if sublayer is not None and not isinstance(sublayer, Layer):
            raise AssertionError(
                f"add_sublayer: sublayer: got {type(sublayer).__name__}; it must be a Layer or None"
            )
        self._changes()
        self._sub_layers[name] = sublayer
        return sublayer

    def add_module(self, name: str, module: Layer | None) -> None:
        """Same as `add_sublayer`, returning nothing."""
        self.add_sublayer(name, module)

    register_module = add_module

    @alias(persistent="persistable")
    def register_buffer(self, name: str, tensor: Tensor | None, persistable: bool = True) -> None:
        """Adds a Tensor that is not a parameter, such as running statistics.

        Args:
            name: str without dots.
            tensor: Tensor or None.
            persistable: whether `state_dict` contains it; `persistent` is accepted as a name.
        Raises:
            TypeError: an argument has the wrong type.
            KeyError: the name is empty, has a dot or is in use.
        Example:
            >>> layer = paddle.nn.Layer()
            >>> layer.register_buffer("count", paddle.zeros([1]))
            >>> list(layer.state_dict())
            ['count']
        """
        self._check_name("register_buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"register_buffer: tensor: got {type(tensor).__name__}; it must be a Tensor or None"
            )
        self._changes()
        self._buffers[name] = tensor
        # A buffer of this name may be there with the other kind of persistence.
        (
            self._non_persistable_buffer_names_set.discard
            if persistable
            else self._non_persistable_buffer_names_set.add
        )(name)

    def _changes(self) -> None:
        """Tells compiled functions, and a run that is being compiled, that there is a new part."""
        # Compiled functions compare this count in place of looking at each layer.
        LayerVersion.count += 1
        local.ctx.frame.on_layer_change(self)

    def _check_name(self, what: str, name: str, store: AttributeStore) -> None:
        if "_parameters" not in self.__dict__:
            raise RuntimeError(f"{what}: super().__init__() should be called first")
        if not isinstance(name, str):
            raise TypeError(f"{what}: name: got {type(name).__name__}; it must be a str")
        if "." in name or not name:
            raise KeyError(f"{what}: name: got {name!r}; it must not be empty or contain a dot")
        # A name of an attribute would hide the parameter.
        if hasattr(self, name) and name not in store:
            raise KeyError(f"{what}: name: {name!r} is an attribute already; choose another")

    # attributes ---------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        attributes = self.__dict__
        # Parameters come first: they are read most often.
        parameter = attributes.get("_parameters", _NONE).get(name)
        if parameter is not None:
            return parameter
        for store in _STORES:
            if store in attributes and name in attributes[store]:
                return attributes[store][name]
        if name == "_helper" and "_full_name" in attributes:  # layers of libraries call its methods
            return Registered.layer_helper(self._full_name, name=self._full_name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        # Any attribute may be read by `forward`.
        LayerVersion.count += 1
        if "_parameters" in self.__dict__:
            local.ctx.frame.on_layer_change(self)
        # A property of the class has its own setter, which gets any value.
        if isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        elif isinstance(value, Parameter):
            self._store(name, value, "_parameters", ("_sub_layers", "_buffers"))
        elif isinstance(value, Layer):
            self._refuse(name, value, "_parameters", "parameter", "Parameter")
            self._store(name, value, "_sub_layers", ("_parameters", "_buffers"))
        elif not self._replace(name, value):
            if isinstance(value, Tensor):
                # A Tensor set as an attribute is a buffer that `state_dict` leaves out, as in Paddle.
                self._store(name, value, "_buffers", ())
                self._non_persistable_buffer_names_set.add(name)
            else:
                object.__setattr__(self, name, value)

    def _store(self, name: str, value: Any, store: str, others: Sequence[str]) -> None:
        attributes = self.__dict__
        if store not in attributes:
            raise ValueError(f"{type(self).__name__}.{name}: super().__init__() should be called first")
        # The name moves between the stores: an older value must not hide the new one.
        attributes.pop(name, None)
        for other in others:
            attributes[other].pop(name, None)
        attributes[store][name] = value

    def _replace(self, name: str, value: Any) -> bool:
        """Puts a value under a name that is in a store already; False when it is in none."""
        attributes = self.__dict__
        if name in attributes.get("_parameters", ()):
            self._refuse(name, value, "_parameters", "parameter", "Parameter")
            # None keeps the name, as in Paddle.
            attributes["_parameters"][name] = None
        elif name in attributes.get("_sub_layers", ()):
            self._refuse(name, value, "_sub_layers", "sublayer", "Layer")
            attributes["_sub_layers"][name] = None
        elif name in attributes.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"{name}: got {type(value).__name__}; a buffer can be replaced by a Tensor or None"
                )
            attributes["_buffers"][name] = value
        else:
            return False
        return True

    def _refuse(self, name: str, value: Any, store: str, kind: str, allowed: str) -> None:
        if value is not None and name in self.__dict__.get(store, ()):
            raise TypeError(
                f"{name}: got {type(value).__name__}; a {kind} can be replaced by a {allowed} or None"
            )

    def __delattr__(self, name: str) -> None:
        LayerVersion.count += 1
        local.ctx.frame.on_layer_change(self)
        for store in _STORES:
            if name in self.__dict__.get(store, ()):
                del self.__dict__[store][name]
                # A new buffer of this name starts with the usual setting.
                self._non_persistable_buffer_names_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = [str(name) for store in _STORES for name in self.__dict__.get(store, ())]
        return [*object.__dir__(self), *names]

    # printing -----------------------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What stands in the brackets when the layer is printed."""
        return ""

    def get_extra_state(self) -> Any:
        """Always raises unless a subclass defines it.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(
            f"{type(self).__name__}.get_extra_state is not defined; define it in the class before calling it"
        )

    def __repr__(self) -> str:
        lines = self.extra_repr().split("\n")
        if len(lines) == 1:
            text = lines[0]
        else:
            text = "\n  " + "\n  ".join(lines) + "\n"
        if self._sub_layers:
            children = [
                # Inner layers are indented below their own.
                f"({name}): " + repr(layer).replace("\n", "\n  ")
                for name, layer in self._sub_layers.items()
            ]
            text += "\n  " + "\n  ".join(children) + "\n"
        return f"{type(self).__name__}({text})"


__all__ = ["Layer"]


register_layer(Layer)
