"""What sparse Tensors share. They are Tensors, but only the functions of paddle.sparse know them; others raise NotImplementedError, as in Paddle."""

import copy

from paddle_jax._core.size import Size
from paddle_jax._core.tensor import Tensor


class OfSparseTensors:
    """A method that only sparse Tensors have, as `Tensor.<name>`: the class has it, so that `Tensor.coalesce(x)` works, dense Tensors do not."""

    def __init__(self, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is not None or owner is not Tensor:
            raise AttributeError(f"'{(owner or type(instance)).__name__}' has no attribute '{self.name}'")

        def method(x, *args, **kwargs):
            return getattr(x, self.name)(*args, **kwargs)

        method.__name__, method.__qualname__ = self.name, f"Tensor.{self.name}"
        method.__doc__ = f"`x.{self.name}()` of a sparse Tensor; AttributeError for others."
        return method


for _name in ("to_dense", "values", "indices", "crows", "cols", "nnz", "coalesce", "is_coalesced"):
    setattr(Tensor, _name, OfSparseTensors(_name))


class SparseTensor(Tensor):
    """A Tensor of which only some elements are kept, with their values in a dense Tensor."""

    __slots__ = ()

    def __init__(self, values, shape):
        self._values, self._lengths, self.persistable = values, Size(shape), False
        self._alias = self._name = self._grad = self._hooks = self._node = None
        self._idx = self._version = 0

    @property
    def _raw(self):
        raise NotImplementedError(f"{type(self).__name__}: this operation is not defined for sparse Tensors; use paddle.sparse, or to_dense()")

    shape = property(lambda self: self._lengths, doc="The lengths of the axes.")
    dtype = property(lambda self: self._values.dtype, doc="The dtype of the values.")
    ndim = property(lambda self: len(self._lengths), doc="The number of axes.")
    place = property(lambda self: self._values.place, doc="The device.")

    @property
    def stop_gradient(self):
        """Whether no gradient flows to the values."""
        return self._values.stop_gradient

    @stop_gradient.setter
    def stop_gradient(self, value):
        self._values.stop_gradient = value

    def values(self):
        """The elements that are kept."""
        return self._values

    def nnz(self):
        """The number of elements that are kept."""
        return self._values.shape[0] if self._values.ndim else 1

    def dim(self):
        """The number of axes."""
        return self.ndim

    def is_sparse(self):
        """True."""
        return True

    def numpy(self):
        """All elements, zeros included, as a NumPy array."""
        return self.to_dense().numpy()

    def __matmul__(self, other):
        from paddle_jax.sparse.binary import matmul

        return matmul(self, other)

    def taken_apart(self):
        """The Tensors that it is made of, and the other arguments that it is made with."""
        raise NotImplementedError

    def __copy__(self):
        parts, settings = self.taken_apart()
        return type(self)(*map(copy.copy, parts), *settings)

    def __deepcopy__(self, memo):
        parts, settings = self.taken_apart()
        memo[id(self)] = copied = type(self)(*[copy.deepcopy(part, memo) for part in parts], *settings)
        return copied

    def __reduce__(self):
        parts, settings = self.taken_apart()
        return type(self), (*parts, *settings)

    def __str__(self):
        return repr(self)

    def __format__(self, spec):
        return object.__format__(self, spec)

    def __len__(self):
        return self._lengths[0]
