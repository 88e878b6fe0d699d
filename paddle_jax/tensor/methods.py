"""Methods and properties of Tensor that are no function of `paddle.*`: dtypes, devices, values, layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.ops.op import check_inplace
from paddle_jax._core.tape.moves import Move
from paddle_jax._core.tensors import place as places
from paddle_jax._core.tensors.device_text import Device
from paddle_jax._core.tensors.held_values import (
    assign_from,
    held_value,
    holds_symbol,
    numpy_dtype,
    plain_shape,
)
from paddle_jax._core.tensors.layout import restore_layout
from paddle_jax._core.tensors.tensor import Tensor, read_raw, wrap

# matrices declares tril and triu
from paddle_jax.tensor import creation, gathering, manipulation, matrices, reorder, slicing  # noqa: F401
from paddle_jax.tensor.axes import ints, one_axis, variadic_method
from paddle_jax.tensor.dense_tensor import Behind, DenseTensor

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax.base.libpaddle import CPUPlace


_CAST = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat16": "bfloat16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "bool": "bool",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "float16": "float16",
    "float32": "float32",
    "float64": "float64",
    "int8": "int8",
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
    "uint8": "uint8",
    "complex64": "complex64",
    "complex128": "complex128",
}


def _attach(function: Callable[..., Any], *names: Any) -> Callable[..., Any]:
    """Makes a function a method of Tensor under its own and other names."""
    for name in (function.__name__, *names):
        setattr(Tensor, name, function)
    return function


# dtype ------------------------------------------------------------------------------------------------------


@_attach
def astype(self, dtype: DTypeLike) -> Tensor:
    """The tensor in another dtype; itself where it has that dtype. See `cast`.

    Example:
        >>> paddle.to_tensor([1.5]).astype("int32").tolist()
        [1]
    """
    # A program records the cast in any case.
    if numpy_dtype(self) == dtypes.convert(dtype).np and not holds_symbol(self):
        return self
    return manipulation.cast(self, dtype)


def _caster(name: str, dtype: str) -> Callable[..., Any]:
    def method(self) -> Tensor:
        return astype(self, dtype)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"The tensor in the dtype {dtype}; itself where it has that dtype. See `cast`."
    return method


for _name, _dtype in _CAST.items():
    setattr(Tensor, _name, _caster(_name, _dtype))


@_attach
def type_as(self, other: Tensor) -> Tensor:
    """The tensor in the dtype of another one; itself where it has that dtype.

    Example:
        >>> paddle.to_tensor([1.5]).type_as(paddle.to_tensor([1])).tolist()
        [1]
    """
    return astype(self, other.dtype)


# devices ----------------------------------------------------------------------------------------------------


def _moved(x: Tensor, place: Any) -> Tensor:
    place = places.parse(place)
    if holds_symbol(x):  # a program runs where its Executor does
        return x
    # Already there: no copy, and the same object.
    if places.of(held_value(x)) == place:
        return x
    return run(Move(places.jax_device(place)), [x])


@_attach
def to(self, *args: Any, **kwargs: Any) -> Tensor:
    """A copy on another device or in another dtype; the tensor itself when nothing changes.

    Called as to(device, dtype, blocking), to(dtype, blocking) or to(other, blocking), positionally or by
    these names. With copy=True it is a copy in any case.

    Args:
        device: "cpu", "gpu:0", a Place.
        dtype: dtype in any spelling.
        other: Tensor whose device and dtype are taken.
        blocking: accepted; XLA orders transfers itself.
    Raises:
        TypeError: no argument, too many or unknown ones are given.
        ValueError: there is no such device or dtype.
    Example:
        >>> paddle.to_tensor([1.5]).to("int32").tolist()
        [1]
    """
    copy = kwargs.pop("copy", False)
    # Transfers of JAX are asynchronous anyway, so `non_blocking` says nothing.
    kwargs.pop("non_blocking", None)
    if not 0 < len(args) + len(kwargs) <= 3 or not set(kwargs) <= {"device", "dtype", "other", "blocking"}:
        raise TypeError(
            "to: got no fitting arguments; use to(device, dtype, blocking), to(dtype, blocking) "
            "or to(other, blocking)"
        )
    first = args[0] if args else kwargs.get("other")
    if isinstance(first, Tensor):
        device = first.place
        dtype = first.dtype
    else:
        device, dtype = _device_and_dtype(args, kwargs)
    moved = self if device is None else _moved(self, device)
    same = dtype is None or isinstance(first, Tensor) and dtypes.convert(dtype) is moved.dtype
    result = moved if same else manipulation.cast(moved, dtype)
    # The caller asked for an object of its own.
    if copy and result is self:
        return result.clone()
    return result


def _device_and_dtype(
    args: Sequence[CPUPlace | str], kwargs: dict[str, Any]
) -> tuple[Any | None, Any | None]:
    # Flags such as `blocking` may come by place.
    rest = [a for a in args if not isinstance(a, bool)]
    device = kwargs.get("device")
    dtype = kwargs.get("dtype")
    # A single argument may be a device or a dtype; a text that names a dtype is one.
    if rest and device is None and (dtype is not None or not _is_dtype(rest[0])):
        device = rest.pop(0)
    if rest and dtype is None and rest[0] is not None:
        dtype = rest.pop(0)
    if device is not None:
        _check_device(device)
    return device, dtype


def _is_dtype(value: Any) -> bool:
    if isinstance(value, places.Place) or value is None:
        return False
    try:
        dtypes.convert(value)
    except TypeError:
        return False
    return True


def _check_device(device: CPUPlace | str) -> None:
    known = ("cpu", "gpu", "cuda", "xpu", "npu", "dcu", "rocm", "tpu")
    if not isinstance(device, str):
        return
    kind = device.lower().partition(":")[0]
    # Names of the plugins that this machine has are taken as well.
    if kind not in known and kind not in places.local_kinds():
        raise ValueError(
            f"to: device: got {device!r}; allowed are 'cpu', 'gpu', 'gpu:0', 'tpu:0', a Place, "
            "or a dtype such as 'float32'"
        )


@_attach
def cpu(self) -> Tensor:
    """The tensor in the memory of the CPU; itself when it is there.

    Example:
        >>> paddle.ones([1]).cpu().place
        Place(cpu)
    """
    return _moved(self, "cpu")


@_attach
def cuda(self, device_id: int | None = None, blocking: bool = True) -> Any:
    """The tensor on a GPU; itself when it is there.

    Where JAX has devices that Paddle has no name for, such as TPUs, it is one of these.

    Args:
        device_id: int. Default: the current device, or the first if that is the CPU.
    Raises:
        ValueError: this machine has no such device.
    """
    if holds_symbol(self):  # a program runs where its Executor does
        return self
    return _moved(self, places.accelerator("cuda", device_id))


@_attach
def pin_memory(self, blocking: Any = True) -> Any:
    """The tensor in the memory of the host; itself when it is there. XLA pins memory for transfers."""
    return _moved(self, "cpu")


@_attach
def get_device(self) -> int:
    """The number of the GPU the tensor is on, -1 for the CPU.

    Example:
        >>> paddle.device.set_device("cpu"); paddle.ones([1]).get_device()
        Place(cpu)
        -1
    """
    place = self.place
    if place.is_cpu_place():
        return -1
    return place.get_device_id()


def _device(self) -> Device:
    """The device, a `paddle.device.Device`: the text "cpu" or "gpu:0"."""
    return Device(self.place)


Tensor.device = property(_device, doc=_device.__doc__)
Tensor.is_cuda = property(lambda self: self.place.is_gpu_place(), doc="Whether the tensor is on a GPU.")
Tensor._place_str = property(lambda self: str(self.place), doc="The place as text.")


# shape and layout -------------------------------------------------------------------------------------------


@_attach
def dim(var: Tensor) -> int:
    """The number of axes.

    Example:
        >>> paddle.ones([2, 3]).dim()
        2
    """
    return var.ndim


Tensor.ndimension = dim


@_attach
def element_size(self) -> int:
    """How many bytes one element takes.

    Example:
        >>> paddle.ones([2]).element_size()
        4
    """
    return numpy_dtype(self).itemsize


def _strides(shape: Sequence[int]) -> list[Any]:
    steps = []
    step = 1
    # Row by row: the last axis has neighbours side by side.
    for n in reversed(shape):
        steps.append(step)
        step *= n
    return steps[::-1]


@_attach
def stride(self, dim: Any = None) -> int | list[int]:
    """How far apart neighbours along each axis (or along `dim`) lie, in elements: always row by row.

    Example:
        >>> paddle.ones([2, 3]).stride()
        [3, 1]
    """
    steps = _strides(plain_shape(self))
    if dim is None:
        return steps
    return steps[one_axis("stride", dim, len(steps), "dim")]


@_attach
def get_strides(self) -> list[Any]:
    """The same as `stride()`."""
    return _strides(plain_shape(self))


@_attach
def contiguous(self, *, memory_format: Any = None) -> Tensor:
    """The tensor itself: elements always lie row by row. memory_format is ignored, as in Paddle."""
    return self


@_attach
def is_contiguous(self) -> bool:
    """True: elements always lie row by row."""
    return True


def _transposed(self) -> Tensor:
    """The tensor with its axes in reverse order."""
    return manipulation.permute_axes(self, tuple(range(self.ndim))[::-1])


def _matrix_transposed(self) -> Tensor:
    """The tensor with its last two axes swapped."""
    if self.ndim < 2:
        raise ValueError(f"mT: got a tensor of {self.ndim} axes; it needs at least 2")
    return manipulation.transpose(self, -2, -1)


Tensor.T = property(_transposed, doc=_transposed.__doc__)
Tensor.mT = property(_matrix_transposed, doc=_matrix_transposed.__doc__)
Tensor.itemsize = property(element_size, doc="How many bytes one element takes.")
Tensor.strides = property(get_strides, doc="How far apart neighbours along each axis lie, in elements.")
Tensor.layout = property(lambda self: "NCHW", doc="The memory layout, always NCHW.")
Tensor.offset = property(lambda self: 0, doc="Where the tensor begins in its memory, in bytes: always 0.")


@_attach
def is_same_shape(self, y: Tensor) -> bool:
    """Whether another tensor, dense or sparse, has the same shape.

    Example:
        >>> paddle.ones([2]).is_same_shape(paddle.ones([3]))
        False
    """
    return list(self.shape) == list(y.shape)


@_attach
def dense_dim(self) -> Any:
    """How many of the axes are stored densely: all.

    Example:
        >>> paddle.ones([2, 3]).dense_dim()
        2
    """
    return self.ndim


def _answer(name: str, value: int, doc: str) -> None:
    def method(self) -> Any:
        return value

    method.__name__ = method.__qualname__ = name
    method.__doc__ = doc
    setattr(Tensor, name, method)


_answer("is_dense", True, "True: this is a dense tensor.")
for _name in ("is_sparse", "is_sparse_coo", "is_sparse_csr", "is_selected_rows", "is_dist"):
    # Methods that another module defined stay.
    if not hasattr(Tensor, _name):
        _answer(_name, False, "False: this is a dense tensor on one device or sharded by XLA.")
_answer("sparse_dim", 0, "How many of the axes are stored sparsely: none.")
for _name in ("placements", "process_mesh", "num_shard"):
    setattr(
        Tensor, _name, property(lambda self: None, doc="None: this tensor is not distributed over a mesh.")
    )

Tensor.swapaxes = Tensor.swapdims = manipulation.transpose
Tensor.reverse = reorder.flip
Tensor.take_along_dim = gathering.take_along_axis


@_attach
@variadic_method
def repeat(input: Tensor, repeats: Any) -> Tensor:
    """Repeats the whole tensor along its axes: x.repeat(2, 1) or x.repeat([2, 1]). See `tile`.

    Example:
        >>> paddle.to_tensor([1, 2]).repeat(2).tolist()
        [1, 2, 1, 2]
    """
    return manipulation.tile(input, repeats)


# values -----------------------------------------------------------------------------------------------------


@_attach
def set_value(self, value: Any) -> None:
    """Replaces the value, in place and unrecorded.

    Args:
        value: Tensor or NumPy array of the same shape and dtype.
    Raises:
        AssertionError: the type, shape or dtype differs.
    Example:
        >>> x = paddle.zeros([2]); x.set_value(paddle.ones([2])); x.tolist()
        [1.0, 1.0]
    """
    if not isinstance(value, Tensor | np.ndarray | jax.Array):
        raise AssertionError(
            f"set_value: value: got {type(value).__name__}; it must be a Tensor or a NumPy array"
        )
    array = read_raw(value) if isinstance(value, Tensor) else value
    if tuple(array.shape) != tuple(plain_shape(self)):
        raise AssertionError(
            f"set_value: value: got shape {list(array.shape)}; {self.name} has {list(self.shape)}"
        )
    if array.dtype != numpy_dtype(self):
        raise AssertionError(
            f"set_value: value: got dtype {array.dtype}; {self.name} has {numpy_dtype(self)}"
        )
    if not isinstance(value, Tensor):
        # A copy, since the caller may change the array later.
        array = places.put(np.array(array), self.place)
    else:
        array = places.beside(array, self.place)  # the Tensor stays on its device
    self._fill(array)
    restore_layout(self)


@_attach
def copy_(self, other: Tensor, blocking: bool = True, *, non_blocking: bool = False) -> Tensor:
    """Takes over the value of another tensor, unrecorded; returns the tensor.

    Args:
        other: Tensor of the same dtype.
        blocking, non_blocking: no difference here: a copy that is under way is waited for where it is read.
    Raises:
        ValueError: other is no Tensor.
        RuntimeError: the dtypes differ.
    Example:
        >>> paddle.zeros([1]).copy_(paddle.ones([1])).tolist()
        [1.0]
    """
    if not isinstance(other, Tensor):
        raise ValueError(f"(InvalidArgument) copy_: other: got {type(other).__name__}; it must be a Tensor")
    if numpy_dtype(other) != numpy_dtype(self):
        raise RuntimeError(
            f"copy_: other: got dtype {numpy_dtype(other).name}; the tensor has {numpy_dtype(self).name}"
        )
    # Recorded history ends here: the value alone is copied.
    assign_from(self, _moved(other, self.place))
    restore_layout(self)
    return self


@_attach
def clone(self, *, memory_format: Any = None) -> Tensor:
    """A copy that takes part in recording. memory_format is ignored, as in Paddle. See `paddle.clone`."""
    return creation.clone(self)


@_attach
def fill_(x: Tensor, value: Any) -> Tensor:
    """Fills the tensor in place with a number; returns it.

    Raises:
        TypeError: value is not a number.
    Example:
        >>> paddle.zeros([2]).fill_(3).tolist()
        [3.0, 3.0]
    """
    if not isinstance(value, bool | int | float | complex | np.number):
        raise TypeError(f"fill_: value: got {type(value).__name__}; it must be a number")
    # The leaf must not change while a gradient is wanted.
    check_inplace("fill_", x)
    return x._adopt(creation.full_like(x, value))


@_attach
def zero_(x: Tensor) -> Tensor:
    """Fills the tensor in place with zeros; returns it.

    Example:
        >>> paddle.ones([2]).zero_().tolist()
        [0.0, 0.0]
    """
    check_inplace("zero_", x)
    return x._adopt(creation.zeros_like(x))


@_attach
def apply(self, func: Callable[..., Any]) -> Tensor:
    """func(tensor), for tensors outside of recording.

    Raises:
        RuntimeError: the tensor needs a gradient.
    Example:
        >>> paddle.to_tensor([1, 2]).apply(lambda t: t + 1).tolist()
        [2, 3]
    """
    if not self.stop_gradient:
        raise RuntimeError(
            "apply: the tensor needs a gradient; call the function on it directly, or detach() it first"
        )
    return func(self)


@_attach
def apply_(self, func: Callable[..., Any]) -> Tensor:
    """Puts func(tensor) into the tensor; returns it. See `apply`."""
    return self._adopt(apply(self, func))


@_attach
def resize_(x: Tensor, shape: Any, fill_zero: bool = False, name: str | None = None) -> Tensor:
    """Changes shape and size in place: keeps the elements in order, cuts off or adds zeros at the end;
    returns the tensor.

    Raises:
        ValueError: a length is negative.
    Example:
        >>> paddle.ones([2]).resize_([3], fill_zero=True).tolist()
        [1.0, 1.0, 0.0]
    """
    check_inplace("resize_", x)
    shape = creation.sizes("resize_", shape)
    size = int(np.prod(shape, dtype=np.int64))
    # The elements are read first, as the tensor gets another size below.
    flat = x._value.reshape(-1)[:size]
    x._rebind(jnp.pad(flat, (0, size - flat.size)).reshape(shape))
    return x


@_attach
def set_(
    x: Tensor,
    source: Tensor | None = None,
    shape: Any = None,
    stride: Any = None,
    offset: Any = 0,
    name: str | None = None,
) -> Tensor:
    """Takes over the elements of another tensor, read with a shape, steps and offset of one's own; without
    one becomes empty. Returns the tensor.

    Args:
        source: Tensor of the same dtype.
        shape, stride, offset: as for `as_strided`. Default: those of source.
    Raises:
        ValueError: the dtypes differ, or an element would lie outside source.
    Example:
        >>> paddle.zeros([1], "int64").set_(paddle.arange(4), [2], [2]).tolist()
        [0, 2]
    """
    check_inplace("set_", x)
    if source is None:
        source = wrap(jnp.zeros((0,), numpy_dtype(x)))
    if numpy_dtype(source) != numpy_dtype(x):
        raise ValueError(
            f"set_: source: got dtype {numpy_dtype(source).name}; the tensor has {numpy_dtype(x).name}"
        )
    # Nothing but another source: its array is shared.
    if shape is None and stride is None and not offset:
        x._rebind(read_raw(source))
        return x
    if shape is None:
        shape = tuple(source.shape)
    else:
        shape = ints("set_", shape, "shape")
    if stride is None:
        stride = _strides(shape)
    assign_from(x, slicing.as_strided(source, list(shape), list(stride), offset))
    return x


Tensor.grad_ = property(lambda self: self._grad, doc="The gradient, the same as `grad`.")


@_attach
def gradient(self) -> np.ndarray | None:
    """The gradient as a NumPy array, or None.

    Example:
        >>> x = paddle.ones([1]); x.stop_gradient = False; (x * 2).backward(); x.gradient().tolist()
        [2.0]
    """
    if self._grad is None:
        return None
    return self._grad.numpy()


@_attach
def requires_grad_(self, requires_grad: bool = True) -> Tensor:
    """Says whether gradients are wanted, the opposite of stop_gradient; returns the tensor.

    Example:
        >>> paddle.ones([1]).requires_grad_().stop_gradient
        False
    """
    self.stop_gradient = not requires_grad
    return self


@_attach
def value(self) -> Tensor:
    """The tensor itself, as older programs expect it behind a variable."""
    return self


@_attach
def get_tensor(self) -> DenseTensor:
    """The storage of the tensor, a DenseTensor."""
    return DenseTensor(Behind(self))


@_attach
def data_ptr(self) -> Any:
    """The address of the first element."""
    return self._value.unsafe_buffer_pointer()


@_attach
def __long__(self) -> int:
    return int(self)


@_attach
def __nonzero__(self) -> bool:
    return bool(self)


# tensors of the same kind -----------------------------------------------------------------------------------


def _new(make: Callable[..., Any]) -> Callable[..., Any]:
    def method(
        var: Tensor,
        size: Any,
        *,
        dtype: str | None = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Tensor:
        return make(
            size,
            var.dtype if dtype is None else dtype,
            device=var.place if device is None else device,
            requires_grad=requires_grad,
        )

    method.__name__ = method.__qualname__ = f"new_{make.__name__}"
    method.__doc__ = (
        f"A tensor like paddle.{make.__name__} makes, with the dtype and device of this one by "
        f"default. See `{make.__name__}`."
    )
    return variadic_method(method)


for _make in (creation.zeros, creation.ones, creation.empty):
    setattr(Tensor, f"new_{_make.__name__}", _new(_make))


@_attach
def new_full(
    var: Tensor,
    size: Any,
    fill_value: Any,
    *,
    dtype: DTypeLike | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor filled with one value, with the dtype and device of this one by default. See `full`.

    Example:
        >>> paddle.to_tensor([1]).new_full([2], 7).tolist()
        [7, 7]
    """
    dtype = var.dtype if dtype is None else dtype
    device = var.place if device is None else device
    return creation.full(size, fill_value, dtype, device=device, requires_grad=requires_grad)
