"""Making tensors."""

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core import dtype as dtypes
from paddle_jax._core import place as places
from paddle_jax._core.op import composite
from paddle_jax._core.tensor import Tensor, wrap


@composite(method=False, cases=["[1, 2.5]", "3", "True", "1j", "[[1, 2], [3, 4]], 'float32'", "np.ones((2,))", "[1, 2], stop_gradient=False", "'a'", "None",
                                "[[1, 2], [3]]", "[f(2), f(2)]", "np.ones((2,), 'int32'), 'float64'", "[]", "np.float32(2)"])
def to_tensor(data, dtype=None, place=None, stop_gradient=True, device=None):
    """Makes a tensor from numbers, nested lists, NumPy arrays or Tensors. The data are copied.

    Args:
        data: number, bool, list or tuple (nested, may hold Tensors), NumPy array, Tensor.
        dtype: dtype of the result. Default: that of the data; Python floats become the default floating dtype, ints int64.
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
    place = device if place is None else place
    want = None if dtype is None else dtypes.convert(dtype).np
    if isinstance(data, Tensor | jax.Array):
        value = data._value if isinstance(data, Tensor) else data
        value = value if want is None else value.astype(want)
        return wrap(value if place is None else places.put(value, place), stop_gradient)
    array = _to_numpy(data)
    if want is not None and array.dtype != want:
        array = array.astype(want)
    return wrap(places.put(np.array(array), place), stop_gradient)


def _to_numpy(data):
    if isinstance(data, np.ndarray | np.generic):
        array = np.asarray(data)
    elif isinstance(data, bool | int | float | complex | list | tuple):
        array = np.array(_plain(data))
        if not _typed_inside(data):
            array = _default_dtype(array)
    elif hasattr(data, "__array__"):
        array = np.asarray(data)
    else:
        raise TypeError(f"to_tensor: data: got {type(data).__name__}; allowed are numbers, lists, tuples, numpy.ndarray and paddle.Tensor")
    if array.dtype.kind in "OSUmM":
        raise TypeError(f"to_tensor: data: got elements of type {array.dtype}; allowed are numbers and bools")
    return array


def _plain(data):
    return [_plain(d) for d in data] if isinstance(data, list | tuple) else np.asarray(data) if isinstance(data, Tensor) else data


def _typed_inside(data):
    """Whether the (nested) list holds values that bring a dtype of their own."""
    while isinstance(data, list | tuple) and data:
        data = data[0]
    return isinstance(data, np.ndarray | np.generic | Tensor)


def _default_dtype(array):
    if array.dtype == np.float64:
        return array.astype(dtypes.default().np)
    return array.astype(dtypes.default_complex().np) if array.dtype == np.complex128 else array


def normalize_shape(shape):
    """A shape argument as a tuple of ints: a list or tuple (which may hold Tensors), an int, or a 1-D Tensor."""
    if isinstance(shape, Tensor):
        shape = np.asarray(shape._value).reshape(-1).tolist()
    if isinstance(shape, int | np.integer):
        shape = [shape]
    return tuple(int(s) for s in shape)


def as_numpy_dtype(dtype, default=None):
    """The NumPy dtype of an optional dtype argument."""
    return (default or dtypes.default()).np if dtype is None else dtypes.convert(dtype).np


@composite(method=False, alias={"size": "shape"}, out=True, cases=["[2, 3]", "[]", "[0, 3]", "[2], 'int64'", "[-2]"])
def zeros(shape, dtype=None, name=None):
    """A tensor of zeros.

    Args:
        shape: list or tuple of ints, or 1-D int Tensor.
        dtype: Default: the default floating dtype.
    Raises:
        ValueError: a length is negative.
    Example:
        >>> paddle.zeros([2]).tolist()
        [0.0, 0.0]
    """
    return wrap(jnp.zeros(normalize_shape(shape), as_numpy_dtype(dtype)))


@composite(method=False, alias={"size": "shape"}, out=True, cases=["[2, 3]", "[]", "[0, 3]", "[2], 'int64'", "[-2]"])
def ones(shape, dtype=None, name=None):
    """A tensor of ones. Arguments as for `zeros`.

    Example:
        >>> paddle.ones([2]).tolist()
        [1.0, 1.0]
    """
    return wrap(jnp.ones(normalize_shape(shape), as_numpy_dtype(dtype)))
