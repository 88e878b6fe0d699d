"""The minimiser with limited memory."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paddle_jax.incubate.optimizer.functional.search import Settings, minimized

if TYPE_CHECKING:
    import numpy as np

    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.tensors.tensor import Tensor


def minimize_lbfgs(
    objective_func: Callable[..., Any],
    initial_position: Tensor,
    history_size: int = 100,
    max_iters: Any = 50,
    tolerance_grad: Any = 1e-8,
    tolerance_change: Any = 1e-8,
    initial_inverse_hessian_estimate: Tensor | None = None,
    line_search_fn: str = "strong_wolfe",
    max_line_search_iters: Any = 50,
    initial_step_length: Any = 1.0,
    dtype: DTypeLike = "float32",
    name: str | None = None,
) -> tuple[Any, Any, Any, Any, Any]:
    """Minimises a differentiable function with an approximation of its inverse Hessian that is made
    of the last steps.

    Differs from Paddle: another line search; eager only.

    Args:
        objective_func: function of a Tensor [n] that returns a Tensor of one element.
        initial_position: Tensor [n] of the dtype `dtype`.
        history_size: int, how many steps are kept.
        max_iters, tolerance_grad, tolerance_change, initial_inverse_hessian_estimate, line_search_fn,
            max_line_search_iters, initial_step_length, dtype: as for `minimize_bfgs`.
    Returns:
        Tuple: whether it converged (bool [1]), how often the function was evaluated (int64 [1]), the position
        [n], the value [] and the gradient [n].
    Raises:
        ValueError: dtype, position or estimate is not as for `minimize_bfgs`. NotImplementedError:
            another line search.
    Example:
        >>> found = paddle.incubate.optimizer.functional.minimize_lbfgs(lambda x: ((x - 1.5) ** 2).sum(),
        ...                                                             paddle.to_tensor([3.0]))
        >>> found[0].item(), round(found[2].item(), 4)
        (True, 1.5)

    See: Nocedal and Wright, "Numerical Optimization", 2nd edition, algorithms 7.4 and 7.5.
    """
    settings = Settings(
        "minimize_lbfgs",
        max_iters,
        tolerance_grad,
        tolerance_change,
        line_search_fn,
        max_line_search_iters,
        initial_step_length,
        dtype,
    )
    first = settings.check(initial_position, initial_inverse_hessian_estimate)
    history = collections.deque(maxlen=history_size)

    def direction(grad: Any) -> np.ndarray:
        along = -grad
        factors = []
        # The two loops of Nocedal, 1980: the product with the inverse without a matrix.
        for step, change, curvature in reversed(history):
            factors.append(step @ along / curvature)
            along = along - factors[-1] * change
        along = first @ along
        for (step, change, curvature), factor in zip(history, reversed(factors), strict=True):
            along = along + (factor - change @ along / curvature) * step
        return along

    def learn(step: Any, change: Any) -> None:
        curvature = step @ change
        # As for BFGS: the estimate has to stay positive definite.
        if curvature > 0:
            history.append((step, change, curvature))

    return minimized(settings, objective_func, initial_position, direction, learn)
