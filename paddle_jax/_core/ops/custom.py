"""`paddle_jax.register_op`: operations that users declare in Python."""

from __future__ import annotations

import functools as ft
import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.interrupt_safe import run_unrecorded
from paddle_jax._core.ops.op import op


def register_op(
    tensors: str = "x",
    *,
    gradient: Callable[..., Any] | None = None,
    shapes: Callable[..., Any] | None = None,
    method: bool = False,
    inplace: bool = False,
    alias: dict[str, str] | None = None,
    nondiff: bool = False,
) -> Callable[[Callable[..., Any]], Any]:
    """Declares an operation: a function of JAX arrays becomes one of Tensors, with gradients, in all modes.

    The function must be pure: what it gives depends on its arguments and on constants, since it runs only
    when something is compiled. What comes out runs eagerly, in compiled functions and in static programs,
    like the operations that are built in.

        @paddle_jax.register_op("x weight")
        def gate(x, weight, slope=1.0, name=None):
            return x * jax.nn.sigmoid(slope * weight)

    Args:
        tensors: names of the parameters that are arrays, by spaces; `*xs` for a list of arrays. Those with
            default None may be left out. All others are attributes: numbers, texts, lists, which
            are compiled in.
        gradient: function (cotangents, result, *arrays, **attributes) that gives the gradient of each array,
            or None where it is 0; the cotangents have the form of the result. It is made of JAX's functions,
            so that gradients of every order follow. Default: JAX derives it.
        shapes: function (*arrays, **attributes) that gives (shape, dtype) of the result, or a list of such
            pairs, from the shapes and dtypes of the arrays. With it the function runs on the host and sees
            NumPy arrays; without `gradient` no gradient flows then.
        method: True makes it a method of Tensor, too.
        inplace: True makes `method_`, which changes its first argument, too; as `.inplace` of the function.
        alias: other keyword names of parameters, {other name: name}.
        nondiff: True stops gradients.
    Returns:
        a decorator that gives the function of Tensors.
    Raises:
        ValueError: a name in `tensors` is no parameter.
    Example:
        >>> import jax.numpy as jnp
        >>> import paddle_jax
        >>> @paddle_jax.register_op("x y")
        ... def cosine(x, y):
        ...     return (x * y).sum(-1) / jnp.sqrt((x * x).sum(-1) * (y * y).sum(-1))
        >>> x = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
        >>> round(cosine(x, paddle.to_tensor([1.0, 0.0])).item(), 4)
        0.6
        >>> @paddle_jax.register_op("x", shapes=lambda x: (x.shape, x.dtype),
        ...                         gradient=lambda ct, y, x: ct * y)
        ... def host_exp(x):
        ...     return np.exp(x)
        >>> host_exp(x).backward(paddle.ones([2])); bool(paddle.allclose(x.grad, x.exp()))
        True
    """
    names = [name.lstrip("*") for name in tensors.split()]

    def declare(fn: Callable[..., Any]) -> Any:
        known = inspect.signature(fn).parameters
        if not set(names) <= set(known):
            raise ValueError(
                f"register_op: tensors: got {tensors!r}; the parameters of {fn.__name__} are "
                f"{', '.join(known)}"
            )
        if shapes is None:
            body = _pure(fn)
        else:
            body = _on_host(fn, names, _pure(shapes))
        if gradient is not None:
            body = _taught(body, names, _pure(gradient))
        # A function of the host has no gradient but the one that is given.
        stops = nondiff or (shapes is not None and gradient is None)
        return op(tensors, alias=alias, inplace=inplace, method=method, nondiff=stops, register=False)(body)

    return declare


def _pure(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, unseen by `to_static`, which looks at what code of the user reads: here that is arguments
    and constants only."""

    @ft.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return run_unrecorded(lambda: function(*args, **kwargs))

    return call


def _parted(names: list[str], values: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """The arrays in order, and the attributes; a number that would become an operand is refused by its hash,
    so it stays an attribute."""
    attributes = {name: value for name, value in values.items() if name not in names}
    for value in attributes.values():
        hash(value)
    return [values[name] for name in names], attributes


def _on_host(fn: Callable[..., Any], names: list[str], shapes: Callable[..., Any]) -> Callable[..., Any]:
    """The function as one of JAX arrays that calls it with NumPy arrays."""

    @ft.wraps(fn)
    def body(**values: Any) -> Any:
        arrays, attributes = _parted(names, values)
        found = shapes(*jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), arrays), **attributes)
        several = isinstance(found, list)
        wanted = tuple(
            jax.ShapeDtypeStruct(tuple(shape), dtype) for shape, dtype in (found if several else [found])
        )

        def call(*given: Any) -> Any:
            result = fn(*jax.tree.map(np.asarray, list(given)), **attributes)
            return tuple(
                _fitting(fn.__name__, r, w)
                for r, w in zip(result if several else [result], wanted, strict=True)
            )

        # JAX refuses to derive a call of the host even where nothing flows through it
        still = jax.tree.map(jax.lax.stop_gradient, arrays)
        made = jax.pure_callback(call, wanted, *still, vmap_method="sequential")
        if several:
            return tuple(made)
        return made[0]

    return body


def _fitting(name: str, result: Any, wanted: Any) -> np.ndarray:
    result = np.asarray(result)
    if result.shape != wanted.shape or result.dtype != wanted.dtype:
        raise ValueError(
            f"{name}: the function gave {result.dtype} {list(result.shape)}; "
            f"`shapes` said {wanted.dtype} {list(wanted.shape)}"
        )
    return result


def _taught(fn: Callable[..., Any], names: list[str], gradient: Callable[..., Any]) -> Callable[..., Any]:
    """The function with a gradient of its own."""

    @ft.wraps(fn)
    def body(**values: Any) -> Any:
        arrays, attributes = _parted(names, values)

        def pull(kept: tuple[Any, ...], cotangents: Any) -> tuple[Any, ...]:
            operands, result = kept
            found = gradient(cotangents, result, *operands, **attributes)
            # A single operand may have its gradient without a list around it.
            if isinstance(found, tuple | list) and (len(operands) > 1 or isinstance(operands[0], list)):
                found = list(found)
            else:
                found = [found]
            if len(found) != len(operands):
                raise ValueError(
                    f"{fn.__name__}: gradient: it gave {len(found)} gradients for {len(operands)} arrays"
                )
            return tuple(map(_filled, found, operands))

        whole = jax.custom_vjp(lambda *operands: fn(**dict(zip(names, operands, strict=True)), **attributes))
        whole.defvjp(lambda *operands: ((result := whole(*operands)), (operands, result)), pull)
        return whole(*arrays)

    return body


def _filled(gradient: Any, operand: Any) -> Any:
    """The gradient in the form that JAX wants: zeros for None, nothing for whole numbers."""
    if operand is None:
        return None
    if isinstance(operand, list):
        return [_filled(g, o) for g, o in zip(gradient or [None] * len(operand), operand, strict=True)]
    if not jnp.issubdtype(operand.dtype, jnp.inexact):
        return np.zeros(operand.shape, jax.dtypes.float0)
    if gradient is None:
        return jnp.zeros_like(operand)
    return jnp.asarray(gradient, operand.dtype)
