"""Scopes: where the values of parameters and other persistable Variables live, by name."""

import contextlib

import jax.numpy as jnp

from paddle_jax._core.lazy.symbol import DefaultPrograms
from paddle_jax._core.lazy.transfer import to_array, to_numpy
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax.tensor.dense_tensor import DenseTensor, taken


class ScopeVariable:
    """A name in a Scope."""

    def __init__(self, values, name):
        self._values, self._name = values, name

    def name(self):
        """The name."""
        return self._name

    def get_tensor(self):
        """The value, a DenseTensor."""
        return DenseTensor(self._values, self._name)

    def is_initialized(self):
        """Whether there is a value."""
        return self._values.get(self._name) is not None


class Scope:
    """Values by name."""

    def __init__(self):
        self.values, self.declared = {}, set()

    def var(self, name):
        """The variable of a name, made if it is not there."""
        self.declared.add(name)
        return ScopeVariable(self.values, name)

    def find_var(self, name):
        """The variable of a name, or None."""
        return ScopeVariable(self.values, name) if name in self.values or name in self.declared else None

    def erase(self, names):
        """Removes variables."""
        for name in names:
            self.values.pop(name, None)
            self.declared.discard(name)

    def local_var_names(self):
        """The names of all variables."""
        return sorted({*self.values, *self.declared})

    def new_scope(self):
        """A Scope of its own."""
        return Scope()

    def drop_kids(self):
        """Does nothing: scopes are not nested."""


def global_scope():
    """Returns the Scope that programs run in unless told otherwise.

    Example:
        >>> paddle.static.global_scope().find_var("no such name") is None
        True
    """
    if DefaultPrograms.scope is None:
        DefaultPrograms.scope = Scope()
    return DefaultPrograms.scope


@contextlib.contextmanager
def scope_guard(scope):
    """Inside the block programs run in another Scope.

    Args:
        scope: Scope.
    Example:
        >>> scope = paddle.base.core.Scope()
        >>> with paddle.static.scope_guard(scope):
        ...     paddle.static.global_scope() is scope
        True
    """
    if not isinstance(scope, Scope):
        raise TypeError(
            f"scope_guard: scope: got {type(scope).__name__}; it must be a Scope, "
            "such as paddle.static.global_scope() gives"
        )
    before, DefaultPrograms.scope = global_scope(), scope
    try:
        yield
    finally:
        DefaultPrograms.scope = before


def value_in(scope, name):
    """The value of a name as an eager Tensor."""
    found = (scope or global_scope()).values.get(name)
    if found is None:
        raise ValueError(f"{name}: it has no value in the scope; run the startup program first")
    return wrap(jnp.array(found))


def put_into(scope, name, value, avals):
    """Puts a value into a Scope, in the shape and dtype of a Variable."""
    array = to_numpy(to_array(value._raw) if isinstance(value, Tensor) else value)
    if array.shape != avals[0].shape:
        raise ValueError(
            f"set_value: {name}: got shape {list(array.shape)}; it must be {list(avals[0].shape)}"
        )
    (scope or global_scope()).values[name] = taken(array.astype(avals[0].dtype))


def put_all(where, program, arrays, error):
    """Puts arrays into the global Scope for the Variables of a Program that have their names; none of them
    where one has another shape, which raises an error of that class."""
    for name, array in arrays.items():
        if list(array.shape) != list(program.vars[name].shape):
            raise error(
                f"{where}: {name}: got shape {list(array.shape)}; "
                f"the program has {list(program.vars[name].shape)}"
            )
    for name, array in arrays.items():
        put_into(None, name, array, program.vars[name].avals)


__all__ = [
    "DenseTensor",
    "Scope",
    "ScopeVariable",
    "global_scope",
    "put_all",
    "put_into",
    "scope_guard",
    "value_in",
]
