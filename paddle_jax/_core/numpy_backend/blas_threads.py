"""Matrix products of NumPy in one thread.

OpenBLAS splits a product over its threads and waits actively for them. On a busy machine that waiting costs
far more than a second thread gains: a product of [64, 2048] and [2048, 576] took 1.4 ms in one thread, and 81
in two. The compiler of a program of medium length keeps one of two processors busy.
"""

from __future__ import annotations

import ctypes
import functools as ft
from collections.abc import Callable
from typing import Any

import numpy as np

# Multiplications up to which OpenBLAS uses one thread anyway.
SERIAL = 1 << 18
# A product above that takes 5 ms at least; all threads are worth the risk of waiting.
_LARGE = 1 << 28


class _Threads:
    """The functions of the OpenBLAS that NumPy calls; None where it has another library.

    Attributes:
        get: function that gives the number of threads.
        set: function that sets it, for the whole process.
    """

    get: Any = None
    set: Any = None


def _find() -> None:
    """Finds these functions among the symbols of NumPy's own module and the libraries that it links."""
    try:
        library = ctypes.CDLL(np._core._multiarray_umath.__file__)  # pyright: ignore[reportAttributeAccessIssue]
    except (OSError, AttributeError):
        return
    # wheels of NumPy 2, older wheels, OpenBLAS of a system
    for name in ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "openblas_{}_num_threads"):
        get = getattr(library, name.format("get"), None)
        set_number = getattr(library, name.format("set"), None)
        if get is not None and set_number is not None:
            _Threads.get = get
            _Threads.set = set_number
            return


_find()


def has_choice() -> bool:
    """Whether the number of threads can be chosen."""
    return _Threads.set is not None


def matmul(x: np.ndarray, y: np.ndarray, out: np.ndarray | None = None) -> Any:
    """`np.matmul`, in one thread unless the product is large."""
    size = x.shape[-2] * x.shape[-1] * y.shape[-1]
    # In between, threads cost OpenBLAS more than they save.
    if SERIAL < size <= _LARGE:
        return _in_one_thread(np.matmul, x, y, out=out)
    return np.matmul(x, y, out=out)


def sum_rows(x: np.ndarray) -> np.ndarray:
    """The sum of each row of a matrix of floats, as a product with ones in one thread."""
    return _in_one_thread(np.matmul, x, _ones(x.shape[1], x.dtype))


@ft.lru_cache(maxsize=64)
def _ones(count: int, dtype: np.dtype) -> np.ndarray:
    return np.ones(count, dtype)


def _in_one_thread(multiply: Callable[..., Any], *operands: np.ndarray, **settings: Any) -> Any:
    """A call of a function of NumPy while OpenBLAS has one thread.

    An interrupt between the two changes leaves NumPy with one thread, which costs time and nothing else.
    """
    if not has_choice():
        return multiply(*operands, **settings)
    number = _Threads.get()
    _Threads.set(1)
    try:
        return multiply(*operands, **settings)
    finally:
        _Threads.set(number)
