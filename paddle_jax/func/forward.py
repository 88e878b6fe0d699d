"""Forward mode: derivatives along a direction, of first and of higher order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from paddle_jax.func.arguments import Arguments, dispatch, finish, is_inexact
from paddle_jax.func.reverse import grad
from paddle_jax.func.series import full_terms, series
from paddle_jax.tensor.creation import ones_like

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def _directions(name: str, given: Arguments, tangents: Sequence[Any]) -> list[Any]:
    """The tangent of each floating Tensor among the arguments."""
    along = Arguments(tangents, {})
    # The structure of the tangents must be that of the arguments; their whole numbers are not looked at.
    if along.tree != given.tree:
        raise ValueError(f"{name}: tangents: got the structure {along.tree}; the arguments have {given.tree}")
    found = []
    for t, v in zip(given.tensors, along.tensors, strict=True):
        if is_inexact(t):
            if t.shape != v.shape or t.dtype != v.dtype:
                raise ValueError(
                    f"{name}: tangents: got {v.dtype} {list(v.shape)} for an argument of "
                    f"{t.dtype} {list(t.shape)}; they must be alike"
                )
            found.append(v)
    return found


def jvp(func: Callable[..., Any], primals: Sequence[Tensor], tangents: Any) -> tuple[Any, Any]:
    """Runs a function together with its derivative along a direction, in one forward pass.

    Args:
        func: function of Tensors, or of lists, dicts and Layers of Tensors.
        primals: tuple of its arguments.
        tangents: tuple of the direction for each argument, of the same structure, shapes and dtypes (what
            stands for integers is not looked at).
    Returns:
        `(results, derivatives)`, both in the structure of what `func` returns.
    Raises:
        ValueError: the structures, shapes or dtypes of primals and tangents differ.
    Example:
        >>> y, dy = paddle.func.jvp(lambda x: x ** 2, (paddle.to_tensor([1.0, 2.0]),),
        ...                         (paddle.to_tensor([1.0, 0.0]),))
        >>> y.tolist(), dy.tolist()
        ([1.0, 4.0], [2.0, 0.0])
    """
    given = Arguments(tuple(primals), {})
    directions = _directions("jvp", given, tuple(tangents))
    # JAX differentiates by floating and complex operands alone.
    chosen = [i for i, t in enumerate(given.tensors) if is_inexact(t)]
    run = given.traced(func)
    n, m = len(given.tensors), len(chosen)

    def make(fn: Callable[..., Any]) -> Callable[..., Any]:
        def computed(*arrays: Any) -> tuple[jax.Array, ...]:
            primals = arrays[:n]
            tangents = arrays[n : n + m]
            taken = arrays[n + m :]
            out, derivatives = jax.jvp(
                _of(fn, chosen, primals, taken), [primals[i] for i in chosen], list(tangents)
            )
            return *[
                # float0 stands for the derivative of whole numbers, which Paddle has no Tensor for.
                jnp.zeros_like(y) if d.dtype == jax.dtypes.float0 else d
                for y, d in zip(out, derivatives, strict=True)
            ], *out

        return computed

    out = dispatch("jvp", run, make, tuple(chosen), [*given.tensors, *directions])
    # Derivatives first, then results; the last of each are of Tensors that the function has changed.
    count = len(run.structs)
    derivatives = run.rebuild(out[: count - len(run.changed)])
    return finish(run, out[count:]), derivatives


def _of(
    fn: Callable[..., Any], chosen: Sequence[int], primals: Sequence[jax.Array], taken: Sequence[jax.Array]
) -> Callable[..., Any]:
    """A function of the chosen operands alone."""

    def of_chosen(*picked: Any) -> tuple[Any, ...]:
        full = list(primals)
        for i, value in zip(chosen, picked, strict=True):
            full[i] = value
        return fn(*full, *taken)

    return of_chosen


def hvp(
    func: Callable[..., Any], primals: Sequence[Tensor], tangents: Sequence[Tensor]
) -> Tensor | tuple[Tensor, ...]:
    """The product of the Hessian of a function with a vector, without the Hessian: forward mode
    over reverse mode.

    Args:
        func: function that returns a real number as a Tensor.
        primals, tangents: tuples of its arguments and of the vector's parts.
    Returns:
        The product, in the structure of the argument; a tuple for several arguments.
    Example:
        >>> x, v = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 1.0])
        >>> paddle.func.hvp(lambda x: (x ** 3).sum(), (x,), (v,)).tolist()
        [6.0, 12.0]
    """
    # The product has no tuple around it for one argument.
    if len(primals) == 1:
        gradient = grad(func)
    else:
        gradient = grad(func, tuple(range(len(primals))))
    # Forward over reverse: one product, at the cost of a few gradients.
    return jvp(gradient, primals, tangents)[1]


def taylor(func: Callable[..., Any], x: Tensor, direction: Tensor | None = None, order: int = 2) -> list[Any]:
    """A function and its derivatives along one direction up to an order, in one pass of Taylor mode.

    The cost grows with the square of the order, where nested gradients grow exponentially. For a function of
    rows (a network that maps points [n, d] to values [n, k]) and a direction that is 1 in one column it gives
    u, u_x, u_xx, ... at every point: the same numbers as nested `paddle.grad(u.sum(), x, create_graph=True)`
    taken column by column.

    Args:
        func: function of one Tensor that returns Tensors. It may use layers from outside.
        x: floating Tensor.
        direction: Tensor of the shape of x. Default: ones.
        order: int >= 1.
    Returns:
        List of order + 1 results in the structure of what `func` returns: the value and the derivatives
        d^k/dt^k func(x + t direction) at t = 0.
    Raises:
        ValueError: order is below 1, or direction is not like x.
        TypeError: x is not floating.
    Example:
        >>> u, u_x, u_xx, u_xxx = paddle.func.taylor(lambda x: x ** 3, paddle.to_tensor([2.0]), order=3)
        >>> [d.item() for d in (u, u_x, u_xx, u_xxx)]
        [8.0, 12.0, 12.0, 6.0]
    Source: A. Griewank, A. Walther, Evaluating Derivatives, 2nd ed., SIAM 2008, chapter 13.
    """
    if order < 1:
        raise ValueError(f"taylor: order: got {order}; it must be at least 1")
    given = Arguments((x,), {})
    given.chosen("taylor", 0)
    if direction is None:
        direction = ones_like(given.tensors[0])
    v = _directions("taylor", given, (direction,))
    run = given.traced(func)

    def make(fn: Callable[..., Any]) -> Callable[..., Any]:
        def computed(x: jax.Array, v: jax.Array, *taken: Any) -> tuple[jax.Array, ...]:
            # The series begins with the value; its first term is the direction.
            found = _derivatives(fn, x, v, taken, order)
            return *[term for j in range(order) for term in found[1 + j]], *found[0]

        return computed

    out = dispatch("taylor", run, make, order, [*given.tensors, *v])
    count = len(run.structs)
    higher = [run.rebuild(out[j * count : (j + 1) * count - len(run.changed)]) for j in range(order)]
    return [finish(run, out[order * count :]), *higher]


def _derivatives(
    fn: Callable[..., Any], x: jax.Array, v: jax.Array, taken: Sequence[jax.Array], order: int
) -> list[Any]:
    """[values, first derivatives, ..., those of the given order] of a traced function along v, for
    each of its results."""
    # The curve is x + t v: its first derivative is v, the others are zero.
    out = series(fn.jaxpr, taken, [(x, [v, *[None] * (order - 1)])], order)
    # A result that does not depend on x has no terms.
    terms = [full_terms(p, terms or [None] * order) for p, terms in out]
    return [[p for p, _ in out], *[[t[j] for t in terms] for j in range(order)]]


def laplacian(func: Callable[..., Any], x: Tensor) -> tuple[Any, Any]:
    """The sum of the second derivatives of a function of points, by Taylor mode along each axis at once.

    Args:
        func: function of rows: it maps points [..., d] to Tensors [..., k] and treats each point on its own.
            It may use layers from outside.
        x: floating Tensor [..., d].
    Returns:
        `(results, Laplacian of each)`, in the structure of what `func` returns.
    Raises:
        TypeError: x is not floating.
        ValueError: x is 0-D.
    Example:
        >>> u, lap = paddle.func.laplacian(lambda x: (x ** 2).sum(-1, keepdim=True),
        ...                                paddle.to_tensor([[1.0, 2.0, 3.0]]))
        >>> u.tolist(), lap.tolist()
        ([[14.0]], [[6.0]])
    """
    given = Arguments((x,), {})
    given.chosen("laplacian", 0)
    if given.tensors[0].ndim == 0:
        raise ValueError("laplacian: x: got a 0-D tensor; it must be points along the last axis")
    run = given.traced(func)

    def make(fn: Callable[..., Any]) -> Callable[..., Any]:
        def computed(x: jax.Array, *taken: Any) -> tuple[jax.Array, ...]:
            def second(v: jax.Array) -> tuple[Any, ...]:
                values, _, seconds = _derivatives(fn, x, jnp.broadcast_to(v, x.shape), taken, 2)
                return values, seconds

            # One curve for each axis, all at once; the values are the same for each of them.
            values, seconds = jax.vmap(second, out_axes=(None, 0))(jnp.eye(x.shape[-1], dtype=x.dtype))
            return *[s.sum(0) for s in seconds], *values

        return computed

    out = dispatch("laplacian", run, make, None, given.tensors)
    count = len(run.structs)
    sums = run.rebuild(out[: count - len(run.changed)])
    return finish(run, out[count:]), sums
