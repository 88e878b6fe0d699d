"""Masks with n zeros in each m neighbours, and their checks, over NumPy arrays."""

from __future__ import annotations

import enum
import functools as ft
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class MaskAlgo(enum.Enum):
    """How a mask is chosen: along rows, or in squares one by one or at best."""

    MASK_1D = "get_mask_1d"
    MASK_2D_GREEDY = "get_mask_2d_greedy"
    MASK_2D_BEST = "get_mask_2d_best"


class CheckMethod(enum.Enum):
    """What is checked: rows, or rows and columns of squares."""

    CHECK_1D = "check_mask_1d"
    CHECK_2D = "check_mask_2d"

    @staticmethod
    def get_checking_method(mask_algo: MaskAlgo | int) -> CheckMethod:
        """Returns the check that belongs to a MaskAlgo."""
        if not isinstance(mask_algo, MaskAlgo):
            raise AssertionError(
                f"get_checking_method: mask_algo: got {type(mask_algo).__name__}; it must be a MaskAlgo"
            )
        if mask_algo is MaskAlgo.MASK_1D:
            return CheckMethod.CHECK_1D
        return CheckMethod.CHECK_2D


def calculate_density(x: Any) -> Any:
    """The share of elements that are not zero.

    Args:
        x: array.
    Returns:
        float in 0..1.
    Example:
        >>> float(paddle.incubate.asp.calculate_density(np.array([[0, 1], [0, 3]])))
        0.5
    """
    return np.count_nonzero(x) / np.asarray(x).size


def _groups(mat: np.ndarray, m: int) -> np.ndarray:
    """A matrix as rows of m neighbours; each row of the matrix is filled up with zeros."""
    mat = np.asarray(mat)
    if mat.ndim != 2:
        raise AssertionError(f"mat: got {mat.ndim} axes; it must be a matrix")
    # Filled up with zeros, so that the last group is complete.
    return np.pad(mat, [(0, 0), (0, -mat.shape[1] % m)]).reshape(-1, m)


def _squares(mat: np.ndarray, m: int) -> np.ndarray:
    """A matrix, filled up with zeros, as [rows of squares, columns of squares, m, m]."""
    mat = np.asarray(mat)
    if mat.ndim != 2:
        raise AssertionError(f"mat: got {mat.ndim} axes; it must be a matrix")
    full = np.pad(mat, [(0, -mat.shape[0] % m), (0, -mat.shape[1] % m)])
    return full.reshape(full.shape[0] // m, m, full.shape[1] // m, m).swapaxes(1, 2)


def _joined(squares: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    rows, columns, m, _ = squares.shape
    return squares.swapaxes(1, 2).reshape(rows * m, columns * m)[: shape[0], : shape[1]]


def check_mask_1d(mat: Any, n: Any, m: Any) -> bool:
    """Whether each m neighbours in a row have at least n zeros.

    Example:
        >>> from paddle_jax.incubate.asp import check_mask_1d
        >>> check_mask_1d(np.array([[0, 0, 1, 1], [1, 0, 1, 0]]), 2, 4)
        True
    """
    return bool((np.count_nonzero(_groups(mat, m), 1) <= m - n).all())


def check_mask_2d(mat: Any, n: Any, m: Any) -> bool:
    """Whether each row and each column of each square of m by m has at least n zeros.

    Example:
        >>> from paddle_jax.incubate.asp import check_mask_2d
        >>> check_mask_2d(np.array([[0, 1], [1, 1]]), 1, 2)
        False
    """
    used = _squares(mat, m) != 0
    return bool((used.sum(2) <= m - n).all() and (used.sum(3) <= m - n).all())


def get_mask_1d(mat: Any, n: Any, m: Any) -> np.ndarray:
    """Zeros for the n smallest of each m neighbours in a row, ones elsewhere.

    Example:
        >>> from paddle_jax.incubate.asp import get_mask_1d
        >>> get_mask_1d(np.array([[4.0, 1.0, -3.0, 2.0]]), 2, 4).tolist()
        [[1.0, 0.0, 1.0, 0.0]]
    """
    mat = np.asarray(mat)
    groups = np.abs(_groups(mat, m))
    mask = np.ones(groups.shape)
    # The n smallest of each group become 0; equal ones in their order.
    np.put_along_axis(mask, np.argsort(groups, 1, kind="stable")[:, :n], 0.0, 1)
    return mask.reshape(mat.shape[0], -1)[:, : mat.shape[1]]


def get_mask_2d_greedy(mat: Any, n: Any, m: Any) -> np.ndarray:
    """In each square of m by m keeps the largest elements one by one, as long as no row and no column
    has more than n.

    Example:
        >>> from paddle_jax.incubate.asp import get_mask_2d_greedy
        >>> get_mask_2d_greedy(np.array([[4.0, 3.0], [2.0, 1.0]]), 1, 2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    mat = np.asarray(mat)
    squares = np.abs(_squares(mat, m))
    mask = np.zeros(squares.shape)
    for place in np.ndindex(squares.shape[:2]):
        # A view: what is set here is set in the mask.
        kept = mask[place]
        for i, j in zip(
            *np.unravel_index(np.argsort(-squares[place], None, kind="stable"), (m, m)), strict=True
        ):
            # The largest that still fits into its row and its column.
            if kept[i].sum() < n and kept[:, j].sum() < n:
                kept[i, j] = 1.0
    return _joined(mask, mat.shape)


# Patterns of a size are many, and the same for all weights.
@ft.lru_cache(maxsize=16)
def _patterns(n: int, m: int) -> np.ndarray:
    """All squares of m by m with n ones in each row and column, [patterns, m, m]."""
    rows = [np.isin(np.arange(m), chosen).astype(float) for chosen in itertools.combinations(range(m), n)]
    return np.array(
        # All patterns of a square with n in each row and column.
        [square for square in itertools.product(rows, repeat=m) if (np.sum(square, 0) == n).all()]
    )


def get_mask_2d_best(mat: Any, n: Any, m: Any) -> np.ndarray:
    """In each square of m by m keeps n elements of each row and column, so that their sizes have
    the largest sum.

    Differs from Paddle: sizes count there with their signs.

    Example:
        >>> from paddle_jax.incubate.asp import get_mask_2d_best
        >>> get_mask_2d_best(np.array([[4.0, -5.0], [-6.0, 1.0]]), 1, 2).tolist()
        [[0.0, 1.0], [1.0, 0.0]]
    """
    mat = np.asarray(mat)
    patterns = _patterns(n, m)
    # The pattern that keeps the largest sum.
    sums = np.einsum("rcij,pij->rcp", np.abs(_squares(mat, m)), patterns)
    return _joined(patterns[sums.argmax(-1)], mat.shape)


def _as_matrix(tensor: np.ndarray, name: str) -> tuple[Callable[..., Any] | np.ndarray, ...]:
    """(matrix, function back): the last axis of up to three, the third of four (the inputs of a
    convolution, turned round)."""
    if tensor.ndim == 4:
        # Convolutions are grouped along their third axis, as in Paddle.
        turned = tensor.transpose([0, 1, 3, 2])
        return (
            turned.reshape(-1, tensor.shape[2]),
            lambda mask: mask.reshape(turned.shape).transpose([0, 1, 3, 2]),
        )
    if not 1 <= tensor.ndim <= 3:
        raise ValueError(f"{name}: tensor: got {tensor.ndim} axes; it must have 1 to 4")
    return tensor.reshape(-1, tensor.shape[-1]), lambda mask: mask.reshape(tensor.shape)


def create_mask(tensor: Any, func_name: Any = MaskAlgo.MASK_1D, n: Any = 2, m: Any = 4) -> np.ndarray:
    """A mask of zeros and ones with n zeros in each m neighbours along the last axis (of four
    axes: the third).

    Args:
        tensor: array with 1 to 4 axes.
        func_name: MaskAlgo.
        n, m: ints.
    Returns:
        Array of the shape and dtype of tensor.
    Raises:
        AssertionError: func_name is no MaskAlgo. ValueError: another number of axes.
    Example:
        >>> from paddle_jax.incubate.asp import create_mask
        >>> create_mask(np.array([4.0, 1.0, -3.0, 2.0])).tolist()
        [1.0, 0.0, 1.0, 0.0]
    """
    if not isinstance(func_name, MaskAlgo):
        raise AssertionError(f"create_mask: func_name: got {type(func_name).__name__}; it must be a MaskAlgo")
    tensor = np.asarray(tensor)
    matrix, back = _as_matrix(tensor, "create_mask")
    make = {
        MaskAlgo.MASK_1D: get_mask_1d,
        MaskAlgo.MASK_2D_GREEDY: get_mask_2d_greedy,
        MaskAlgo.MASK_2D_BEST: get_mask_2d_best,
    }[func_name]
    return back(make(matrix, n, m)).astype(tensor.dtype)


def check_sparsity(tensor: Any, func_name: Any = CheckMethod.CHECK_1D, n: Any = 2, m: Any = 4) -> bool:
    """Whether an array has n zeros in each m neighbours along the last axis (of four axes: the third).

    Args:
        tensor: array with 1 to 4 axes.
        func_name: CheckMethod.
        n, m: ints.
    Raises:
        AssertionError: func_name is no CheckMethod. ValueError: another number of axes.
    Example:
        >>> from paddle_jax.incubate.asp import check_sparsity
        >>> check_sparsity(np.array([4.0, 0.0, 3.0, 0.0]))
        True
    """
    if not isinstance(func_name, CheckMethod):
        raise AssertionError(
            f"check_sparsity: func_name: got {type(func_name).__name__}; it must be a CheckMethod"
        )
    matrix, _ = _as_matrix(np.asarray(tensor), "check_sparsity")
    return (check_mask_1d if func_name is CheckMethod.CHECK_1D else check_mask_2d)(matrix, n, m)
