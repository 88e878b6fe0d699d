"""Arguments of the functions in paddle_jax.func: the Tensors in them, and what a run of the function makes of
others in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.execution import dispatch as dispatch_point
from paddle_jax._core.execution.trace import cached_kernel, is_tensor, trace
from paddle_jax._core.tensors.held_values import assign_from, held_value, numpy_dtype, plain_shape
from paddle_jax._core.tensors.tensor import Tensor, wrap

if TYPE_CHECKING:
    from paddle_jax._core.execution.trace import Traced


def numbers_of(argnums: Sequence[int] | int) -> Sequence[int]:
    """`argnums` of a transform as a sequence."""
    if isinstance(argnums, int):
        return (argnums,)
    return argnums


class Arguments:
    """The arguments of one call, taken apart: `tensors` in them (arrays count as Tensors), and
    where they stood.

    Attributes:
        args: as given.
        leaves, tree: all arguments as a flat list, and their structure.
        at: list of the positions of Tensors and arrays among the leaves.
        tensors: list of these as Tensors.
        spans: list of ranges: for each positional argument, which of the Tensors are its own.
    """

    leaves: Any
    tree: Any

    def __init__(self, args: Any, kwargs: dict[str, Any]) -> None:
        self.leaves, self.tree = jax.tree.flatten((args, kwargs), is_leaf=is_tensor)
        self.at: list[int] = [i for i, leaf in enumerate(self.leaves) if is_operand(leaf)]
        self.tensors: list[Tensor] = [_as_tensor(self.leaves[i]) for i in self.at]
        self.args = args
        self.spans: list[Any] = []
        end = 0
        place = 0
        for arg in args:
            end += len(jax.tree.leaves(arg, is_leaf=is_tensor))
            # Which of the Tensors belong to this argument: those whose leaf comes before its end.
            count = sum(i < end for i in self.at)
            self.spans.append(range(place, count))
            place = count

    def call(self, function: Any, tensors: Sequence[Tensor]) -> Any:
        """Calls a function with other Tensors in their place."""
        leaves = list(self.leaves)
        # The structure keeps what is no Tensor, such as flags.
        for i, t in zip(self.at, tensors, strict=True):
            leaves[i] = t
        args, kwargs = jax.tree.unflatten(self.tree, leaves)
        return function(*args, **kwargs)

    def replaced(self, k: Any, tensors: Sequence[Tensor]) -> Any:
        """Positional argument k with other Tensors in it."""
        leaves, tree = jax.tree.flatten(self.args[k], is_leaf=is_tensor)
        places = [i for i, leaf in enumerate(leaves) if is_operand(leaf)]
        for i, t in zip(places, tensors, strict=True):
            leaves[i] = t
        return jax.tree.unflatten(tree, leaves)

    def chosen(self, name: str, argnums: Any) -> list[Any]:
        """Positions in `tensors` of what is differentiated: the floating Tensors of the
        arguments `argnums`."""
        found = []
        for k in numbers_of(argnums):
            if not -len(self.args) <= k < len(self.args):
                raise ValueError(
                    f"{name}: argnums: got {argnums}; "
                    f"the function was called with {len(self.args)} positional arguments"
                )
            inexact = [i for i in self.spans[k] if is_inexact(self.tensors[i])]
            if not inexact:
                raise TypeError(
                    f"{name}: argument {k} has no floating or complex Tensor to differentiate "
                    "by; choose another one with argnums"
                )
            found += inexact
        return found

    def structs(self) -> Any:
        """Shapes and dtypes of the Tensors."""
        return [jax.ShapeDtypeStruct(plain_shape(t), numpy_dtype(t)) for t in self.tensors]

    def traced(self, function: Any) -> Traced:
        """The run of a function on these arguments as a pure function."""
        return trace(lambda *tensors: self.call(function, tensors), self.structs())


def is_operand(x: Tensor) -> bool:
    """Whether a part of an argument is seen as a Tensor; all else is handed on as it is."""
    return isinstance(x, Tensor | jax.Array | np.ndarray)


def _as_tensor(x: Tensor) -> Tensor:
    if isinstance(x, Tensor):
        return x
    return wrap(jnp.asarray(x))


def is_inexact(tensor: Tensor) -> bool:
    """Whether a Tensor is floating or complex."""
    return dispatch_point.is_inexact(held_value(tensor))


def dispatch(
    name: str, traced: Traced, make: Callable[..., Any], key: Any, tensors: Sequence[Tensor]
) -> list[Any]:
    """Runs a transformed program, `make(fn) -> function of arrays`, as one op on the tape; the
    Tensors it gives."""
    # The program depends on the function's own (`traced.key`) and on the transform (`key`).
    kernel = cached_kernel(name, (key, traced.key), lambda: make(traced.fn))
    return list(dispatch_point.run(kernel, [*tensors, *traced.taken]))


def finish(traced: Traced, out: Sequence[Tensor]) -> Any:
    """What the function returned, from the Tensors of its results; gives Tensors outside that it changed
    their new values."""
    # The last results are the new values of Tensors outside that the function has changed.
    n = len(out) - len(traced.changed)
    for tensor, new in zip(traced.changed, out[n:], strict=True):
        assign_from(tensor, new)
    return traced.rebuild(out[:n])


def split_aux(name: str, returned: Any, has_aux: bool) -> tuple[Any, None] | tuple[Any, Any]:
    """(results, aux) of what a function returned."""
    if not has_aux:
        return returned, None
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise TypeError(
            f"{name}: has_aux: the function returned {type(returned).__name__}; it must return (value, aux)"
        )
    return returned
