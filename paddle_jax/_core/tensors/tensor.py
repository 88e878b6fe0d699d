"""Tensor: a value with gradient state.

Operators and most methods come from the declarations of ops. The gradient methods are in
tape/tensor_methods.py, the text of a Tensor in printing.py; both attach themselves by `tensor_method`.
"""

import math

import jax
import numpy as np

from paddle_jax._core.base import bool_attributes, unique_name
from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import ArgumentError, TracedValueError
from paddle_jax._core.base.interrupt_safe import set_all
from paddle_jax._core.base.size import Size, TensorSize, are_known
from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.value_checks import after_checks
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.lazy_array import LazyArray, persistent_from_numpy
from paddle_jax._core.lazy.transfer import materialize, to_jax_array, to_numpy
from paddle_jax._core.tensors import place as places
from paddle_jax._core.tensors.views import link, share


class Tensor:
    """A multi-dimensional array that can record what is computed from it.

    Args:
        data: list, NumPy array or Tensor; a list becomes the default floating dtype. Or integers: the lengths
            of the axes, filled with zeros.
        rest: further lengths; beside an array the arguments below in the order of Paddle: place, persistable,
            zero_copy, name, stop_gradient.
        value: another name for data.
        dtype: dtype of the result. Default: that of `data`.
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
        data=None,
        *rest,
        value=None,
        dtype=None,
        place=None,
        stop_gradient=True,
        name=None,
        persistable=False,
        zero_copy=None,
    ):
        data = value if data is None else data
        if type(data) is int:
            data = np.zeros((data, *rest), dtypes.default().np)
        elif rest and not isinstance(rest[0], places.Place | None):
            dtype = rest[0]
        else:
            ordered = (*rest, *(place, persistable, zero_copy, name, stop_gradient)[len(rest) :])
            place, persistable, zero_copy, name, stop_gradient = ordered
        want = None if dtype is None else dtypes.convert(dtype).np
        if data is None:
            value = persistent_from_numpy(np.zeros((0,), want or np.float32))
        elif isinstance(data, Tensor):
            value = held(data) if want is None else data._value.astype(want)
        elif isinstance(data, jax.core.Tracer):
            value, stop_gradient = data if want is None else data.astype(want), data.dtype.kind not in INEXACT
        else:
            array = np.array(data)  # a copy: jax may share the memory of a NumPy array
            if want is not None or not isinstance(data, np.ndarray):
                array = array.astype(dtypes.default().np if want is None else want)
            value = places.put(array, place)
        init(self, value, stop_gradient)
        self._name, self.persistable = name, persistable
        if isinstance(data, Tensor) and value is data._raw and not local.ctx.frame.recording:
            link(self, data)  # as in Paddle it shares the memory of the Tensor

    # value and identity -------------------------------------------------------------------------------------

    @property
    def _value(self):
        """The concrete jax array: runs what is pending. For shape, dtype and handing the
        value on, use `_raw`."""
        return after_checks(to_jax_array(held(self)))

    @_value.setter
    def _value(self, value):
        local.ctx.frame.on_assign(self)
        self._raw = value

    def _rebind(self, value):
        """Replaces the value in place, as an in-place operation does."""
        before = self._raw
        self._put(value)
        self._version += 1
        if self._alias is not None:
            share(self, before, self._version - 1)

    def _fill(self, value):
        """Replaces the value without counting it as a change; the history stays."""
        before = self._raw
        self._put(value)
        if self._alias is not None:
            share(self, before, self._version)

    def _put(self, value):
        """As `_fill`, for this Tensor alone: its views, and what it is a view of, stay as they are."""
        if type(value) is not LazyArray:
            local.ctx.frame.on_assign(self)
        self._raw = value

    def _adopt(self, other):
        """Becomes `other` (value and history) while staying the same object: the end of every
        in-place operation."""
        if type(other._raw) is not LazyArray:
            local.ctx.frame.on_assign(self)
        if other._node is not None or self._node is None:
            self._node, self._idx = other._node, other._idx
        elif local.ctx.grad:
            self._end_history()  # unrecorded changes leave the history as it is
        before, self._raw = self._raw, other._raw
        self.stop_gradient = self.stop_gradient and other.stop_gradient
        self._version += 1
        if self._alias is not None:
            share(self, before, self._version - 1)
        return self

    @property
    def shape(self):
        """The lengths of the axes, as a list."""
        return Size(self._raw.shape)

    @property
    def ndim(self):
        """The number of axes."""
        return self._raw.ndim

    @property
    def size(self):
        """The number of elements. Called, `x.size()` and `x.size(axis)`, the shape or the
        length of an axis."""
        shape = self._raw.shape
        return TensorSize(shape) if are_known(*shape) else math.prod(shape)

    @property
    def dtype(self):
        """The data type, e.g. paddle.float32."""
        return dtypes.of(self._raw)

    @property
    def name(self):
        """The name; made on first use."""
        if self._name is None:
            self._name = unique_name.generate("generated_tensor" if self._node is None else "eager_tmp")
        return self._name

    @name.setter
    def name(self, value):
        if not isinstance(value, str):
            raise TypeError(f"Tensor.name: got {type(value).__name__}; assign a str")
        self._name = value

    @property
    def place(self):
        """The device the value is on."""
        return places.of(self._raw)

    @property
    def inplace_version(self):
        """How often the value was replaced in place."""
        return self._version

    def __hash__(self):
        return id(self)

    # gradient -----------------------------------------------------------------------------------------------

    @property
    def is_leaf(self):
        """True for tensors that the user made, False for results of recorded operations."""
        return self._node is None

    @property
    def requires_grad(self):
        """The opposite of stop_gradient."""
        return not self.stop_gradient

    @requires_grad.setter
    def requires_grad(self, value):
        self.stop_gradient = not bool_attributes.check_bool("requires_grad", value)

    def detach(self):
        """A Tensor with the same value that takes no part in recording; what is done to one in place is
        done to the other."""
        found = self._snapshot()
        if not local.ctx.frame.recording:
            link(found, self)
        return found

    def _snapshot(self):
        """As `detach`, but what is done to this one later does not show."""
        raw = held(self)
        if isinstance(raw, jax.core.Tracer) and raw.dtype.kind in INEXACT:
            # JAX's derivatives too end here, also where it wants a gradient of its own later
            raw = jax.lax.stop_gradient_p.bind(raw)
        return wrap(raw)

    @property
    def data(self):
        """A Tensor with the same value that takes no part in recording; what is written into it is written
        into this one too."""
        return self.detach()

    @data.setter
    def data(self, other):
        if not isinstance(other, Tensor):
            raise ArgumentError(f"Tensor.data: got {type(other).__name__}; assign a Tensor")
        self._rebind(held(other))

    def detach_(self):
        """Cuts this tensor from what produced it, in place."""
        self._node, self._idx, self.stop_gradient = None, 0, True
        return self

    # host values --------------------------------------------------------------------------------------------

    def numpy(self, blocking=True, *, force=False):
        """A NumPy copy of the value. bfloat16 comes as ml_dtypes.bfloat16. The arguments change nothing."""
        return np.array(on_host(self, "numpy"))

    def tolist(x):
        """The value as nested lists of Python numbers."""
        return on_host(x, "tolist").tolist()

    def item(self, *args):
        """The value of a one-element tensor, or the element at the given flat or multi-dimensional index, as
        a Python number.

        Raises:
            ValueError: no index is given and there is not exactly one element, or the index is negative
                or out of range.
            TypeError: an index is not an integer.
        """
        array = on_host(self, "item")
        if not args and array.size != 1:
            raise ValueError(
                f"(InvalidArgument) item: got a tensor of {array.size} elements; "
                "only one can become a Python number; give an index"
            )
        if any(isinstance(i, bool) or not hasattr(i, "__index__") for i in args):
            raise TypeError(f"item: got the index {args}; each one must be an integer")
        index = tuple(int(i) for i in args)
        limits = array.shape if len(index) == array.ndim else (array.size,) * (len(index) == 1)
        if index and not (
            limits
            and all(0 <= i < n for i, n in zip(index, limits, strict=True))
            or array.ndim == 0
            and index == (0,)
        ):
            raise ValueError(
                f"(InvalidArgument) item: index {args} is out of range for shape "
                f"{list(array.shape)}; use 0..length - 1"
            )
        return array.item(*(index if array.ndim else ()))

    def __array__(self, dtype=None, copy=None):
        array = on_host(self, "__array__")
        # always a copy, which may be written into
        return array.astype(dtype) if dtype is not None and array.dtype != dtype else np.array(array)

    def __jax_array__(self):
        return inside(self) if isinstance(self._raw, jax.core.Tracer) else self._value

    def __dlpack__(self, *args, **kwargs):
        if not self.stop_gradient:
            raise BufferError(
                "__dlpack__: the tensor needs a gradient, which another library would not know; use detach()"
            )
        return self._value.__dlpack__(*args, **kwargs)

    def __dlpack_device__(self):
        return self._value.__dlpack_device__()

    @property
    def __cuda_array_interface__(self):
        return self._value.__cuda_array_interface__  # an AttributeError where the array is not on a GPU

    def _one(self, kind):
        if self._raw.size != 1:
            raise AssertionError(
                f"{kind}: got a tensor of shape {list(self._raw.shape)}; only one element can be converted"
            )
        return on_host(self, kind).reshape(())[()]

    def __bool__(self):
        return bool(self._one("bool") > 0)  # as in Paddle, negative numbers count as false

    def __float__(self):
        return float(self._one("float").item())

    def __int__(self):
        return int(self._one("int").item())

    def __complex__(self):
        return complex(self._one("complex"))

    def __index__(self):
        return int(self._one("index").item())

    def __len__(self):
        if self._raw.ndim == 0:
            raise AssertionError("len: a 0-D tensor has no length")
        return self._raw.shape[0]

    def __iter__(self):
        if self._raw.ndim == 0:
            raise TypeError("iteration over a 0-D tensor is not possible")
        return (self[i] for i in range(self._raw.shape[0]))

    def __contains__(self, item):
        if self._raw.ndim == 1 and isinstance(item, bool | int | float | np.number):
            return bool((self == item).any())
        return any(row is item or row == item for row in self)

    def __format__(self, spec):
        return object.__format__(self, spec) if self._raw.ndim else format(self.item(), spec)

    def __copy__(self):
        return wrap(held(self), self.stop_gradient)

    def __deepcopy__(self, memo):
        copy = type(self).__new__(type(self))
        init(copy, held(self), self.stop_gradient)
        copy.persistable, copy._dist = self.persistable, getattr(self, "_dist", None)
        copy._name = self.name + unique_name.generate("_deepcopy")  # one counter for all, as in Paddle
        copy.__dict__.update(self.__dict__)
        memo[id(self)] = copy
        return copy

    def __reduce__(self):
        # by name: the module they show may not be importable
        own = {Tensor: "Tensor", Parameter: "Parameter"}
        kind = own.get(type(self), type(self))
        return _unpickle, (
            kind,
            to_numpy(after_checks(materialize(held(self)))),
            self.stop_gradient,
            self.persistable,
            self._name,
            dict(self.__dict__),
        )

    def _set_meta(self, stop_gradient, persistable, name, attributes):
        self.stop_gradient, self.persistable, self._name = stop_gradient, persistable, name
        self.__dict__.update(attributes)


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

    def __init__(self, value=None, requires_grad=True, name=None, *, trainable=None):
        if not isinstance(value, Tensor | jax.Array | None):
            error = ValueError if isinstance(value, np.ndarray) else TypeError
            raise error(
                f"Parameter: value: got {type(value).__name__}; it must be a Tensor; "
                "make one with paddle.to_tensor"
            )
        array = (
            persistent_from_numpy(np.zeros((0,), np.float32))
            if value is None
            else held(value)
            if isinstance(value, Tensor)
            else value
        )
        init(self, array, not (requires_grad if trainable is None else trainable))
        self._name, self.persistable = name or unique_name.generate("_eager_param_base"), True
        self.__dict__.update(
            optimize_attr={"learning_rate": 1.0},
            regularizer=None,
            do_model_average=None,
            need_clip=True,
            is_distributed=False,
            init_func=None,
        )

    @property
    def trainable(self):
        """Whether an optimizer updates the parameter."""
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, value):
        if not isinstance(value, bool):
            raise ValueError(f"trainable: got {type(value).__name__}; it must be a bool")
        self.stop_gradient = not value

    def set_init_func(self, obj):
        """Sets the function that `initialize` calls with the parameter."""
        self.init_func = obj

    def initialize(self):
        """Fills a parameter that was made under `paddle.LazyGuard`.

        Raises:
            AssertionError: it was not made lazily, or is filled already.
        """
        if self.init_func is None:
            raise AssertionError(
                f"initialize: {self.name} has its values already; "
                "only parameters made under paddle.LazyGuard can be initialized"
            )
        fill, self.init_func = self.init_func, None
        fill(self)

    def __repr__(self):
        return "Parameter containing:\n" + Tensor.__repr__(self)

    __str__ = __repr__

    def __deepcopy__(self, memo):
        copy = Tensor.__deepcopy__(self, memo)
        copy.optimize_attr = dict(self.optimize_attr)
        return copy

    @classmethod
    def from_tensor(cls, tensor, **kwargs):
        """A Parameter with the value of a Tensor; keyword arguments are those of the constructor."""
        return cls(tensor, **kwargs)


def tensor_method(attribute):
    """Makes a function or property an attribute of Tensor, as if the class had defined it.

    Modules above this one add by it the methods that need their code.
    """
    function = attribute.fget if isinstance(attribute, property) else attribute
    name = function.__name__
    function.__module__ = __name__
    function.__qualname__ = f"Tensor.{name}"
    setattr(Tensor, name, attribute)
    return attribute


EagerParamBase = Parameter  # the name it prints and pickles under
Parameter.__name__ = Parameter.__qualname__ = "EagerParamBase"
Tensor.__module__ = "paddle"


def init(t, value, stop_gradient):
    """Fills the slots of a new Tensor."""
    t._raw, t._stop = value, bool(stop_gradient)
    t._alias = t._grad = t._hooks = t._name = t._node = None
    t._persistable, t._idx, t._version = False, 0, 0


def wrap(value, stop_gradient=True, node=None, idx=0) -> Tensor:
    """Makes a Tensor round a jax array."""
    t = Tensor.__new__(Tensor)
    t._raw = value
    t._stop = stop_gradient
    t._node, t._idx = node, idx
    t._alias = t._grad = t._hooks = t._name = None
    t._version, t._persistable = 0, False
    return t


def held(tensor):
    """What a Tensor holds, to compute with it or to hand it on."""
    return local.ctx.frame.read(tensor)


def rebind_all(tensors, values):
    """Gives several Tensors new values in place, all or none of them."""
    frame = local.ctx.frame
    if not frame.eager:
        for tensor in tensors:
            frame.on_assign(tensor, False)
    set_all(_SET_RAW, tensors, values)
    for tensor in tensors:
        tensor._version += 1


_SET_RAW = Tensor._raw.__set__


class Number(Tensor):
    """A Tensor of a Python number, which no one changes."""

    __slots__ = ()


def inside(tensor):
    """What a Tensor holds, for use inside a JAX trace: one that wants no gradient is a constant to JAX's
    derivatives as it is to the tape."""
    raw = tensor._raw
    return (
        jax.lax.stop_gradient_p.bind(raw)
        if tensor.stop_gradient and isinstance(raw, jax.core.Tracer)
        else raw
    )


def on_host(tensor, op, instead=""):
    """The value as a NumPy array, for what a host has to know. Inside a compiled function an error says
    what to do instead."""
    frame = local.ctx.frame
    known_value = frame.host_value(tensor)
    if known_value is not None:
        return known_value
    value = materialize(held(tensor))
    if isinstance(value, jax.core.Tracer):
        error = TracedValueError(op, instead)
        frame.on_refusal(error)
        raise error
    return to_numpy(after_checks(value), op)


def elements(tensor):
    """The value as a NumPy array that nobody may write into, wherever it lies; for what is
    run eagerly only."""
    return to_numpy(after_checks(materialize(held(tensor))))


def _unpickle(cls, array, stop_gradient, persistable, name, attributes):
    cls = {"Tensor": Tensor, "Parameter": Parameter}.get(cls, cls)
    t = cls.__new__(cls)
    init(t, persistent_from_numpy(np.array(array)), stop_gradient)
    t._set_meta(stop_gradient, persistable, name, attributes)
    return t
