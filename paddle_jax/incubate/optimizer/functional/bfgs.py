"""The minimiser of Broyden, Fletcher, Goldfarb and Shanno."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.incubate.optimizer.functional.search import Settings, minimized
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.tensors.tensor import Tensor


def minimize_bfgs(
    objective_func: Callable[..., Any],
    initial_position: Tensor,
    max_iters: int = 50,
    tolerance_grad: Any = 1e-7,
    tolerance_change: Any = 1e-9,
    initial_inverse_hessian_estimate: Tensor | None = None,
    line_search_fn: str = "strong_wolfe",
    max_line_search_iters: int = 50,
    initial_step_length: Any = 1.0,
    dtype: DTypeLike = "float32",
    name: str | None = None,
) -> tuple[Any, Any, Any, Any, Any, Any]:
    """Minimises a differentiable function with an approximation of its inverse Hessian.

    Differs from Paddle: another line search, which needs fewer evaluations; eager only.

    Args:
        objective_func: function of a Tensor [n] that returns a Tensor of one element.
        initial_position: Tensor [n] of the dtype `dtype`.
        max_iters: int, largest number of steps.
        tolerance_grad: stops when no element of the gradient is as large.
        tolerance_change: stops when no element of the position changes as much.
        initial_inverse_hessian_estimate: Tensor [n, n], symmetric and positive definite.
            Default: the identity.
        line_search_fn: "strong_wolfe".
        max_line_search_iters: int, largest number of evaluations in one line search.
        initial_step_length: the first length that a line search tries.
        dtype: "float32" or "float64".
    Returns:
        Tuple: whether it converged (bool [1]), how often the function was evaluated (int64 [1]), the position
        [n], the value [], the gradient [n] and the inverse Hessian [n, n].
    Raises:
        ValueError: dtype, position or estimate is not as above. NotImplementedError: another line search.
    Example:
        >>> found = paddle.incubate.optimizer.functional.minimize_bfgs(lambda x: ((x - 1.5) ** 2).sum(),
        ...                                                            paddle.to_tensor([3.0]))
        >>> found[0].item(), round(found[2].item(), 4)
        (True, 1.5)

    See: Nocedal and Wright, "Numerical Optimization", 2nd edition, algorithm 6.1.
    """
    settings = Settings(
        "minimize_bfgs",
        max_iters,
        tolerance_grad,
        tolerance_change,
        line_search_fn,
        max_line_search_iters,
        initial_step_length,
        dtype,
    )
    inverse = settings.check(initial_position, initial_inverse_hessian_estimate)

    def direction(grad: Any) -> np.ndarray:
        return -(inverse @ grad)

    def learn(step: Any, change: Any) -> None:
        nonlocal inverse
        curvature = float(step @ change)
        # Otherwise the estimate would no longer be positive definite.
        if curvature > 0:
            left = np.eye(len(step), dtype=dtype) - np.outer(step, change) / curvature
            inverse = np.asarray(left @ inverse @ left.T + np.outer(step, step) / curvature, dtype)

    return (*minimized(settings, objective_func, initial_position, direction, learn), to_tensor(inverse))
