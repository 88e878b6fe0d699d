"""Reverse mode: gradients of a function by the tape, which runs as the function does, eagerly
or inside a trace."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any

import jax

from paddle_jax._core.execution.trace import is_tensor
from paddle_jax._core.tape.backward import gradients
from paddle_jax._core.tape.grad_mode import enable_grad, is_grad_enabled
from paddle_jax._core.tape.node import next_serial
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor, read_raw, wrap
from paddle_jax.func.arguments import Arguments, is_inexact, numbers_of, split_aux
from paddle_jax.tensor.creation import assign, zeros_like


def _alias(tensor: Tensor) -> Tensor:
    """The same value as a Tensor of its own, connected to where it came from."""
    # A Tensor without gradient becomes a leaf of its own, which this call alone derives by.
    if tensor.stop_gradient:
        return wrap(read_raw(tensor), False)
    return assign(tensor)


def _reaches_out(tensors: Sequence[Tensor], start: int, own: Any) -> bool:
    """Whether what was computed depends on something that is older than `start`, a serial number,
    and not in `own`."""
    # Serial numbers count nodes: an older one was made before the call.
    own = {id(t) for t in own}
    seen = set()
    stack = [t._node if t._node is not None else t for t in tensors if not t.stop_gradient]
    while stack:
        source = stack.pop()
        if id(source) in own or source in seen:
            continue
        if isinstance(source, Tensor) or source.serial < start:
            return True
        seen.add(source)
        stack += [edge for edge, _ in source.edges]
    return False


class _Run:
    """One run of a function with its results on the tape, ready to be pulled back to the chosen Tensors
    among the arguments."""

    def __init__(self, name: str, func: Any, given: Arguments, argnums: Any) -> None:
        chosen = given.chosen(name, argnums)
        self.keep = is_grad_enabled()  # whether the gradients may be differentiated further
        start = next_serial()
        with enable_grad():
            # Others stay as they are: gradients by them are not asked for.
            fresh = list(given.tensors)
            for i in chosen:
                fresh[i] = _alias(fresh[i])
            self.inputs = [fresh[i] for i in chosen]
            self.own = [t for t in self.inputs if t._node is None]
            self.returned = given.call(func, fresh)
        self.start = start

    def pull(
        self, outputs: Sequence[Tensor], cotangents: Sequence[Tensor | None], retain: bool = False
    ) -> list[Any | Tensor]:
        """Gradients by the inputs, zeros where the outputs do not depend on one."""
        outputs_ = [(y, c) for y, c in zip(outputs, cotangents, strict=True) if not y.stop_gradient]
        # The result stays on the tape only if something from before the call is on it, such as a parameter.
        leads = self.keep and _reaches_out([*self.inputs, *[y for y, _ in outputs_]], self.start, self.own)
        outward = leads or any(c is not None and not c.stop_gradient for c in cotangents)
        with enable_grad():
            found = gradients(
                [y for y, _ in outputs_],
                self.inputs,
                [c for _, c in outputs_],
                retain or outward,
                outward,
                [],
            )
        # The caller gets a gradient for each input.
        found = [zeros_like(x) if g is None else g for g, x in zip(found, self.inputs, strict=True)]
        if outward:
            return found
        return [g.detach() for g in found]

    def released(self, tensors: Sequence[Tensor]) -> Any:
        """Results for the caller: on the tape only where something outside wants gradients."""
        if self.keep and _reaches_out(tensors, self.start, self.own):
            return tensors
        return [t.detach() for t in tensors]


def _shaped(given: Arguments, argnums: Sequence[int] | int, found: Any) -> Any:
    """Gradients in the structure of the arguments they belong to."""
    parts = []
    found = iter(found)
    for k in numbers_of(argnums):
        tensors = [given.tensors[i] for i in given.spans[k]]
        # Whole numbers were not differentiated; the structure has a place for them.
        parts.append(given.replaced(k, [next(found) if is_inexact(t) else zeros_like(t) for t in tensors]))
    # As in JAX: one number gives one result, a tuple a tuple.
    if isinstance(argnums, int):
        return parts[0]
    return tuple(parts)


def value_and_grad(func: Any, argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """As `grad`; the function returns `(value, gradients)`, and with has_aux `((value, aux), gradients)`.

    Args:
        func, argnums, has_aux: as for `grad`.
    Returns:
        A function of the arguments of func.
    Raises:
        TypeError: the value is no floating Tensor of one element.
    Example:
        >>> value, slope = paddle.func.value_and_grad(lambda x: (x ** 2).sum())(paddle.to_tensor([3.0]))
        >>> value.item(), slope.tolist()
        (9.0, [6.0])
    """

    @ft.wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        given = Arguments(args, kwargs)
        run = _Run("grad", func, given, argnums)
        value, aux = split_aux("grad", run.returned, has_aux)
        if (
            not isinstance(value, Tensor)
            or value.size != 1
            or numpy_dtype(value).kind == "c"
            or not is_inexact(value)
        ):
            if isinstance(value, Tensor):
                got = f"{value.dtype} of shape {list(value.shape)}"
            else:
                got = type(value).__name__
            raise TypeError(
                f"grad: the function returned {got}; it must return one real floating number as "
                "a Tensor; take jacrev or vjp for others"
            )
        found = run.pull([value], [None])
        # `aux` may hold Tensors of the tape as well.
        leaves, tree = jax.tree.flatten((value, aux), is_leaf=is_tensor)
        released = iter(run.released([x for x in leaves if is_tensor(x)]))
        value, aux = jax.tree.unflatten(tree, [next(released) if is_tensor(x) else x for x in leaves])
        gradients = _shaped(given, argnums, found)
        if has_aux:
            return (value, aux), gradients
        return value, gradients

    return differentiated


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Makes the function that computes the gradient of `func`.

    Args:
        func: function of Tensors, or of lists, dicts and Layers of Tensors, that returns one real
            number as a Tensor.
        argnums: int or tuple of ints, the positional arguments to differentiate by.
        has_aux: `func` returns `(value, aux)`, where aux is anything.
    Returns:
        A function of the same arguments. It returns the gradient in the structure of the argument (a tuple
        with one for each if argnums is a tuple), zeros where the value does not depend on a Tensor; with
        has_aux `(gradient, aux)`. For complex arguments the gradient follows `backward`.
    Raises:
        TypeError: `func` does not return a real number, or an argument has nothing to differentiate by.
        ValueError: argnums names an argument that is not there.
    Example:
        >>> cube = lambda x: (x ** 3).sum()
        >>> paddle.func.grad(paddle.func.grad(lambda x: x ** 3))(paddle.to_tensor(2.0)).item()
        12.0
    """

    both = value_and_grad(func, argnums, has_aux)

    @ft.wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        if has_aux:
            return (found, value[1])
        return found

    return differentiated


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Runs a function and gives the product of any cotangents with its Jacobian.

    Args:
        func: function of Tensors, or of lists, dicts and Layers of Tensors.
        primals: its arguments.
        has_aux: `func` returns `(results, aux)`.
    Returns:
        `(results, pull)`, with has_aux `(results, pull, aux)`. `pull(cotangents)` takes Tensors in the
        structure of the results and returns a tuple with the gradient for each argument; it may be
        called several times.
    Raises:
        TypeError: an argument has nothing to differentiate by.
        ValueError: cotangents of another structure or shape.
    Example:
        >>> y, pull = paddle.func.vjp(paddle.sin, paddle.to_tensor([0.0, 0.0]))
        >>> pull(paddle.to_tensor([1.0, 2.0]))[0].tolist()
        [1.0, 2.0]
    """
    given = Arguments(primals, {})
    argnums = tuple(range(len(primals)))
    run = _Run("vjp", func, given, argnums)
    returned, aux = split_aux("vjp", run.returned, has_aux)
    leaves, tree = jax.tree.flatten(returned, is_leaf=is_tensor)
    if not all(map(is_tensor, leaves)):
        raise TypeError(
            "vjp: the function returned something that is not a Tensor; return it as aux, with has_aux=True"
        )

    def pull(cotangents: Sequence[Tensor]) -> tuple[Tensor, ...]:
        cts, got = jax.tree.flatten(cotangents, is_leaf=is_tensor)
        if got != tree:
            raise ValueError(f"vjp: cotangents: got the structure {got}; the results have {tree}")
        # The tape stays, as `pull` may be called again.
        return _shaped(given, argnums, run.pull(leaves, cts, retain=True))

    results = jax.tree.unflatten(tree, run.released(leaves))
    if has_aux:
        return (results, pull, aux)
    return (results, pull)
