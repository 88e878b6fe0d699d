"""What the quasi-Newton minimisers share: checks, evaluations, and the loop of directions
and line searches."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.autograd.autograd import gradients
from paddle_jax.optimizer.line_search import Point, strong_wolfe
from paddle_jax.tensor.creation import to_tensor


@dataclasses.dataclass
class Settings:
    """The arguments that both minimisers take.

    Attributes:
        name: str, the function, for messages.
        max_iters: int, the most iterations.
        tolerance_grad, tolerance_change: float, where the search ends.
        line_search_fn: str, "strong_wolfe".
        max_line_search_iters: int, the most steps along one line.
        initial_step_length: float, the first of these.
        dtype: str, "float32" or "float64".
    """

    name: str
    max_iters: int
    tolerance_grad: float
    tolerance_change: float
    line_search_fn: str
    max_line_search_iters: int
    initial_step_length: float
    dtype: str

    def check(self, initial_position: Tensor, estimate: Tensor | None) -> np.ndarray:
        """Raises for what is not allowed; returns the first inverse Hessian."""
        if self.dtype not in ("float32", "float64"):
            raise ValueError(f"{self.name}: dtype: got {self.dtype}; it must be 'float32' or 'float64'")
        if not isinstance(initial_position, Tensor):
            raise TypeError(
                f"{self.name}: initial_position: got {type(initial_position).__name__}; it must be a Tensor"
            )
        if initial_position.ndim != 1 or str(initial_position.dtype) != f"paddle.{self.dtype}":
            raise ValueError(
                f"{self.name}: initial_position: "
                f"got {initial_position.dtype}{list(initial_position.shape)}; "
                f"it must be {self.dtype}[n]"
            )
        if self.line_search_fn != "strong_wolfe":
            raise NotImplementedError(
                f"{self.name}: line_search_fn: got {self.line_search_fn!r}; it must be 'strong_wolfe'"
            )
        if estimate is None:
            return np.eye(initial_position.shape[0], dtype=self.dtype)
        matrix = np.asarray(estimate.numpy(), self.dtype)
        if not np.array_equal(matrix, matrix.T) or np.linalg.eigvalsh(matrix).min() <= 0:
            raise ValueError(
                f"{self.name}: initial_inverse_hessian_estimate: it must be symmetric and positive definite"
            )
        return matrix


def minimized(
    settings: Settings,
    objective_func: Callable[..., Any],
    initial_position: Tensor,
    direction: Callable[..., Any],
    learn: Callable[..., Any],
) -> tuple[Any, Any, Any, Any, Any]:
    """Goes downhill along direction(gradient) until nothing changes; learn(step, change of the gradient) is
    told of each step.

    Returns:
        (converged, evaluations, position, value, gradient): bool Tensor [1], int64 Tensor [1], Tensor [n],
        Tensor [], Tensor [n].
    """
    calls = 0

    def evaluated(position: Any) -> tuple[float | np.ndarray, ...]:
        nonlocal calls
        calls += 1
        x = to_tensor(position, stop_gradient=False)
        value = objective_func(x)
        (grad,) = gradients([value], [x], None)
        return float(value.item()), np.asarray(grad.numpy(), settings.dtype)

    position = np.asarray(initial_position.numpy(), settings.dtype)
    value, grad = evaluated(position)
    converged = float(np.abs(grad).max(initial=0.0)) < settings.tolerance_grad
    for _ in range(settings.max_iters):
        if converged or not np.isfinite(value):
            break
        along = direction(grad)
        start = Point(0.0, value, grad, float(grad @ along), float(np.abs(grad).max()))
        # Not downhill, or NaN: no length of a step helps.
        if not start.slope < 0:
            break

        # Bound as defaults, since the loop goes on with other values.
        def point_at(length: Any, position: Any = position, along: Any = along) -> Point:
            loss, slope = evaluated(position + np.asarray(length, settings.dtype) * along)
            # beyond the range of the dtype nothing is lower
            if not np.isfinite(loss):
                loss = np.inf
            return Point(length, loss, slope, float(slope @ along), float(np.abs(slope).max()))

        reach = float(np.abs(along).max())
        # A step may leave the range of the dtype; such points count as not lower.
        with np.errstate(over="ignore", invalid="ignore"):
            found, _ = strong_wolfe(
                point_at,
                settings.initial_step_length,
                start,
                reach,
                settings.tolerance_change,
                limit=settings.max_line_search_iters,
            )
        # The search found nothing lower; NaN counts as not lower.
        if not found.loss <= value or found.length == 0.0:
            break
        step = np.asarray(found.length, settings.dtype) * along
        learn(step, found.grad - grad)
        position = position + step
        value = found.loss
        grad = found.grad
        converged = (
            found.largest < settings.tolerance_grad or float(np.abs(step).max()) < settings.tolerance_change
        )
    return (
        to_tensor([bool(converged)]),
        to_tensor([calls], dtype="int64"),
        to_tensor(position),
        to_tensor(value, dtype=settings.dtype),
        to_tensor(grad),
    )
