"""What sparse Tensors share. They are Tensors, but only the functions of paddle.sparse know them; others raise NotImplementedError, as in Paddle."""

import copy

import numpy as np

from paddle_jax._core.size import Size
from paddle_jax._core.tensor import Tensor
from paddle_jax.tensor.creation import to_tensor


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


def whole(op, name, given):
    """A Tensor of coordinates, which must be integers."""
    kind = given._raw.dtype.kind if isinstance(given, Tensor) else "i"
    if not isinstance(given, Tensor):
        array = np.asarray(given)
        kind, given = array.dtype.kind if array.size else "i", to_tensor(array.astype(np.int64))
    if kind != "i":
        raise TypeError(f"{op}: {name}: got numbers that are no signed integers; cast them with astype('int64')")
    return given
