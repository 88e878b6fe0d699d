"""Solutions of systems of linear equations, of arrays."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax


def triangular(a: jax.Array, b: jax.Array, lower: bool, transpose: int = 0, unit: bool = False) -> jax.Array:
    """Solves with triangular matrices and broadcast batches; transpose 0: as is, 1:
    transposed, 2: adjoint."""
    lead = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (jnp.broadcast_to(t, (*lead, *t.shape[-2:])) for t in (a, b))
    return lax.linalg.triangular_solve(
        a,
        b,
        left_side=True,
        lower=lower,
        transpose_a=transpose > 0,
        conjugate_a=transpose == 2,
        unit_diagonal=unit,
    )


def solution(a: jax.Array, b: jax.Array) -> jax.Array:
    """What solves a @ out = b, for matrices and right-hand sides of equal batches.

    `jnp.linalg.solve` does so for each right-hand side and joins the results: three times as many equations.
    """
    has_routine = a.dtype == b.dtype and a.dtype.kind in "fc" and a.dtype.itemsize >= 4
    if not has_routine or 0 in (*a.shape, *b.shape):
        return jnp.linalg.solve(a, b)
    if a.ndim > 2:
        return jax.vmap(solution)(a, b)
    factors, _, order = lax.linalg.lu(lax.stop_gradient(a))

    def solve(_: Any, y: jax.Array) -> jax.Array:
        rows = y.at[order].get(mode="promise_in_bounds", wrap_negative_indices=False)
        return triangular(factors, triangular(factors, rows, True, unit=True), False)

    def solve_transposed(_: Any, y: jax.Array) -> jax.Array:
        rows = triangular(factors, triangular(factors, y, False, 1), True, 1, unit=True)
        back = jnp.argsort(order)
        return rows.at[back].get(mode="promise_in_bounds", wrap_negative_indices=False)

    # Its derivatives of every order solve with the same factors.
    return lax.custom_linear_solve(lambda x: a @ x, b, solve, solve_transposed)
