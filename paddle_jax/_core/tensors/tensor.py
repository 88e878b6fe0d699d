"""Tensor: a value with gradient state.

Operators and most methods come from the declarations of ops. The gradient methods are in
tape/tensor_methods.py, the text of a Tensor in printing.py; both attach themselves by `tensor_method`.
"""

# Other files see the stub of this one, whose Tensor has the methods of all operations; pyright takes it for
# another class.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.core
import numpy as np

from paddle_jax._core.base import bool_attributes, unique_name
from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import ArgumentError, NotHereError, TracedValueError
from paddle_jax._core.base.interrupt_safe import set_all
from paddle_jax._core.base.size import Size, TensorSize, are_known
from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.value_checks import PendingChecks, after_checks
from paddle_jax._core.lazy import segment as segments
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.lazy_array import LazyArray, persistent_from_numpy
from paddle_jax._core.lazy.transfer import materialize, to_jax_array, to_numpy
from paddle_jax._core.tensors import place as places
from paddle_jax._core.tensors.views import propagate_change

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike


class Tensor:
    """A multi-dimensional array that can record what is computed from it.

    Args:
        data: list, NumPy array or Tensor; a list becomes the default floating dtype. Or integers: the lengths
            of the axes, filled with zeros.
        rest: further lengths; beside an array the arguments below in the order of Paddle: place, persistable,
            zero_copy, name, stop_gradient.
        value: another name for data.
        dtype: dtype of the result. Default: that of `data`.
    Attributes:
        stop_gradient: bool, whether no gradient flows to it.
        persistable: bool, whether a static program keeps it between runs.
        _raw: the value: array, LazyArray, tracer, Symbol or Uninitialized.
        _version: int, how often it was assigned in place.
        _stop: bool, what stop_gradient gives.
        _node, _idx: the Node of the tape that has made it, or None, and its index among the Node's results.
        _grad: Tensor that backward passes add to, or None.
        _hooks: functions that gradients go through, or None.
        _alias: what it is a view of, or None.
        _dist: its layout on a mesh, or None.
        _name: str, or None until somebody asks.
        _persistable: bool, what persistable gives.
    Example:
        >>> paddle.Tensor([1, 2]).dtype
        <DataType.FLOAT32: 10>
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_alias",
        "_dist",
        "_grad",
        "_hooks",
        "_idx",
        "_name",
        "_node",
        "_persistable",
        "_raw",
        "_stop",
        "_version",
    )
    __array_ufunc__ = None  # NumPy hands binary operators over to __radd__ and friends
    __array_priority__ = 100

    def __init__(
        self,
        data: Any = None,
        *rest: Any,
        value: Any = None,
        dtype: DTypeLike | None = None,
        place: Any = None,
        stop_gradient: Any = True,
        name: Any = None,
        persistable: Any = False,
        zero_copy: Any = None,
    ) -> None:
        if data is None:
            data = value
        if type(data) is int:
            # `Tensor(2, 3)` names lengths.
            data = np.zeros((data, *rest), dtypes.default().np)
        elif rest and not isinstance(rest[0], places.Place | None):
            dtype = rest[0]
        else:
            # What is not given by position keeps its keyword.
            ordered = (*rest, *(place, persistable, zero_copy, name, stop_gradient)[len(rest) :])
            place, persistable, zero_copy, name, stop_gradient = ordered
        np_dtype = None if dtype is None else dtypes.convert(dtype).np
        if isinstance(data, jax.core.Tracer):
            # A traced number asks for gradients where it is floating.
            stop_gradient = data.dtype.kind not in INEXACT
        value = _value_of_data(data, np_dtype, place)
        init_tensor(self, value, stop_gradient)
        self._name: Any = name
        self.persistable = persistable
        if isinstance(data, Tensor) and value is data._raw:
            local.ctx.frame.register_view(self, data)  # as in Paddle, it shares the memory of the Tensor

    # value and identity -------------------------------------------------------------------------------------

    @property
    def _value(self) -> Any:
        """The jax array; runs pending operations. For shape, dtype and handing the value on, use `_raw`."""
        return after_checks(to_jax_array(read_raw(self)))

    @_value.setter
    def _value(self, value: Any) -> None:
        local.ctx.frame.on_assign(self)
        self._raw = value

    def _rebind(self, value: Any) -> None:
        """Replaces the value in place, as an in-place operation does."""
        before = self._raw
        self._assign_raw(value)
        self._version += 1
        if self._alias is not None:
            propagate_change(self, before, self._version - 1)

    def _fill(self, value: Any) -> None:
        """Replaces the value without counting it as a change; the history stays."""
        before = self._raw
        self._assign_raw(value)
        if self._alias is not None:
            propagate_change(self, before, self._version)

    def _assign_raw(self, value: Any) -> None:
        """As `_fill`, for this Tensor alone: its views and its base do not change."""
        if type(value) is not LazyArray:
            local.ctx.frame.on_assign(self)
        self._raw = value

    def _adopt(self, other: Tensor) -> Tensor:
        """Takes over value and history of another Tensor: the end of every in-place operation."""
        if type(other._raw) is not LazyArray:
            local.ctx.frame.on_assign(self)
        if other._node is not None or self._node is None:
            self._node = other._node
            self._idx = other._idx
        elif local.ctx.grad:
            self._end_history()  # unrecorded changes leave the history as it is
        before = self._raw
        self._raw = other._raw
        self._stop = self._stop and other._stop
        self._version += 1
        if self._alias is not None:
            propagate_change(self, before, self._version - 1)
        return self

    @property
    def shape(self) -> Size:
        """The lengths of the axes, as a list."""
        return Size(self._raw.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._raw.ndim

    @property
    def size(self) -> Any:
        """The number of elements. Called, `x.size()` and `x.size(axis)`, the shape or the
        length of an axis."""
        shape = self._raw.shape
        if are_known(*shape):
            return TensorSize(shape)
        return math.prod(shape)

    @property
    def dtype(self) -> dtypes.DType:
        """The data type, e.g. paddle.float32."""
        return dtypes.of(self._raw)

    @property
    def name(self) -> str:
        """The name; made on first use."""
        if self._name is None:
            self._name = unique_name.generate("generated_tensor" if self._node is None else "eager_tmp")
        return self._name

    @name.setter
    def name(self, value: Any) -> None:
        if not isinstance(value, str):
            raise TypeError(f"Tensor.name: got {type(value).__name__}; assign a str")
        self._name = value

    @property
    def place(self) -> places.Place:
        """The device the value is on."""
        return places.of(self._raw)

    @property
    def inplace_version(self) -> int:
        """How often the value was replaced in place."""
        return self._version

    def __hash__(self) -> int:
        # By identity, since `==` compares elements.
        return id(self)

    # gradient -----------------------------------------------------------------------------------------------

    @property
    def is_leaf(self) -> bool:
        """True for tensors that the user made, False for results of recorded operations."""
        return self._node is None

    @property
    def requires_grad(self) -> bool:
        """The opposite of stop_gradient."""
        return not self.stop_gradient

    @requires_grad.setter
    def requires_grad(self, value: Any) -> None:
        self.stop_gradient = not bool_attributes.check_bool("requires_grad", value)

    def detach(self) -> Tensor:
        """A Tensor with the same value that takes no part in recording; what is done to one in place is
        done to the other."""
        detached = self._snapshot()
        local.ctx.frame.register_view(detached, self)
        return detached

    def _snapshot(self) -> Tensor:
        """As `detach`, but later changes of this Tensor do not show."""
        raw = read_raw(self)
        if isinstance(raw, jax.core.Tracer) and raw.dtype.kind in INEXACT:
            # JAX's derivatives too end here, also where it wants a gradient of its own later
            raw = jax.lax.stop_gradient_p.bind(raw)
        return wrap(raw)

    @property
    def data(self) -> Tensor:
        """A Tensor with the same value that takes no part in recording; what is written into it is written
        into this one too."""
        return self.detach()

    @data.setter
    def data(self, other: Any) -> None:
        if not isinstance(other, Tensor):
            raise ArgumentError(f"Tensor.data: got {type(other).__name__}; assign a Tensor")
        self._rebind(read_raw(other))

    def detach_(self) -> Tensor:
        """Cuts this tensor from what produced it, in place."""
        self._node = None
        self._idx = 0
        self.stop_gradient = True
        return self

    # host values --------------------------------------------------------------------------------------------

    def numpy(self, blocking: bool = True, *, force: bool = False) -> np.ndarray:
        """A NumPy copy of the value. bfloat16 comes as ml_dtypes.bfloat16. The arguments change nothing."""
        try:
            return host_value(self, "numpy").copy()
        except NotHereError:
            # Programs call this on all processes, and use the result on those of the mesh. Paddle gives
            # an array without elements, too.
            return np.empty((*self._raw.shape, 0), self._raw.dtype)

    def tolist(x: Tensor) -> Any:
        """The value as nested lists of Python numbers."""
        return host_value(x, "tolist").tolist()

    def item(self, *args: Any) -> Any:
        """The value of a one-element tensor, or the element at the given flat or multi-dimensional index, as
        a Python number.

        Raises:
            ValueError: no index is given and there is not exactly one element, or the index is negative
                or out of range.
            TypeError: an index is not an integer.
        """
        array = host_value(self, "item")
        if not args:
            if array.size == 1:
                return array.item()
            raise ValueError(
                f"(InvalidArgument) item: got a tensor of {array.size} elements; "
                "only one can become a Python number; give an index"
            )
        if any(isinstance(i, bool) or not hasattr(i, "__index__") for i in args):
            raise TypeError(f"item: got the index {args}; each one must be an integer")
        index = tuple(int(i) for i in args)
        if index and not _is_valid_index(index, array):
            raise ValueError(
                f"(InvalidArgument) item: index {args} is out of range for shape "
                f"{list(array.shape)}; use 0..length - 1"
            )
        # A number takes the index 0 as well, which NumPy refuses.
        return array.item(*(index if array.ndim else ()))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = host_value(self, "__array__")
        # always a copy, which may be written into
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return np.array(array)

    def __jax_array__(self) -> Any:
        if isinstance(self._raw, jax.core.Tracer):
            return raw_for_trace(self)
        return self._value

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.stop_gradient:
            raise BufferError(
                "__dlpack__: the tensor needs a gradient, which another library would not know; use detach()"
            )
        return self._value.__dlpack__(*args, **kwargs)

    def __dlpack_device__(self) -> Any:
        return self._value.__dlpack_device__()

    @property
    def __cuda_array_interface__(self) -> Any:
        return self._value.__cuda_array_interface__  # an AttributeError where the array is not on a GPU

    def _single_element(self, kind: str) -> Any:
        """The value of a Tensor with one element as a Python number, for a conversion to a Python type."""
        raw = self._raw
        size = raw.aval.size if type(raw) is LazyArray else raw.size
        if size != 1:
            raise AssertionError(
                f"{kind}: got a tensor of shape {list(raw.shape)}; only one element can be converted"
            )
        return host_value(self, kind).item()

    def __bool__(self) -> bool:
        element = self._single_element("bool")
        if type(element) is complex:
            element = np.complex128(element)  # which has an order
        return bool(element > 0)  # as in Paddle, negative numbers count as false

    def __float__(self) -> float:
        return float(self._single_element("float"))

    def __int__(self) -> int:
        return int(self._single_element("int"))

    def __complex__(self) -> complex:
        return complex(self._single_element("complex"))

    def __index__(self) -> int:
        return int(self._single_element("index"))

    def __len__(self) -> int:
        if self._raw.ndim == 0:
            raise AssertionError("len: a 0-D tensor has no length")
        return self._raw.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if self._raw.ndim == 0:
            raise TypeError("iteration over a 0-D tensor is not possible")
        return (self[i] for i in range(self._raw.shape[0]))

    def __contains__(self, item: Any) -> bool:
        if self._raw.ndim == 1 and isinstance(item, bool | int | float | np.number):
            return bool((self == item).any())
        return any(row is item or row == item for row in self)

    def __format__(self, spec: str) -> str:
        if self._raw.ndim:
            return object.__format__(self, spec)
        return format(self.item(), spec)

    def __copy__(self) -> Tensor:
        return wrap(self._snapshot()._raw, self.stop_gradient)

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        copy = type(self).__new__(type(self))
        init_tensor(copy, self._snapshot()._raw, self.stop_gradient)
        copy.persistable = self.persistable
        copy._dist = getattr(self, "_dist", None)
        copy._name = self.name + unique_name.generate("_deepcopy")  # one counter for all, as in Paddle
        copy.__dict__.update(self.__dict__)
        memo[id(self)] = copy
        return copy

    def __reduce__(self) -> tuple[Any, ...]:
        # by name: the module that these classes name may not be importable
        names = {Tensor: "Tensor", Parameter: "Parameter"}
        kind = names.get(type(self), type(self))
        return _unpickle, (
            kind,
            to_numpy(after_checks(materialize(read_raw(self)))),
            self.stop_gradient,
            self.persistable,
            self._name,
            dict(self.__dict__),
        )


bool_attributes.attach_bool_property(
    Tensor, "stop_gradient", Tensor._stop, "Whether no gradient flows to the tensor."
)
bool_attributes.attach_bool_property(
    Tensor, "persistable", Tensor._persistable, "Whether a Layer keeps and saves it."
)


class Parameter(Tensor):
    """A Tensor that a Layer owns and an optimizer updates. `trainable` is the opposite of stop_gradient.

    Args:
        value: Tensor whose value it takes. Default: no elements.
        requires_grad: bool, whether an optimizer updates it.
        name: str. Default: generated.
        trainable: the same as requires_grad.
    Raises:
        ValueError: value is a NumPy array.
        TypeError: value is of another type.
    Example:
        >>> paddle.nn.Parameter(paddle.ones([2]), requires_grad=False).trainable
        False
    """

    __slots__ = ()

    def __init__(
        self,
        value: Tensor | None = None,
        requires_grad: bool = True,
        name: str | None = None,
        *,
        trainable: bool | None = None,
    ) -> None:
        if not isinstance(value, Tensor | jax.Array | None):
            if isinstance(value, np.ndarray):
                error = ValueError
            else:
                error = TypeError
            raise error(
                f"Parameter: value: got {type(value).__name__}; it must be a Tensor; "
                "make one with paddle.to_tensor"
            )
        if value is None:
            array = persistent_from_numpy(np.zeros((0,), np.float32))
        else:
            array = read_raw(value) if isinstance(value, Tensor) else value
        init_tensor(self, array, not (requires_grad if trainable is None else trainable))
        self._name = name or unique_name.generate("_eager_param_base")
        self.persistable = True
        self.__dict__.update(
            optimize_attr={"learning_rate": 1.0},
            regularizer=None,
            do_model_average=None,
            need_clip=True,
            is_distributed=False,
            init_func=None,
        )

    @property
    def trainable(self) -> bool:
        """Whether an optimizer updates the parameter."""
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, value: Any) -> None:
        if not isinstance(value, bool):
            raise ValueError(f"trainable: got {type(value).__name__}; it must be a bool")
        self.stop_gradient = not value

    def set_init_func(self, obj: Callable[[Any], Any]) -> None:
        """Sets the function that `initialize` calls with the parameter."""
        self.init_func = obj

    def initialize(self) -> None:
        """Fills a parameter that was made under `paddle.LazyGuard`.

        Raises:
            AssertionError: it was not made lazily, or is filled already.
        """
        if self.init_func is None:
            raise AssertionError(
                f"initialize: {self.name} has its values already; "
                "only parameters made under paddle.LazyGuard can be initialized"
            )
        fill = self.init_func
        # Taken away first, so that it runs once.
        self.init_func = None
        fill(self)

    def _after_filling(self, change: Callable[[Parameter], Any]) -> None:
        """Calls `change(parameter)`: now, or for a parameter made under LazyGuard once it has values."""
        fill = self.init_func
        if fill is None:
            change(self)
        else:
            self.set_init_func(lambda p: (fill(p), change(p)))

    def __repr__(self) -> str:
        return "Parameter containing:\n" + Tensor.__repr__(self)

    __str__ = __repr__

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        copy = Tensor.__deepcopy__(self, memo)
        copy.optimize_attr = dict(self.optimize_attr)
        return copy

    @classmethod
    def from_tensor(cls, tensor: Any, **kwargs: Any) -> Parameter:
        """A Parameter with the value of a Tensor; keyword arguments are those of the constructor."""
        return cls(tensor, **kwargs)


def tensor_method(attribute: Any) -> Any:
    """Makes a function or property an attribute of Tensor, as if the class had defined it.

    Modules above this one add by it the methods that need their code.
    """
    function: Any = attribute
    if isinstance(attribute, property):
        function = attribute.fget
    name = function.__name__
    function.__module__ = __name__
    function.__qualname__ = f"Tensor.{name}"
    setattr(Tensor, name, attribute)
    return attribute


EagerParamBase = Parameter  # the name it prints and pickles under
Parameter.__name__ = Parameter.__qualname__ = "EagerParamBase"
Tensor.__module__ = "paddle"


def _value_of_data(data: Any, np_dtype: np.dtype | None, place: Any) -> Any:
    """The value of a new Tensor with data that the user gave.

    Args:
        data: None, a Tensor, a tracer, or what NumPy can make an array of.
        np_dtype: dtype of the value. None: that of the data; the default dtype for a list.
        place: Place, or None for the current one.
    """
    if data is None:
        return persistent_from_numpy(np.zeros((0,), np_dtype or np.float32))
    if isinstance(data, Tensor):
        if np_dtype is None:
            return read_raw(data)
        return data._value.astype(np_dtype)
    if isinstance(data, jax.core.Tracer):
        if np_dtype is None:
            return data
        return data.astype(np_dtype)
    array = np.array(data)  # a copy: jax may share the memory of a NumPy array
    if np_dtype is not None or not isinstance(data, np.ndarray):
        array = array.astype(dtypes.default().np if np_dtype is None else np_dtype)
    return places.put(array, place)


def _is_valid_index(index: tuple[int, ...], array: np.ndarray) -> bool:
    """Whether a flat index, or one for each axis, is in range; negative ones are not."""
    if len(index) == array.ndim:
        return all(0 <= i < length for i, length in zip(index, array.shape, strict=True))
    return len(index) == 1 and 0 <= index[0] < array.size


def init_tensor(t: Any, value: Any, stop_gradient: Any) -> None:
    """Fills the slots of a new Tensor."""
    t._raw = value
    t._stop = bool(stop_gradient)
    t._alias = t._grad = t._hooks = t._name = t._node = None
    t._persistable = False
    t._idx = t._version = 0


def wrap(value: Any, stop_gradient: bool = True, node: Any = None, idx: int = 0) -> Tensor:
    """A new Tensor of a value.

    Args:
        value: jax array, LazyArray, tracer, or another value that a Tensor may hold.
        stop_gradient: whether no gradient flows to the Tensor.
        node: the tape node that the value comes from, or None.
        idx: which output of the node it is.
    """
    t = Tensor.__new__(Tensor)
    t._raw = value
    t._stop = stop_gradient
    t._node = node
    t._idx = idx
    t._alias = t._grad = t._hooks = t._name = None
    t._version = 0
    t._persistable = False
    return t


def read_raw(tensor: Tensor) -> Any:
    """The value that a Tensor holds, to compute with it or to hand it on."""
    return local.ctx.frame.read(tensor)


def assign_all(tensors: Sequence[Tensor], values: Sequence[Any]) -> None:
    """Gives several Tensors new values in place, all or none of them."""
    local.ctx.frame.on_assign_all(tensors)
    set_all(_SET_RAW, tensors, values)
    for tensor in tensors:
        tensor._version += 1


_SET_RAW = Tensor._raw.__set__


class NumberTensor(Tensor):
    """A Tensor of a Python number, which no code changes."""

    __slots__ = ()


def raw_for_trace(tensor: Tensor) -> Any:
    """The value that a Tensor holds, for use inside a JAX trace.

    A Tensor that wants no gradient is a constant to JAX's derivatives, as it is to the tape.
    """
    raw = tensor._raw
    if tensor.stop_gradient and isinstance(raw, jax.core.Tracer):
        return jax.lax.stop_gradient_p.bind(raw)
    return raw


def host_value(tensor: Tensor, op: str, instead: str = "") -> np.ndarray:
    """The value as a NumPy array.

    Args:
        tensor: the Tensor.
        op: name of the function that needs the value, for errors.
        instead: advice for code inside a compiled function, where the value is not known.
    Raises:
        TracedValueError: the code runs inside a compiled function.
    """
    ctx = local.ctx
    raw = tensor._raw
    array = segments.read_held(ctx, raw)
    if array is not None:
        return array
    frame = ctx.frame
    if frame.reads_held_values and type(raw) is LazyArray:
        # the usual case without further calls: a value outside of traces, computed on the host
        array = raw.array
        if array is None:
            array = raw.segment.materialize(raw, True)
        if type(array) is np.ndarray and not PendingChecks.queue:
            return array
    known_value = frame.host_value(tensor)
    if known_value is not None:
        return known_value
    value = materialize(frame.read(tensor))
    if isinstance(value, jax.core.Tracer):
        error = TracedValueError(op, instead)
        frame.on_refusal(error)
        raise error
    return to_numpy(after_checks(value), op)


def host_elements(tensor: Tensor) -> np.ndarray:
    """The value as a NumPy array, which must not be changed; for code that runs eagerly only."""
    return to_numpy(after_checks(materialize(read_raw(tensor))))


def _unpickle(
    cls: Any, array: Any, stop_gradient: bool, persistable: bool, name: str | None, attributes: dict[Any, Any]
) -> Tensor:
    """A Tensor from a pickle."""
    # The two classes are written by name, so that a pickle does not depend on their module.
    cls = {"Tensor": Tensor, "Parameter": Parameter}.get(cls, cls)
    t = cls.__new__(cls)
    init_tensor(t, persistent_from_numpy(np.array(array)), stop_gradient)
    t.stop_gradient = stop_gradient
    t.persistable = persistable
    t._name = name
    t.__dict__.update(attributes)
    return t
