"""What sparse Tensors share. They are Tensors, but only the functions of paddle.sparse know them; others
raise NotImplementedError, as in Paddle."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.base.size import Size
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddle_jax._annotations import TensorLike


class OfSparseTensors:
    """A method that only sparse Tensors have, as `Tensor.<name>`: the class has it, so that
    `Tensor.coalesce(x)` works, dense Tensors do not."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Callable[..., Any]:
        # A dense Tensor must not seem to have the method: programs ask by `hasattr`.
        if instance is not None or owner is not Tensor:
            raise AttributeError(f"'{(owner or type(instance)).__name__}' has no attribute '{self.name}'")

        def method(x: Tensor, *args: Any, **kwargs: Any) -> Any:
            return getattr(x, self.name)(*args, **kwargs)

        method.__name__, method.__qualname__ = self.name, f"Tensor.{self.name}"
        method.__doc__ = f"`x.{self.name}()` of a sparse Tensor; AttributeError for others."
        return method


for _name in ("to_dense", "values", "indices", "crows", "cols", "nnz", "coalesce", "is_coalesced"):
    setattr(Tensor, _name, OfSparseTensors(_name))


class SparseTensor(Tensor):
    """A Tensor of which only some elements are kept, with their values in a dense Tensor.

    Attributes:
        _values: Tensor, the elements that are kept.
        _lengths: Size, the shape of the whole.
        persistable: bool, False.
        _alias, _name, _grad, _hooks, _node: None; the values have a gradient and a tape.
        _idx, _version: int, 0 likewise.
    """

    __slots__ = ()

    def __init__(self, values: Tensor, shape: Sequence[int]) -> None:
        self._values, self._lengths, self.persistable = values, Size(shape), False
        self._alias = self._name = self._grad = self._hooks = self._node = None
        # Slots of a Tensor that is not initialized by its own constructor.
        self._idx = self._version = 0

    @property
    def _raw(self) -> Any:
        # All operations of dense Tensors read this attribute.
        raise NotImplementedError(
            f"{type(self).__name__}: this operation is not defined for sparse Tensors; "
            "use paddle.sparse, or to_dense()"
        )

    shape = property(lambda self: self._lengths, doc="The lengths of the axes.")
    dtype = property(lambda self: self._values.dtype, doc="The dtype of the values.")
    ndim = property(lambda self: len(self._lengths), doc="The number of axes.")
    place = property(lambda self: self._values.place, doc="The device.")

    @property
    def stop_gradient(self) -> bool:
        """Whether no gradient flows to the values."""
        return self._values.stop_gradient

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        self._values.stop_gradient = value

    @property
    def grad(self) -> SparseTensor | None:
        """The gradient that `backward` accumulated at the elements that are kept, a sparse Tensor with the
        same coordinates, or None."""
        found = self._values.grad
        if found is None:
            return None
        return self.of_values(found)

    @grad.setter
    def grad(self, value: SparseTensor | None) -> None:
        self._values.grad = (
            None if value is None else self.values_at_same_coordinates(value, "SparseTensor.grad")
        )

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Sets the gradient to zeros, or to None with set_to_zero=False."""
        self._values.clear_gradient(set_to_zero)

    def backward(
        self,
        grad_tensor: SparseTensor | None = None,
        retain_graph: bool = False,
        *,
        dump_backward_graph_path: str | None = None,
    ) -> None:
        """Computes gradients of the elements that are kept and adds them to the `grad` of the
        leaves they depend on.

        Args:
            grad_tensor: sparse Tensor with the same coordinates, the gradient to start from. Default: ones.
            retain_graph: keep the tape so that backward can be called again.
            dump_backward_graph_path: accepted for compatibility; nothing is written.
        Raises:
            AssertionError: grad_tensor is no sparse Tensor with the same coordinates.
        """
        if grad_tensor is None:
            start = None
        else:
            start = self.values_at_same_coordinates(grad_tensor, "backward: grad_tensor")
        self._values.backward(start, retain_graph)

    def of_values(self, values: Tensor) -> Any:
        """A sparse Tensor with the same coordinates and other values."""
        parts, settings = self.components()
        return type(self)(*parts[:-1], values, *settings)

    def values_at_same_coordinates(self, other: SparseTensor, what: str) -> Tensor:
        """The values of a sparse Tensor that must have the same coordinates."""
        alike = (
            type(other) is type(self)
            and list(other.shape) == list(self.shape)
            and other.values().shape == self.values().shape
        )
        if alike:
            # The values come last, the coordinates before.
            pairs = zip(self.components()[0][:-1], other.components()[0][:-1], strict=True)
        else:
            pairs = ()
        if not alike or not all(
            # The same Tensor has the same numbers; others are compared on the host
            mine is theirs or np.array_equal(mine.numpy(), theirs.numpy())
            for mine, theirs in pairs
        ):
            raise CheckError(
                f"{what}: got {type(other).__name__}; it must be a {type(self).__name__} with "
                "the same shape and coordinates"
            )
        return other.values()

    def values(self) -> Tensor:
        """The elements that are kept."""
        return self._values

    def nnz(self) -> int:
        """The number of elements that are kept."""
        # A sum of everything is a single value without an axis.
        if self._values.ndim:
            return self._values.shape[0]
        return 1

    def dim(self) -> int:
        """The number of axes."""
        return self.ndim

    def is_sparse(self) -> bool:
        """True."""
        return True

    def numpy(self) -> np.ndarray:
        """All elements, zeros included, as a NumPy array."""
        return self.to_dense().numpy()

    def components(self) -> tuple[tuple[Tensor, ...], tuple[Any, ...]]:
        """The Tensors that it is made of, and the other arguments that it is made with."""
        raise NotImplementedError

    def __copy__(self) -> Any:
        parts, settings = self.components()
        return type(self)(*map(copy.copy, parts), *settings)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        parts, settings = self.components()
        memo[id(self)] = copied = type(self)(*[copy.deepcopy(part, memo) for part in parts], *settings)
        return copied

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        parts, settings = self.components()
        return type(self), (*parts, *settings)

    def __str__(self) -> str:
        return repr(self)

    def __format__(self, spec: str) -> str:
        # A dense Tensor of one element formats as its number.
        return object.__format__(self, spec)

    def __len__(self) -> int:
        return self._lengths[0]


def whole(op: str, name: str, given: TensorLike) -> Tensor:
    """A Tensor of coordinates, which must be integers."""
    if isinstance(given, Tensor):
        kind = numpy_dtype(given).kind
    else:
        kind = "i"
    if not isinstance(given, Tensor):
        array = np.asarray(given)
        # An empty list is of floats in NumPy.
        kind = array.dtype.kind if array.size else "i"
        given = to_tensor(array.astype(np.int64))
    if kind != "i":
        raise TypeError(
            f"{op}: {name}: got numbers that are no signed integers; cast them with astype('int64')"
        )
    return cast("Tensor", given)
