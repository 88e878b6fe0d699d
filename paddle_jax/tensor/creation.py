"""Making tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.base.out_of_memory import as_out_of_memory
from paddle_jax._core.base.size import are_known
from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.lazy.aval import INEXACT, aval_of
from paddle_jax._core.lazy.lazy_array import LazyArray, constant, persistent_from_numpy
from paddle_jax._core.lazy.lengths import LengthBool, has_lengths, is_length, substitute
from paddle_jax._core.lazy.transfer import to_array
from paddle_jax._core.ops.op import _into, composite, op
from paddle_jax._core.tensors import place as places
from paddle_jax._core.tensors.held_values import held_value, numpy_dtype, plain_shape
from paddle_jax._core.tensors.layout import copy_layout
from paddle_jax._core.tensors.tensor import Tensor, read_raw, wrap
from paddle_jax.tensor.axes import ints, variadic
from paddle_jax.tensor.host_data import host_array, plain

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax.base.libpaddle import CPUPlace


_SMALL = 1 << 16  # elements


@composite(
    method=False,
    cases=[
        "[1, 2.5]",
        "3",
        "True",
        "1j",
        "[[1, 2], [3, 4]], 'float32'",
        "np.ones((2,))",
        "[1, 2], stop_gradient=False",
        "'a'",
        "None",
        "[[1, 2], [3]]",
        "[f(2), f(2)]",
        "np.ones((2,), 'int32'), 'float64'",
        "[]",
        "np.float32(2)",
    ],
)
def to_tensor(
    data: Any,
    dtype: DTypeLike | None = None,
    place: Any = None,
    stop_gradient: bool = True,
    device: Any = None,
) -> Tensor:
    """Makes a tensor from numbers, nested lists, NumPy arrays or Tensors. The data are copied.

    Args:
        data: number, bool, list or tuple (nested, may hold Tensors), NumPy array, Tensor, jax array. What a
            JAX transform traces wants gradients.
        dtype: dtype of the result. Default: that of the data; Python floats become the default floating
            dtype, ints int64.
        place: where the tensor is put, e.g. "cpu" or paddle.CPUPlace(). Default: the current device.
        stop_gradient: False makes it a leaf that gets gradients.
        device: another name for place.
    Returns:
        Tensor.
    Raises:
        TypeError: data is not one of these.
        ValueError: nested lists are of unequal length.
    Example:
        >>> paddle.to_tensor([[1, 2], [3, 4]]).shape
        paddle.Size([2, 2])
    """
    if place is None:
        place = device
    if dtypes.is_short(dtype):
        raise TypeError(
            f"to_tensor: dtype: got {dtype!r}; give the width too, as in {str(dtypes.convert(dtype))[7:]!r}"
        )
    want = None if dtype is None else dtypes.convert(dtype).np
    if isinstance(data, Tensor | jax.Array):
        value = read_raw(data) if isinstance(data, Tensor) else data
        # A copy to another device or dtype; otherwise the value is shared, as arrays never change.
        if place is not None or (want is not None and want != value.dtype):
            value = to_array(value)
            if want is not None:
                value = value.astype(want)
            if place is not None:
                value = places.put(value, place)
        if isinstance(data, jax.core.Tracer) and data.dtype.kind in INEXACT:
            stop_gradient = False  # JAX decides what it differentiates
        return wrap(value, bool(stop_gradient))
    # Lengths that a static program learns at run time are no numbers yet.
    if local.ctx.frame.symbolic and has_lengths(data):
        return local.ctx.frame.tensor_of(data, want)
    array = host_array(data, exact=want is not None)
    if want is not None and array.dtype != want:
        array = array.astype(want)
    # A copy, as the caller may change the array later.
    return wrap(places.put(np.array(array), place), bool(stop_gradient))


def as_numpy_dtype(dtype: DTypeLike, default: Any = None) -> Any:
    """The NumPy dtype of an optional dtype argument."""
    if dtype is None:
        return (default or dtypes.default()).np
    return dtypes.convert(dtype).np


def finish(
    value: Any, out: Any = None, device: CPUPlace | None = None, requires_grad: bool = False
) -> Tensor:
    """The Tensor of a creation function: on the device asked for, as a leaf that gets gradients or not, put
    into `out` if given."""
    made = wrap(value if device is None else places.put(value, device), not requires_grad)
    if out is None:
        return made
    return _into(out, made)


def filled(shape: Any, value: Any, dtype: DTypeLike) -> Any:
    """An array of one value. Small ones come from NumPy, which needs no compilation for a new shape."""
    if local.ctx.frame.symbolic and (has_lengths(shape) or is_length(value)):
        return local.ctx.frame.filled(shape, value, dtype)
    # Large ones are made on the device, without a copy from the host.
    if not are_known(*shape) or math.prod(shape) > _SMALL or isinstance(value, jax.Array):
        try:
            return jnp.full(shape, value, dtype)
        except (jax.errors.JaxRuntimeError, ValueError) as error:
            # The error of XLA says nothing of what was asked for.
            raise as_out_of_memory(error, f"filling a tensor of shape {list(shape)}") from None
    return persistent_from_numpy(np.full(shape, value, dtype))


def sizes(op: str, shape: Any, refusal: Any = ValueError) -> tuple[Any, ...]:
    """A shape argument as a tuple of lengths >= 0. refusal: class of the exception for others.

    As in Paddle a Tensor of several integers among the lengths counts as its first.
    """
    if isinstance(shape, list | tuple):
        # A shape may hold Tensors of one element, also with axes.
        shape = [s.reshape([-1])[0] if isinstance(s, Tensor) and s.size > 1 else s for s in shape]
    found = ints(op, shape, "shape")
    # The sign of a length that is not known shows when the program runs.
    if any(are_known(s) and not is_length(s) and s < 0 for s in found):
        raise refusal(f"{op}: shape: got {list(found)}; lengths are >= 0")
    return found


SHAPES = [
    "[2, 3]",
    "[]",
    "[0, 3]",
    "[2], 'int64'",
    "[-2]",
    "2, 3",
    "const([2, 3], 'int64')",
    "[const(2, 'int64'), 3]",
    "[2], dtype='bool'",
    "'a'",
]


@composite(method=False, alias={"size": "shape"}, cases=SHAPES)
def zeros(
    shape: Any,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: CPUPlace | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of zeros.

    Args:
        shape: list or tuple of ints, or 1-D int Tensor; its items may be Tensors. The lengths may also be
            given as separate arguments.
        dtype: Default: the default floating dtype.
        out: Tensor that receives the result.
        device: where it is put, e.g. "cpu". Default: the current device.
        requires_grad: True makes it a leaf that gets gradients.
        pin_memory: accepted; XLA manages transfers.
    Returns:
        Tensor of the given shape.
    Raises:
        ValueError: a length is negative.
    Example:
        >>> paddle.zeros([2]).tolist()
        [0.0, 0.0]
    """
    return finish(filled(sizes("zeros", shape), 0, as_numpy_dtype(dtype)), out, device, requires_grad)


zeros = variadic(zeros, 0)


@composite(method=False, alias={"size": "shape"}, cases=SHAPES)
def ones(
    shape: Any,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Any = None,
    device: CPUPlace | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of ones.

    Args:
        shape: list or tuple of ints, or 1-D int Tensor; its items may be Tensors. The lengths may also be
            given as separate arguments.
        dtype: Default: the default floating dtype.
        device: where it is put, e.g. "cpu". Default: the current device.
        requires_grad: True makes it a leaf that gets gradients.
        pin_memory: accepted; XLA manages transfers.
        out: Tensor that receives the result.
    Returns:
        Tensor of the given shape.
    Example:
        >>> paddle.ones([2]).tolist()
        [1.0, 1.0]
    """
    return finish(filled(sizes("ones", shape), 1, as_numpy_dtype(dtype)), out, device, requires_grad)


ones = variadic(ones, 0)


@composite(method=False, alias={"size": "shape"}, cases=["~" + c for c in SHAPES[:6]])
def empty(
    shape: Any,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Any = None,
    device: CPUPlace | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor whose values are left open (here: zeros).

    Args:
        shape: list or tuple of ints, or 1-D int Tensor; its items may be Tensors. The lengths may also be
            given as separate arguments.
        dtype: Default: the default floating dtype.
        device: where it is put, e.g. "cpu". Default: the current device.
        requires_grad: True makes it a leaf that gets gradients.
        pin_memory: accepted; XLA manages transfers.
        out: Tensor that receives the result.
    Returns:
        Tensor of the given shape.
    Example:
        >>> paddle.empty([2, 3]).shape
        paddle.Size([2, 3])
    """
    return finish(filled(sizes("empty", shape), 0, as_numpy_dtype(dtype)), out, device, requires_grad)


empty = variadic(empty, 0)


@composite(
    method=False,
    alias={"size": "shape"},
    cases=[
        "[2], 3",
        "[2], 3.5",
        "[2], True",
        "[2], 1j",
        "[], 1",
        "[2, 0], 1.0",
        "[2], 3, 'int32'",
        "[2], const(2.0, 'float32')",
        "[2], const([2], 'int64')",
        "[2], '3'",
        "[2], 'nan'",
        "[2], None",
        "[-2], 1",
        "const([2, 3], 'int64'), 1",
        "2, 1.5",
        "[2], 2.7, 'int64'",
        "[2], 3, 'bool'",
        "[2], np.float64(2)",
    ],
)
def full(
    shape: Any,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Any = None,
    device: CPUPlace | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor filled with one value.

    Args:
        shape: as for `zeros`.
        fill_value: number, bool, text of a number such as "nan", or Tensor of one element.
        dtype: Default: bool for a bool, complex128 for a complex number, otherwise the
            default floating dtype.
        out, device, requires_grad, pin_memory: as for `zeros`.
    Returns:
        Tensor of the given shape.
    Raises:
        TypeError: fill_value is none of these.
        ValueError: a length is negative.
    Example:
        >>> paddle.full([2], 7, "int64").tolist()
        [7, 7]
    """
    if dtype is None:
        # As Paddle infers it: a bool or a complex number decides, any other number takes the default.
        if isinstance(fill_value, bool):
            dtype = "bool"
        elif isinstance(fill_value, complex):
            dtype = "complex128"
        else:
            dtype = None
    target = as_numpy_dtype(dtype)
    return finish(
        filled(sizes("full", shape), fill("full", fill_value, target), target), out, device, requires_grad
    )


def fill_constant(
    shape: Any,
    dtype: DTypeLike,
    value: Any,
    force_cpu: bool = False,
    out: Any = None,
    place: str | None = None,
    name: str | None = None,
) -> Tensor:
    """A tensor filled with one value: `full` under the name it had in Paddle 1.

    Args:
        shape, dtype, out: as for `full`.
        value: as fill_value of `full`.
        force_cpu: put it on the CPU.
        place: where it is put otherwise. Default: the current device.
    Example:
        >>> paddle.tensor.fill_constant([2], "int64", 7).tolist()
        [7, 7]
    """
    return full(shape, value, dtype, name, out=out, device="cpu" if force_cpu else place)


def create_tensor(dtype: DTypeLike, name: str | None = None, persistable: bool = False) -> Tensor:
    """A tensor without a value yet (here: a zero), for functions that put their result into one.

    Args:
        dtype: dtype of the tensor.
        name: str. Default: a name that is not in use.
        persistable: the attribute of this name.
    Example:
        >>> x = paddle.tensor.create_tensor("float32")
        >>> made = paddle.assign(paddle.ones([2]), output=x); x.tolist()
        [1.0, 1.0]
    """
    made = full([], 0, dtype)
    if name:
        made.name = name
    made.persistable = persistable
    return made


def fill(op: str, value: Any, dtype: DTypeLike) -> Any:
    """A fill value as a 0-d array of the dtype."""
    if isinstance(value, Tensor):
        if value.size != 1:
            raise ValueError(
                f"{op}: fill_value: got a tensor of shape {list(value.shape)}; it must have one element"
            )
        # A number that a static program computes is an operand of the fill.
        if local.ctx.frame.symbolic and local.ctx.frame.has_variables(value):
            return local.ctx.frame.numbers_of(value.reshape([]))
        return value._value.reshape(()).astype(dtype)
    if not isinstance(value, bool | int | float | complex | str | np.number | np.bool_ | LengthBool):
        raise TypeError(
            f"{op}: fill_value: got {type(value).__name__}; allowed are numbers, bools, "
            "numeric texts and Tensors"
        )
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise ArgumentError(
                f"{op}: fill_value: got {value!r}; a text must be that of a number, as 'nan' or '1.5'"
            ) from None
    # A length of a static program is put in when it runs.
    if is_length(value):
        return value
    if isinstance(value, complex) and np.dtype(dtype).kind != "c":
        value = value.real
    # Values out of range wrap without a warning, as in C.
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(value).astype(dtype)


def _constant_like(
    x: Sequence[int] | Tensor, number: int, dtype: str | None, device: str | None, requires_grad: bool
) -> Tensor:
    """zeros_like and ones_like: beside a deferred tensor a constant of the compiled program,
    otherwise an array."""
    wanted = _like(x, dtype)
    raw = held_value(x)
    # On another device than the current one, the result lies beside x.
    where: Any = places.elsewhere(raw) if device is None else device
    # A deferred tensor: the constant joins the same compiled program.
    deferred = type(raw) is LazyArray and where is None
    made = finish(
        (constant(number, aval_of(raw.shape, wanted)) if deferred else filled(raw.shape, number, wanted)),
        None,
        where,
        requires_grad,
    )
    return copy_layout(made, x) if device is None else made


def _like(x: Sequence[int] | Tensor, dtype: str | None) -> np.dtype:
    if not isinstance(x, Tensor):
        raise AttributeError(f"x: got {type(x).__name__}; it must be a Tensor")
    if dtype is None:
        return numpy_dtype(x)
    return dtypes.convert(dtype).np


@composite(
    method=False, alias={"input": "x"}, cases=["f(2,3)", "i(2), 'float32'", "f()", "f(0,2)", "[1]", "c(2)"]
)
def zeros_like(
    x: Any,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    device: str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros with the shape and dtype of x (or another dtype).

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        dtype: Default: that of x.
        device: where it is put, e.g. "cpu". Default: where x is.
        requires_grad: True makes it a leaf that gets gradients.
        pin_memory: accepted; XLA manages transfers.
    Returns:
        Tensor of the shape of x.
    Example:
        >>> paddle.zeros_like(paddle.to_tensor([1, 2])).tolist()
        [0, 0]
    """
    return _constant_like(x, 0, dtype, device, requires_grad)


@composite(
    method=False, alias={"input": "x"}, cases=["f(2,3)", "i(2), 'float32'", "f()", "f(0,2)", "[1]", "c(2)"]
)
def ones_like(
    x: Any,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Ones with the shape and dtype of x (or another dtype).

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        dtype: Default: that of x.
        device: where it is put, e.g. "cpu". Default: where x is.
        requires_grad: True makes it a leaf that gets gradients.
        pin_memory: accepted; XLA manages transfers.
    Returns:
        Tensor of the shape of x.
    Example:
        >>> paddle.ones_like(paddle.to_tensor([1, 2])).tolist()
        [1, 1]
    """
    return _constant_like(x, 1, dtype, device, requires_grad)


@composite(
    method=False, alias={"input": "x"}, cases=["~f(2,3)", "~i(2), 'float32'", "~f()", "~f(0,2)", "[1]"]
)
def empty_like(
    x: Any,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor with the shape and dtype of x whose values are left open (here: zeros).

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        dtype: Default: that of x.
        device: where it is put, e.g. "cpu". Default: where x is.
        requires_grad: True makes it a leaf that gets gradients.
        pin_memory: accepted; XLA manages transfers.
    Returns:
        Tensor of the shape of x.
    Example:
        >>> paddle.empty_like(paddle.ones([2])).shape
        paddle.Size([2])
    """
    return _constant_like(x, 0, dtype, device, requires_grad)


@composite(
    method=False,
    alias={"input": "x"},
    cases=[
        "f(2,3), 3",
        "i(2), 3.5",
        "f(2), 3.5, 'int32'",
        "i(2), True",
        "f(2), const(3, 'int64')",
        "f(2), '3'",
        "f(0), 1",
        "f(2), None",
    ],
)
def full_like(
    x: Tensor,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    device: str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor with the shape and dtype of x (or another dtype), filled with one value. See `full`.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        fill_value: number, or Tensor of one element.
        dtype: Default: that of x.
        device: where it is put, e.g. "cpu". Default: where x is.
        requires_grad: True makes it a leaf that gets gradients.
        pin_memory: accepted; XLA manages transfers.
    Returns:
        Tensor of the shape of x.
    Example:
        >>> paddle.full_like(paddle.to_tensor([1, 2]), 7).tolist()
        [7, 7]
    """
    target = _like(x, dtype)
    where: Any = places.elsewhere(held_value(x)) if device is None else device
    made = finish(
        filled(plain_shape(x), fill("full_like", fill_value, target), target), None, where, requires_grad
    )
    return copy_layout(made, x) if device is None else made


@known_as(cast="never", pir="assign|share_data_|memcpy_h2d|memcpy_d2h", onnx="Identity", node="assign")
@op(cases=["f(2,3)", "i(2)", "f()", "b(0)", "c(2)"])
def clone(x: jax.Array, name: str | None = None) -> jax.Array:
    """A copy of the tensor that takes part in recording: gradients flow through it.

    Args:
        x: Tensor [...].
    Returns:
        Tensor of the shape and dtype of x, in memory of its own.
    Example:
        >>> x = paddle.ones([1]); x.stop_gradient = False; paddle.clone(x).stop_gradient
        False
    """
    # A copy would cost time, and arrays never change; recording is all that counts.
    return x


@composite(
    method=False,
    cases=[
        "[1, 2.5]",
        "[1, 2]",
        "True",
        "3",
        "2.5",
        "np.ones((2,))",
        "f(2)",
        "[True]",
        "f(2), paddle.zeros([3])",
        "(1, 2)",
        "1j",
        "np.float32(2)",
    ],
)
def assign(x: Any, output: Tensor | None = None) -> Tensor:
    """Copies a tensor, an array, a list or a number into a new tensor, or into `output`. Gradients
    flow through it.

    Args:
        x: Tensor, NumPy array, list, tuple or number. A number gives a 1-D tensor; Python
            floats become float64.
        output: Tensor that receives the copy.
    Returns:
        Tensor.
    Raises:
        TypeError: x is none of these.
    Example:
        >>> paddle.assign([1, 2]).tolist()
        [1, 2]
    """
    if isinstance(x, Tensor):
        made = clone(x)
    elif local.ctx.frame.symbolic and has_lengths(x):
        items = x if isinstance(x, list | tuple) else [x]
        made = local.ctx.frame.tensor_of(items, np.array(substitute(items, 0)).dtype)
    else:
        if not isinstance(x, np.ndarray | np.number | np.bool_ | list | tuple | bool | int | float | complex):
            raise TypeError(
                f"assign: x: got {type(x).__name__}; allowed are Tensor, numpy.ndarray, list, "
                "tuple and numbers"
            )
        # A number becomes a vector of one element, as in Paddle.
        array = np.array(x) if isinstance(x, np.ndarray) else np.atleast_1d(np.array(plain(x)))
        made = wrap(places.put(array))
    if output is None:
        return made
    return output._adopt(made)


def tensor(
    data: Any,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Makes a tensor from numbers, lists, arrays or Tensors. See `to_tensor`.

    Args:
        data, dtype, device: as for `to_tensor`.
        requires_grad: True makes it a leaf that gets gradients.
        pin_memory: accepted; XLA manages transfers.
    Example:
        >>> paddle.tensor([1.0], requires_grad=True).stop_gradient
        False
    """
    return to_tensor(data, dtype, device, not requires_grad)


@composite(method=False, cases=["[1, 2.5]", "f(2)", "[1], 'float64'", "np.ones(2)", "None"])
def as_tensor(
    data: Any,
    dtype: DTypeLike | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Makes a tensor from numbers, lists, arrays or Tensors. See `tensor`.

    Args:
        data: number, nested list of numbers, array or Tensor.
        dtype: Default: that of the data; Python floats get the default floating dtype.
        device, requires_grad: as for `tensor`.
        pin_memory: accepted; XLA manages transfers.
    Returns:
        Tensor of the shape of the data.
    Example:
        >>> paddle.as_tensor([1, 2]).tolist()
        [1, 2]
    """
    return tensor(data, dtype, device, requires_grad)


@composite(method=False, cases=["[1, 2.5]", "[1, 2.0], copy=False", "np.ones(2), dtype='float32'"])
def asarray(
    obj: Any,
    *,
    dtype: DTypeLike | None = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Makes a tensor from numbers, lists, arrays or Tensors. See `tensor`.

    Args:
        obj: number, nested list of numbers, array or Tensor.
        dtype: Default: that of the data; Python floats get the default floating dtype.
        device, requires_grad: as for `tensor`.
        copy: accepted; arrays never share memory with NumPy.
    Returns:
        Tensor of the shape of the data.
    Example:
        >>> paddle.asarray([1, 2]).tolist()
        [1, 2]
    """
    return tensor(obj, dtype, device, requires_grad)


@composite(method=False, cases=["np.ones((2, 3))", "np.ones(2, 'int32')", "[1.0]"])
def from_numpy(ndarray: Any) -> Tensor:
    """Makes a tensor from a NumPy array, with its dtype.

    Args:
        ndarray: NumPy array.
    Returns:
        Tensor of the same shape and dtype.
    Raises:
        TypeError: ndarray is not a NumPy array.
    Example:
        >>> paddle.from_numpy(np.ones(2)).dtype
        <DataType.FLOAT64: 11>
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(
            f"from_numpy: ndarray: got {type(ndarray).__name__}; it must be a numpy.ndarray; "
            "use paddle.tensor for others"
        )
    return to_tensor(ndarray)


@composite(method=False, cases=["f(2,3)", "i()", "b(2)"])
def tolist(x: Tensor) -> int | list[Any]:
    """The values as nested lists of Python numbers.

    Args:
        x: Tensor [...].
    Returns:
        A number for a 0-D Tensor, else nested lists.
    Example:
        >>> paddle.tolist(paddle.to_tensor([1, 2]))
        [1, 2]
    """
    return x.tolist()
