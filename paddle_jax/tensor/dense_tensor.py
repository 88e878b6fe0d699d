"""DenseTensor: the storage behind a Tensor, or behind a name in a Scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.lazy.transfer import to_array, to_numpy
from paddle_jax._core.tensors import place as places
from paddle_jax._core.tensors import var_type
from paddle_jax._core.tensors.held_values import computed_array
from paddle_jax._core.tensors.tensor import Tensor, read_raw

if TYPE_CHECKING:
    from paddle_jax._core.tensors.place import Place
    from paddle_jax._core.tensors.var_type import VarType
    from paddle_jax.base.libpaddle import CPUPlace


class DenseTensor:
    """A value that is read and set as a whole: what `Tensor.get_tensor()` and
    `scope.find_var(name).get_tensor()` give, or one of its own.

    Args:
        values: what holds the value. Default None: a value of its own.
        name: str. Default "".
    Example:
        >>> scope = paddle.static.global_scope()
        >>> tensor = scope.var("weight").get_tensor()
        >>> tensor.set(np.ones([2], "float32"), paddle.CPUPlace())
        >>> np.array(tensor).tolist(), tensor.shape()
        ([1.0, 1.0], [2])
    """

    def __init__(self, values: Behind | dict[str, Any] | None = None, name: str = "") -> None:
        self._values = {} if values is None else values
        self._name = name

    def _array(self) -> jax.Array:
        found = self._values.get(self._name)
        if found is None:
            raise RuntimeError(
                f"get_tensor: {self._name!r} has no value yet; run the startup program, or set one"
            )
        return found

    def set(self, array: Any, place: CPUPlace | None = None) -> None:
        """Replaces the value, also by one of another shape or dtype.

        Args:
            array: NumPy array or Tensor.
            place: where it is put. Default: the current device.
        """
        self._values[self._name] = copy_array(array, place)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if not self._is_initialized() and not self._name:
            return np.array(np.zeros(0), dtype)
        return np.array(to_numpy(self._array()), dtype)

    def __getitem__(self, item: Any) -> DenseTensor:
        # An index keeps the axis.
        if isinstance(item, int):
            item = slice(item, item + 1)
        return DenseTensor({"": self._array()[item]})

    def __reduce__(self) -> Any:
        # Paddle's form in files; paddle.load knows it and runs no eval
        array = np.array(to_numpy(self._array()))
        if array.dtype.name == "bfloat16":
            # Paddle's NumPy form of bfloat16 is uint16.
            array = array.view(np.uint16)
        # The pickle holds a plain array, which any program reads.
        return eval, ("data", {"data": array})

    def numpy(self) -> np.ndarray:
        """The value as a NumPy array."""
        return np.array(to_numpy(self._array()))

    def shape(self) -> list[Any] | list[int]:
        """The lengths of the axes; [0] before there is a value."""
        if self._is_initialized():
            return list(self._array().shape)
        return [0]

    def set_dims(self, dims: Any) -> None:
        """Gives the value another shape with the same number of elements."""
        self._values[self._name] = self._array().reshape(dims)

    _get_dims = shape
    _set_dims = set_dims

    def lod(self) -> list[Any]:
        """[]: there are no nested sequences."""
        return []

    def _dtype(self) -> VarType:
        return var_type.of(self._array().dtype)

    def _place(self) -> Place:
        return places.of(self._array())

    def _numel(self) -> int:
        return int(self._array().size)

    def _layout(self) -> str:
        return "NCHW"

    def _is_initialized(self) -> bool:
        return self._values.get(self._name) is not None

    def _clear(self) -> None:
        self._values[self._name] = None

    def _share_data_with(self, other: Any) -> DenseTensor:
        self._values[self._name] = other._array()
        return self

    def _copy(self, place: Any) -> DenseTensor:
        return DenseTensor({"": copy_array(self._array(), place)})

    def _slice(self, begin: Any, end: Any) -> DenseTensor:
        return self[begin:end]

    def _as_type(self, dtype: Any) -> DenseTensor:
        return DenseTensor({"": self._array().astype(dtype.dtype)})

    def __str__(self) -> str:
        if not self._is_initialized():
            return f"  - shape: []\n  - layout: {self._layout()}\nuninited\n"
        array = self.numpy()
        facts = {
            "shape": list(array.shape),
            "layout": self._layout(),
            "place": self._place(),
            "dtype": array.dtype.name,
        }
        return (
            "\n".join(f"  - {name}: {fact}" for name, fact in facts.items())
            + f"\n  - data: [{' '.join(f'{v:g}' for v in array.ravel())}]"
        )


class Behind:
    """A Tensor as the one place of a DenseTensor."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    def get(self, name: str) -> jax.Array | None:
        if self.tensor._is_initialized():
            return to_array(read_raw(self.tensor))
        return None

    def __setitem__(self, name: str, array: jax.Array) -> None:
        if array is None:
            self.tensor._clear_data()
        else:
            self.tensor._rebind(array)


def copy_array(array: Any, place: CPUPlace | None = None) -> jax.Array:
    """A copy of an array on a device."""
    if isinstance(array, Tensor):
        array = computed_array(array)
    if isinstance(array, jax.Array) and place is None:
        return jnp.array(array)  # a copy: a run may give its memory away
    return to_array(places.put(np.array(array), place))


__all__ = ["DenseTensor"]
