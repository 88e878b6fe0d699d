"""Metrics over all workers, of what each has counted.

Each value is a NumPy array, a Variable or its name in the Scope.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.scope import global_scope
from paddle_jax.distributed.fleet.base.registry import Current

__all__ = []


def _array(value: Any, scope: Any) -> np.ndarray:
    """The value of an array, a Variable or a name."""
    if isinstance(value, Tensor):
        # The value of a static Variable is in the Scope.
        value = value.name
    if isinstance(value, str):
        held = (global_scope() if scope is None else scope).find_var(value)
        if held is None:
            raise ValueError(f"fleet.metrics: {value!r} has no value in the scope; run the program first")
        return np.array(held.get_tensor())
    return np.asarray(value)


def _reduced(value: Any, mode: str, scope: Any, util: Any) -> np.ndarray:
    """The values of all workers brought together, in the shape of one."""
    array = _array(value, scope)
    exchange = Current.fleet.util if util is None else util
    return np.asarray(exchange.all_reduce(array, mode)).reshape(array.shape)


def _first(value: Any, scope: Any, util: Any) -> float:
    """The first number of a sum over all workers."""
    return float(_reduced(value, "sum", scope, util).ravel()[0])


def _ratio(part: Any, whole: Any, scope: Any, util: Any) -> float:
    """The quotient of two sums over all workers."""
    return _first(part, scope, util) / _first(whole, scope, util)


def sum(input: Any, scope: Any = None, util: Any = None) -> np.ndarray:
    """The sum over all workers.

    Args:
        input: NumPy array, Variable or name.
        scope: Scope. Default: the global one.
        util: what has `all_reduce`. Default: `fleet.util`.
    Returns:
        NumPy array of the shape of input.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> fleet.metrics.sum(np.array([1.0, 2.0])).tolist()
        [1.0, 2.0]
    """
    return _reduced(input, "sum", scope, util)


def max(input: Any, scope: Any = None, util: Any = None) -> np.ndarray:
    """The largest values over all workers; arguments as in `sum`.

    Example:
        >>> from paddle_jax.distributed import fleet
        >>> fleet.metrics.max(np.array([1.0, 2.0])).tolist()
        [1.0, 2.0]
    """
    return _reduced(input, "max", scope, util)


def min(input: Any, scope: Any = None, util: Any = None) -> np.ndarray:
    """The least values over all workers; arguments as in `sum`.

    Example:
        >>> from paddle_jax.distributed import fleet
        >>> fleet.metrics.min(np.array([1.0, 2.0])).tolist()
        [1.0, 2.0]
    """
    return _reduced(input, "min", scope, util)


def auc(stat_pos: Any, stat_neg: Any, scope: Any = None, util: Any = None) -> float:
    """The area below the curve of rates, over all workers.

    Args:
        stat_pos, stat_neg: [1, buckets], how many examples with and without a click have a prediction in
            each bucket, as `paddle.static.auc` counts them.
        scope, util: as in `sum`.
    Returns:
        float; 0.5 where there are no examples of a kind.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> fleet.metrics.auc(np.array([[0, 1, 3]]), np.array([[2, 1, 0]]))
        0.9583333333333334
    """
    # From high scores to low ones.
    positive = _reduced(stat_pos, "sum", scope, util).reshape(-1)[::-1].astype(np.float64)
    negative = _reduced(stat_neg, "sum", scope, util).reshape(-1)[::-1].astype(np.float64)
    total = positive.sum() * negative.sum()
    # Without examples of both kinds there is no curve; 0.5 is what guessing gives.
    if total == 0:
        return 0.5
    above = np.cumsum(positive)
    # Examples of one bucket are equal: half of their pairs count.
    area = np.sum(negative * (above - positive / 2))
    return float(area / total)


def mae(abserr: Any, total_ins_num: Any, scope: Any = None, util: Any = None) -> float:
    """The mean absolute error over all workers.

    Args:
        abserr: the sum of absolute errors of this worker.
        total_ins_num: how many examples it has.
        scope, util: as in `sum`.
    Returns:
        float.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> fleet.metrics.mae(np.array([3.0]), np.array([2.0]))
        1.5
    """
    return _ratio(abserr, total_ins_num, scope, util)


def rmse(sqrerr: Any, total_ins_num: Any, scope: Any = None, util: Any = None) -> float:
    """The root of the mean square error over all workers; arguments as in `mse`.

    Example:
        >>> from paddle_jax.distributed import fleet
        >>> fleet.metrics.rmse(np.array([8.0]), np.array([2.0]))
        2.0
    """
    return math.sqrt(mse(sqrerr, total_ins_num, scope, util))


def mse(sqrerr: Any, total_ins_num: Any, scope: Any = None, util: Any = None) -> float:
    """The mean square error over all workers.

    Args:
        sqrerr: the sum of square errors of this worker.
        total_ins_num: how many examples it has.
        scope, util: as in `sum`.
    Returns:
        float.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> fleet.metrics.mse(np.array([8.0]), np.array([2.0]))
        4.0
    """
    return _ratio(sqrerr, total_ins_num, scope, util)


def acc(correct: Any, total: Any, scope: Any = None, util: Any = None) -> float:
    """The part of right answers over all workers.

    Args:
        correct: how many answers of this worker are right.
        total: how many there are.
        scope, util: as in `sum`.
    Returns:
        float.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> fleet.metrics.acc(np.array([3.0]), np.array([4.0]))
        0.75
    """
    return _ratio(correct, total, scope, util)
