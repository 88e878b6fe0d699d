"""ModelAverage: means of weights over the last steps."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import require_dict
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.held_values import assign_from
from paddle_jax.optimizer.optimizer import Optimizer
from paddle_jax.tensor.creation import assign, to_tensor, zeros
from paddle_jax.tensor.manipulation import cast
from paddle_jax.tensor.math import minimum
from paddle_jax.tensor.search import where

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


_SUMS = ("sum_1", "sum_2", "sum_3", "restore")
_COUNTS = ("num_accumulates", "old_num_accumulates", "num_updates")
_BLOCK = 16384  # how many weights one sum takes before it is added to the next, so that rounding stays small


class ModelAverage(Optimizer):
    """Keeps the mean of the weights over a window of the last steps, and puts it in place of the
    weights for a while.

    The window ends when it has min_average_window steps and min(max_average_window, average_window_rate
    * steps in all).

    Differs from Paddle: not for static programs.

    Args:
        average_window_rate: float, length of the window per step.
        parameters: list of Parameters.
        min_average_window, max_average_window: ints, limits of the length.
    Raises:
        AttributeError: parameters is None.
    Example:
        >>> layer = paddle.nn.Linear(1, 1, bias_attr=False); layer.weight.set_value(paddle.ones([1, 1]))
        >>> sgd = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
        >>> average = paddle.incubate.ModelAverage(0.5, parameters=layer.parameters(), min_average_window=2,
        ...                                        max_average_window=4)
        >>> for _ in range(2):
        ...     layer(paddle.ones([1, 1])).sum().backward()
        ...     sgd.step()
        ...     average.step()
        ...     sgd.clear_grad()
        >>> with average.apply():
        ...     round(layer.weight.item(), 4)
        0.85
        >>> round(layer.weight.item(), 4)
        0.8

    See: Polyak and Juditsky, Acceleration of stochastic approximation by averaging, 1992.
    """

    def __init__(
        self,
        average_window_rate: float,
        parameters: Sequence[Tensor] | None = None,
        min_average_window: Any = 10000,
        max_average_window: Any = 10000,
        name: str | None = None,
    ) -> None:
        super().__init__(0.0, parameters, name=name)
        self.average_window = average_window_rate
        self.min_average_window = min_average_window
        self.max_average_window = max_average_window
        self.type = "average_accumulates"
        self._kept = []
        for param in self._all_params():
            # Sums of many weights lose digits in half precision.
            if param.dtype in (dtypes.float16, dtypes.bfloat16):
                wide = "float32"
            else:
                wide = param.dtype
            sums = {
                name: zeros(param.shape, dtype=param.dtype if name == "restore" else wide) for name in _SUMS
            }
            self._kept.append({**sums, **{name: zeros([1], dtype="int64") for name in _COUNTS}})

    @no_grad()
    def step(self) -> None:
        """Counts the weights as they are now in."""
        for param, kept in zip(self._all_params(), self._kept, strict=True):
            first, second, third, _ = (kept[name] for name in _SUMS)
            taken, old, updates = (kept[name] for name in _COUNTS)
            first = first + cast(param, first.dtype)
            taken = taken + 1
            updates = updates + 1
            full = updates % _BLOCK == 0
            first, second = where(full, first * 0, first), where(full, second + first, second)
            window = minimum(
                to_tensor([self.max_average_window]),
                cast(cast(updates, "float64") * self.average_window, "int64"),
            )
            ends = (taken >= self.min_average_window) & (taken >= window)
            # The window is full: its sum is kept whole, and a new one begins.
            third = where(ends, first + second, third)
            old = where(ends, taken, old)
            first, second, taken = (where(ends, t * 0, t) for t in (first, second, taken))
            for name, value in zip(
                (*_SUMS[:3], *_COUNTS), (first, second, third, taken, old, updates), strict=True
            ):
                assign_from(kept[name], value)

    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> None:
        """The same as `step()`."""
        self.step()

    @contextlib.contextmanager
    def apply(self, executor: Any = None, need_restore: bool = True) -> Iterator[None]:
        """Puts the means in place of the weights for a `with` block.

        Args:
            executor: accepted.
            need_restore: put the weights back at the end; False leaves that to `restore()`.
        """
        with no_grad():
            for param, kept in zip(self._all_params(), self._kept, strict=True):
                total = kept["sum_1"] + kept["sum_2"] + kept["sum_3"]
                count = kept["num_accumulates"] + kept["old_num_accumulates"]
                # A copy, as the next line changes the parameter in place.
                assign_from(kept["restore"], assign(param.detach()))
                assign_from(param, cast(total / cast(count, total.dtype), param.dtype))
        try:
            yield
        finally:
            if need_restore:
                self.restore()

    @no_grad()
    def restore(self, executor: Any = None) -> None:
        """Puts the weights back that `apply()` has replaced."""
        for param, kept in zip(self._all_params(), self._kept, strict=True):
            assign_from(param, assign(kept["restore"]))

    def state_dict(self) -> dict[Any, Any]:
        """Returns sums and counts as Tensors under names such as `linear_0.w_0_sum_1_0`."""
        found = {}
        for name in (*_SUMS, *_COUNTS):
            for param, kept in zip(self._all_params(), self._kept, strict=True):
                found[f"{param.name}_{name}_0"] = tensor = assign(kept[name])
                tensor.name = f"{param.name}_{name}_0"
        return found

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over sums and counts of a `state_dict()`; what is missing stays."""
        require_dict("set_state_dict", state_dict)
        for param, kept in zip(self._all_params(), self._kept, strict=True):
            for name, tensor in kept.items():
                if (loaded := state_dict.get(f"{param.name}_{name}_0")) is not None:
                    tensor.set_value(loaded)

    load_state_dict = set_state_dict
