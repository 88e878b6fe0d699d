"""Gradients of kernels, derived from the equations that a kernel has been traced to.

This runs none of the Python code of an operation again, and most often the equations are there already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax import dtypes as jax_dtypes

from paddle_jax._core.base.symbolic_dims import SymbolicDim
from paddle_jax._core.kernels import (
    reverse,
    scan_gradients,  # noqa: F401  it registers its rule in `reverse`
)

_LENGTHS = (int, SymbolicDim)  # and not the symbolic lengths of `jax.export`

if TYPE_CHECKING:
    from paddle_jax._core.kernels.jaxpr_tracing import Equations
    from paddle_jax._core.kernels.kernel import Kernel


def backward_function(
    kernel: Kernel, argnums: Sequence[int], has_cotangent: Sequence[bool], operand_count: int
) -> Callable[..., Any]:
    """The function `(operands..., cotangents...) -> gradients` of a kernel; see `Kernel.grad`."""

    def backward(*args: Any) -> Any:
        operands = args[:operand_count]
        cts = args[operand_count:]
        if kernel.deferrable and all(type(n) in _LENGTHS for operand in operands for n in operand.shape):
            return _gradients_of(kernel.equations_for(operands), argnums, has_cotangent, operands, cts)
        out, pull = linearize(kernel, argnums, operands)
        return pull_back(out, pull, has_cotangent, cts)

    return backward


def _gradients_of(
    equations: Equations,
    argnums: Sequence[int],
    has_cotangent: Sequence[bool],
    operands: Sequence[Any],
    cts: Sequence[Any],
) -> Any:
    """The gradients of an operation from its equations."""
    _, grads = results_and_gradients(equations, argnums, has_cotangent, operands, cts)
    if len(grads) == 1:
        return grads[0]
    return tuple(grads)


def results_and_gradients(
    equations: Equations,
    argnums: Sequence[int],
    has_cotangent: Sequence[bool],
    operands: Sequence[Any],
    cts: Sequence[Any],
) -> tuple[list[Any], list[Any]]:
    """The results and gradients of an operation from its equations; see `Kernel.grad` for the arguments."""
    outs = equations.out_avals
    active = [i in argnums for i in range(len(operands))]
    wanted = [has and _is_inexact(out) for out, has in zip(outs, has_cotangent, strict=True)]
    results, pull = reverse.linearize(equations.jaxpr, equations.consts, operands, active, wanted)
    all_cts = _with_none(cts, has_cotangent)
    grads = pull(
        [
            _convert_cotangent(ct, out) if wants else None
            for ct, out, wants in zip(all_cts, outs, wanted, strict=True)
        ]
    )
    # JAX's gradients of complex numbers are the conjugates of Paddle's.
    return results, [_conjugate(reverse.zeros_if_none(grads[i], operands[i])) for i in argnums]


def _with_none(cts: Iterable[Any], has_cotangent: Sequence[bool]) -> list[Any]:
    """A cotangent for each result, None where none was passed."""
    passed = iter(cts)
    return [next(passed) if has else None for has in has_cotangent]


def linearize(
    kernel: Kernel, argnums: Sequence[int], operands: Sequence[Any]
) -> tuple[Any, Callable[..., Any]]:
    """(results, pull) of `jax.vjp` with respect to the operands at `argnums`.

    Operands that are known stay known to the function.
    """
    fn: Callable[..., Any] = kernel.fn
    if kernel.deferrable and all(isinstance(operand, jax.core.Tracer) for operand in operands):
        fn = kernel.equations_for(operands)
    return jax.vjp(_of_operands_at(fn, argnums, operands), *[operands[i] for i in argnums])


def pull_back(out: Any, pull: Callable[..., Any], has_cotangent: Sequence[bool], cts: Sequence[Any]) -> Any:
    """The gradients from what `linearize` gave and the cotangents that were passed."""
    results, tree = jax.tree.flatten(out)
    all_cts = [
        _cotangent(result, ct) for result, ct in zip(results, _with_none(cts, has_cotangent), strict=True)
    ]
    return _as_result(pull(jax.tree.unflatten(tree, all_cts)))


def _of_operands_at(
    fn: Callable[..., Any], argnums: Sequence[int], operands: Sequence[Any]
) -> Callable[..., Any]:
    """A function of the operands at `argnums` alone."""

    def forward(*values: Any) -> Any:
        full = list(operands)
        for i, value in zip(argnums, values, strict=True):
            full[i] = value
        return fn(*full)

    return forward


def _as_result(cotangents: Iterable[Any]) -> Any:
    """Cotangents as the gradients of a kernel, a single one without a tuple.

    Complex numbers follow Paddle: the gradient is conj(vjp(conj(cotangent))).
    """
    grads = [_conjugate(ct) for ct in cotangents]
    if len(grads) == 1:
        return grads[0]
    return tuple(grads)


def _conjugate(x: Any) -> Any:
    if jnp.iscomplexobj(x):
        return jnp.conj(x)
    return x


def _is_inexact(x: Any) -> bool:
    return jnp.issubdtype(x.dtype, jnp.inexact)


def _cotangent(out: Any, ct: Any) -> Any:
    """The cotangent of a result for `jax.vjp`; zeros if none was passed."""
    if not _is_inexact(out):
        return np.zeros(out.shape, jax_dtypes.float0)
    if ct is None:
        return jax.lax.full(out.shape, 0, out.dtype)
    return _convert_cotangent(ct, out)


def _convert_cotangent(ct: Any, out: Any) -> Any:
    """A cotangent in the dtype and shape of the result. It makes no call that is not needed, because each
    takes its time in a trace."""
    ct = _conjugate(ct)
    if ct.dtype != out.dtype:
        ct = ct.astype(out.dtype)
    if ct.shape == out.shape:
        return ct
    return ct.reshape(out.shape)
