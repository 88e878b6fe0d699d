"""Whole Jacobian and Hessian matrices."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax

from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax.func.arguments import Arguments, dispatch, finish, numbers_of, split_aux

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


class _Plan:
    """The run of a function as a program that gives its Jacobian: blocks (results x chosen arguments) first,
    then the results.

    Attributes:
        given, argnums: as given.
        chosen: list of the positions of the Tensors to derive by.
        run: the traced call of the function.
        places: structure of the results that are derived, with their positions.
        rows: list of these positions.
        holomorphic: bool, whether a chosen Tensor is complex.
    """

    def __init__(
        self, name: str, given: Arguments, func: Callable[..., Any], argnums: Any, has_aux: bool
    ) -> None:
        self.given = given
        self.argnums = argnums
        self.chosen = given.chosen(name, argnums)
        self.run = given.traced(lambda *args, **kwargs: split_aux(name, func(*args, **kwargs), has_aux))
        # Numbers in place of the results show how they are laid out; `aux` is not derived.
        self.places, _ = self.run.rebuild(list(range(len(self.run.structs) - len(self.run.changed))))
        self.rows = jax.tree.leaves(self.places)
        self.holomorphic = any(numpy_dtype(given.tensors[i]).kind == "c" for i in self.chosen)

    def program(self, jacobian: Callable[..., Any], fn: Callable[..., Any]) -> Callable[..., Any]:
        """The pure function for a transform of JAX."""

        def of_chosen(picked: Any, arrays: Any) -> tuple[Any, ...]:
            full = list(arrays)
            for i, value in zip(self.chosen, picked, strict=True):
                full[i] = value
            results = fn(*full)
            return [results[k] for k in self.rows], results

        def computed(*arrays: Any) -> tuple[jax.Array, ...]:
            blocks, results = jacobian(of_chosen, has_aux=True, holomorphic=self.holomorphic)(
                [arrays[i] for i in self.chosen], arrays
            )
            return (*[block for row in blocks for block in row], *results)

        return computed

    def shaped(self, blocks: Sequence[Tensor]) -> Any:
        """The blocks in the structure of the results, each row in that of the arguments."""
        rows = []
        width = len(self.chosen)
        for r in range(len(self.rows)):
            # A row of blocks: the derivatives of one result by all chosen Tensors.
            by_place = dict(zip(self.chosen, blocks[r * width : (r + 1) * width], strict=True))
            parts = tuple(
                # Tensors of the argument that were not chosen (whole numbers) have None.
                self.given.replaced(k, [by_place.get(i) for i in self.given.spans[k]])
                for k in numbers_of(self.argnums)
            )
            # As in JAX: one number gives one result, a tuple a tuple.
            rows.append(parts[0] if isinstance(self.argnums, int) else parts)
        return jax.tree.unflatten(jax.tree.structure(self.places), rows)


def _transform(
    name: str,
    jacobian: Callable[..., Any],
    func: Callable[..., Any],
    argnums: Sequence[int] | int,
    has_aux: bool,
) -> Callable[..., Any]:
    @ft.wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        given = Arguments(args, kwargs)
        plan = _Plan(name, given, func, argnums, has_aux)
        key = (tuple(plan.chosen), tuple(plan.rows), plan.holomorphic)
        out = dispatch(name, plan.run, lambda fn: plan.program(jacobian, fn), key, given.tensors)
        count = len(plan.rows) * len(plan.chosen)
        _, aux = finish(plan.run, out[count:])
        found = plan.shaped(out[:count])
        if has_aux:
            return (found, aux)
        return found

    return differentiated


def jacfwd(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Makes the function that computes the Jacobian of `func`, a column at a time in forward mode: for fewer
    inputs than outputs.

    Args:
        func: function of Tensors, or of lists, dicts and Layers of Tensors.
        argnums: int or tuple of ints, the positional arguments to differentiate by.
        has_aux: `func` returns `(results, aux)`.
    Returns:
        A function of the same arguments. For each Tensor of the results it gives, in the structure of the
        argument, a Tensor of shape `result.shape + argument.shape`; with has_aux `(Jacobian, aux)`. Complex
        arguments need a holomorphic function.
    Raises:
        TypeError: an argument has nothing to differentiate by.
        ValueError: argnums names an argument that is not there.
    Example:
        >>> paddle.func.jacfwd(lambda x: x ** 2)(paddle.to_tensor([1.0, 2.0])).tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """
    return _transform("jacfwd", jax.jacfwd, func, argnums, has_aux)


def jacrev(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """As `jacfwd`, a row at a time in reverse mode: for fewer outputs than inputs.

    Args:
        func, argnums, has_aux: as for `jacfwd`.
    Returns:
        A function of the arguments of func that gives the Jacobian, as `jacfwd`.
    Example:
        >>> paddle.func.jacrev(lambda x: x.sum() * x)(paddle.to_tensor([1.0, 2.0])).tolist()
        [[4.0, 1.0], [2.0, 5.0]]
    """
    return _transform("jacrev", jax.jacrev, func, argnums, has_aux)


def hessian(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Makes the function that computes the second derivatives of `func`, forward mode over reverse mode.

    Args:
        func: function that returns a real number as a Tensor (or several results).
        argnums, has_aux: as in `jacfwd`.
    Returns:
        A function of the same arguments: the Jacobian of the Jacobian, for one argument of shape s and a
        number a Tensor of shape `s + s`.
    Raises:
        TypeError: an argument has nothing to differentiate by.
    Example:
        >>> paddle.func.hessian(lambda x: (x ** 3).sum())(paddle.to_tensor([1.0, 2.0])).tolist()
        [[6.0, 0.0], [0.0, 12.0]]
    """
    # Forward over reverse: the second pass has as many columns as there are inputs.
    return jacfwd(jacrev(func, argnums, has_aux), argnums, has_aux)
