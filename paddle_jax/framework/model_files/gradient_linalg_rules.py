"""How gradients of factors and solutions of matrices are written; see `gradient_rules.py`."""

from __future__ import annotations

import functools as ft
from collections.abc import Sequence
from typing import Any

from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.gradient_expressions import add_expression
from paddle_jax.framework.model_files.gradient_rules import RULES, Cotangents, add_rule, turned
from paddle_jax.framework.model_files.reading_helpers import P


def _identity(x: Tensor) -> Tensor:
    """The identity matrix with as many columns as x."""
    return P.eye(x.shape[-1], dtype=numpy_dtype(x).name)


def _halved_triangle(x: Tensor) -> Tensor:
    """The lower triangle with half of the diagonal."""
    return P.tril(x) - x * _identity(x) / 2


def _symmetric(x: Tensor) -> Tensor:
    return (x + turned(x)) / 2


def _scaled_columns(x: Tensor, factors: Tensor) -> Tensor:
    return x * P.unsqueeze(factors, [-2])


def _inverse_differences(values: Tensor) -> Tensor:
    """1 / (value j - value i) at row i and column j, zeros on the diagonal."""
    differences = P.unsqueeze(values, [-2]) - P.unsqueeze(values, [-1])
    diagonal = _identity(differences)
    return (1 - diagonal) / (differences + diagonal)


# factors ----------------------------------------------------------------------------------------------------


def _cholesky(call: Any, cotangents: Cotangents) -> Cotangents:
    is_upper = call.attributes["upper"]
    factor = turned(call.results[0]) if is_upper else call.results[0]
    g = turned(cotangents[0]) if is_upper else cotangents[0]
    inner = _halved_triangle(P.matmul(turned(factor), g))
    # L^-T inner L^-1, by two triangular systems.
    left = P.triangular_solve(factor, inner, False, True)
    both = P.triangular_solve(factor, turned(left), False, True)
    return [_symmetric(both)]


def _eigh(call: Any, cotangents: Cotangents) -> Cotangents:
    values, vectors = call.results
    of_values, of_vectors = cotangents
    inner = P.zeros_like(vectors)
    if of_values is not None:
        inner = inner + _scaled_columns(_identity(vectors), of_values)
    if of_vectors is not None:
        inner = inner + P.matmul(turned(vectors), of_vectors) * _inverse_differences(values)
    return [_symmetric(P.matmul(P.matmul(vectors, inner), turned(vectors)))]


@add_rule("eigvalsh")
def _eigvalsh(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    vectors = P.eigh(x, a["UPLO"])[1]
    return P.matmul(_scaled_columns(vectors, g), turned(vectors))


@add_rule("svdvals")
def _svdvals(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    left, _, right = P.svd(x, False)
    return P.matmul(_scaled_columns(left, g), right)


def _svd(call: Any, cotangents: Cotangents) -> Cotangents:
    if call.attributes["full_matrices"]:
        raise NotWritable("paddle.grad through svd with full_matrices=True cannot be saved; take the others")
    left, values, right = call.results
    of_left, of_values, of_right = cotangents
    columns = turned(right)
    apart = _inverse_differences(values * values)
    inner = P.zeros_like(apart)
    if of_values is not None:
        inner = inner + _scaled_columns(_identity(apart), of_values)
    outside = P.zeros_like(call.operands[0])
    if of_left is not None:
        turn = apart * P.matmul(turned(left), of_left)
        inner = inner + _scaled_columns(turn + turned(turn), values)
        rest = of_left - P.matmul(left, P.matmul(turned(left), of_left))
        outside = outside + P.matmul(_scaled_columns(rest, 1 / values), right)
    if of_right is not None:
        of_columns = turned(of_right)
        turn = apart * P.matmul(right, of_columns)
        inner = inner + P.unsqueeze(values, [-1]) * (turn + turned(turn))
        rest = of_columns - P.matmul(columns, P.matmul(right, of_columns))
        outside = outside + P.matmul(_scaled_columns(left, 1 / values), turned(rest))
    return [P.matmul(P.matmul(left, inner), right) + outside]


def _qr(call: Any, cotangents: Cotangents) -> Cotangents:
    x = call.operands[0]
    is_tall = isinstance(x.shape[-2], int) and isinstance(x.shape[-1], int) and x.shape[-2] >= x.shape[-1]
    if call.attributes["mode"] != "reduced" or not is_tall:
        raise NotWritable(
            "paddle.grad through qr can be saved for mode='reduced' and matrices of at least as many rows as "
            "columns"
        )
    orthogonal, upper = call.results
    of_orthogonal, of_upper = cotangents
    inner = P.zeros_like(upper)
    outside = P.zeros_like(orthogonal)
    if of_upper is not None:
        inner = inner + P.matmul(upper, turned(of_upper))
    if of_orthogonal is not None:
        inner = inner - P.matmul(turned(of_orthogonal), orthogonal)
        outside = outside + of_orthogonal
    mirrored = P.tril(inner) + turned(P.tril(inner, -1))
    of_product = outside + P.matmul(orthogonal, mirrored)
    return [turned(P.triangular_solve(upper, turned(of_product), True))]


def _lu(call: Any, cotangents: Cotangents) -> Cotangents:
    x = call.operands[0]
    is_square = isinstance(x.shape[-1], int) and x.shape[-2] == x.shape[-1]
    if not is_square:
        raise NotWritable("paddle.grad through lu can be saved for square matrices of a fixed size")
    order, lower, upper = P.lu_unpack(*call.results[:2])
    g = cotangents[0]
    inner = P.tril(P.matmul(turned(lower), P.tril(g, -1)), -1) + P.triu(P.matmul(P.triu(g), turned(upper)))
    # L^-T inner U^-T, by two triangular systems.
    left = P.triangular_solve(lower, inner, False, True, True)
    both = P.triangular_solve(upper, turned(left), True)
    return [P.matmul(order, turned(both))]


RULES.update({"cholesky": _cholesky, "eigh": _eigh, "svd": _svd, "qr": _qr, "lu": _lu})


# solutions --------------------------------------------------------------------------------------------------


@add_rule("triangular_solve")
def _triangular_solve(a: Any, g: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Any:
    is_upper, is_turned, has_ones = a["upper"], a["transpose"], a["unitriangular"]
    of_y = P.triangular_solve(x, g, is_upper, not is_turned, has_ones)
    if is_turned:
        of_x = -P.matmul(out, turned(of_y))
    else:
        of_x = -P.matmul(of_y, turned(out))
    # A diagonal of ones is not read.
    beside = 1 if has_ones else 0
    return (P.triu(of_x, beside) if is_upper else P.tril(of_x, -beside)), of_y


@add_rule("cholesky_solve")
def _cholesky_solve(a: Any, g: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Any:
    of_x = P.cholesky_solve(g, y, a["upper"])
    of_product = -P.matmul(of_x, turned(out))
    both = of_product + turned(of_product)
    if a["upper"]:
        return of_x, P.triu(P.matmul(y, both))
    return of_x, P.tril(P.matmul(both, y))


@add_rule("slogdet")
def _slogdet(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    # The sign has no slope.
    return P.unsqueeze(g[1], [-1, -2]) * turned(P.inv(x))


@add_rule("solve")
def _solve(a: Any, g: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Any:
    if not a["left"]:
        of_y = P.solve(turned(x), g, False)
        return -P.matmul(turned(out), of_y), of_y
    if y.ndim > 1:
        of_y = P.solve(turned(x), g)
        return -P.matmul(of_y, turned(out)), of_y
    of_y = P.solve(turned(x), P.unsqueeze(g, [-1]))
    return -P.matmul(of_y, P.unsqueeze(out, [-2])), P.squeeze(of_y, [-1])


def _lstsq(call: Any, cotangents: Cotangents) -> Cotangents:
    x, y = call.operands[:2]
    is_tall = isinstance(x.shape[-2], int) and isinstance(x.shape[-1], int) and x.shape[-2] >= x.shape[-1]
    if not is_tall or cotangents[0] is None or any(one is not None for one in cotangents[1:]):
        raise NotWritable(
            "paddle.grad through lstsq can be saved for the solution, and matrices of a fixed size with at "
            "least as many rows as columns"
        )
    solution = call.results[0]
    upper = P.qr(x)[1]
    # (x^T x)^-1 g, by two triangular systems.
    half = P.triangular_solve(upper, cotangents[0], True, True)
    inner = P.triangular_solve(upper, half, True)
    of_y = P.matmul(x, inner)
    rest = y - P.matmul(x, solution)
    return [P.matmul(rest, turned(inner)) - P.matmul(of_y, turned(solution)), of_y]


RULES["lstsq"] = _lstsq


@add_expression("multi_dot")
def _multi_dot(call: Any, x: Sequence[Tensor]) -> Tensor:
    return ft.reduce(P.matmul, x)
