"""Scopes: where the values of parameters and other persistable Variables live, by name."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from paddle_jax._core.lazy.symbol import DefaultPrograms
from paddle_jax._core.lazy.transfer import to_numpy
from paddle_jax._core.tensors.held_values import computed_array
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax.tensor.dense_tensor import DenseTensor, copy_array

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paddle_jax._program.program import Program


class ScopeVariable:
    """A name in a Scope."""

    def __init__(self, values: dict[str, Any], name: str) -> None:
        self._values = values
        self._name = name

    def name(self) -> str:
        """The name."""
        return self._name

    def get_tensor(self) -> DenseTensor:
        """The value, a DenseTensor."""
        return DenseTensor(self._values, self._name)

    def is_initialized(self) -> bool:
        """Whether there is a value."""
        return self._values.get(self._name) is not None


class Scope:
    """Values by name.

    Attributes:
        values: dict of the arrays by name.
        declared: set of the names that have a variable, whether or not it has a value.
    Example:
        >>> scope = paddle.static.Scope()
        >>> variable = scope.var("weight")
        >>> scope.find_var("weight") is None, scope.find_var("bias") is None
        (False, True)
    """

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.declared: set[str] = set()

    def var(self, name: str) -> ScopeVariable:
        """The variable of a name, made if it is not there."""
        self.declared.add(name)
        return ScopeVariable(self.values, name)

    def find_var(self, name: str) -> ScopeVariable | None:
        """The variable of a name, or None."""
        # As in Paddle, a name that was declared is found before it has a value.
        if name in self.values or name in self.declared:
            return ScopeVariable(self.values, name)
        return None

    def erase(self, names: Iterable[str]) -> None:
        """Removes variables."""
        for name in names:
            self.values.pop(name, None)
            self.declared.discard(name)

    def local_var_names(self) -> list[str]:
        """The names of all variables."""
        return sorted({*self.values, *self.declared})

    def new_scope(self) -> Scope:
        """A Scope of its own."""
        return Scope()

    def drop_kids(self) -> None:
        """Does nothing: scopes are not nested."""


def global_scope() -> Scope:
    """Returns the Scope that programs run in by default.

    Returns:
        Scope.
    Example:
        >>> paddle.static.global_scope().find_var("no such name") is None
        True
    """
    if DefaultPrograms.scope is None:
        DefaultPrograms.scope = Scope()
    return DefaultPrograms.scope


@contextlib.contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """Inside the block programs run in another Scope.

    Args:
        scope: Scope.
    Returns:
        Context manager.
    Raises:
        TypeError: scope is no Scope.
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
    before = global_scope()
    DefaultPrograms.scope = scope
    try:
        yield
    finally:
        DefaultPrograms.scope = before


def value_in(scope: Scope | None, name: str) -> Tensor:
    """The value of a name as an eager Tensor."""
    array = (scope or global_scope()).values.get(name)
    if array is None:
        raise ValueError(f"{name}: it has no value in the scope; run the startup program first")
    # A copy: the Executor may donate the array in the Scope to the next run, which deletes it.
    return wrap(jnp.array(array))


def put_into(scope: Scope | None, name: str, value: Any, avals: Any) -> None:
    """Puts a value into a Scope, in the shape and dtype of a Variable."""
    # Given values are copied, so that a change of the caller's array does not reach the Scope.
    if isinstance(value, Tensor):
        value = computed_array(value)
    array = to_numpy(value)
    if array.shape != avals[0].shape:
        raise ValueError(
            f"set_value: {name}: got shape {list(array.shape)}; it must be {list(avals[0].shape)}"
        )
    (scope or global_scope()).values[name] = copy_array(array.astype(avals[0].dtype))


def put_all(where: str, program: Program, arrays: Mapping[str, Any], error: type[Exception]) -> None:
    """Puts arrays into the global Scope for the Variables of a Program that have their names; none of them
    where one has another shape, which raises an error of that class."""
    # All shapes first: a refusal in the middle would leave half of the values replaced.
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
