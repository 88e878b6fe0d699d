"""LookAhead: slow weights that follow those of another optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.errors import require_dict
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.held_values import assign_from
from paddle_jax.optimizer.optimizer import Optimizer
from paddle_jax.tensor.creation import assign, to_tensor
from paddle_jax.tensor.search import where

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.optimizer.sgd import SGD


_STEPS = "lookahead_steps"  # the name of the count in a state dict


class LookAhead(Optimizer):
    """Every k steps of another optimizer moves the weights back towards slow ones: slow + alpha * (weights -
    slow), for both.

    Attributes:
        inner_optimizer, alpha, k: as given.
        type: str, Paddle's name of the rule.
        _slow: list of Tensors, the slow weights.
        _count: Tensor, the steps so far.
    Differs from Paddle: not for static programs.

    Args:
        inner_optimizer: the Optimizer that makes the steps.
        alpha: float from 0 to 1, how far the slow weights follow.
        k: int, how many steps the weights go ahead.
    Raises:
        AssertionError: inner_optimizer is None, or alpha or k is out of range.
    Example:
        >>> layer = paddle.nn.Linear(1, 1, bias_attr=False); layer.weight.set_value(paddle.ones([1, 1]))
        >>> optimizer = paddle.incubate.LookAhead(paddle.optimizer.SGD(0.1, parameters=layer.parameters()),
        ...                                       alpha=0.5, k=2)
        >>> for _ in range(2):
        ...     layer(paddle.ones([1, 1])).sum().backward()
        ...     optimizer.step()
        ...     optimizer.clear_grad()
        >>> round(layer.weight.item(), 4)
        0.85

    See: Zhang et al., Lookahead Optimizer: k steps forward, 1 step back, 2019.
    """

    def __init__(
        self, inner_optimizer: SGD | int | None, alpha: float = 0.5, k: int = 5, name: str | None = None
    ) -> None:
        if inner_optimizer is None:
            raise AssertionError("LookAhead: inner_optimizer: got None; pass an Optimizer")
        if not 0.0 <= alpha <= 1.0:
            raise AssertionError(f"LookAhead: alpha: got {alpha}; it must be from 0 to 1")
        if not isinstance(k, int) or k <= 0:
            raise AssertionError(f"LookAhead: k: got {k!r}; it must be an int above 0")
        super().__init__(float(alpha), inner_optimizer._parameter_list, name=name)
        self.inner_optimizer = inner_optimizer
        self.alpha = alpha
        self.k = k
        self.type = "lookahead"
        # Copies, since the inner optimizer changes the weights in place.
        self._slow = [assign(param.detach()) for param in self._all_params()]
        # A Tensor, so that compiled steps count as well.
        self._count = to_tensor(0)

    @no_grad()
    def step(self) -> None:
        """Makes a step of the inner optimizer; each k-th one is followed by the step back."""
        self.inner_optimizer.step()
        count = self._count + 1
        assign_from(self._count, count)
        # Without branches: in a compiled step the count is not known.
        for param, slow in zip(self._all_params(), self._slow, strict=True):
            behind = where(count == 1, param, slow)  # the slow weights begin after the first step
            behind = where(count % self.k == 0, behind + self.alpha * (param - behind), behind)
            assign_from(param, where(count % self.k == 0, behind, param))
            assign_from(slow, behind)

    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[tuple[Tensor, Tensor]]]:
        """Makes a step with the gradients that `loss.backward()` has left; returns ([], pairs of
        parameter and gradient)."""
        pairs = [(param, param.grad) for param in self._all_params() if param.grad is not None]
        self.step()
        return [], pairs

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Clears the gradients of all parameters."""
        self.inner_optimizer.clear_grad(set_to_zero)

    def state_dict(self) -> dict[str, Any]:
        """Returns the slow weights as Tensors under names such as `linear_0.w_0_slow_0`, the count of
        steps as `lookahead_steps`, and the state of the inner optimizer.

        Differs from Paddle: there only the slow weights are in it.
        """
        state = self.inner_optimizer.state_dict()
        slow_weights = {
            f"{param.name}_slow_0": assign(slow)
            for param, slow in zip(self._all_params(), self._slow, strict=True)
        }
        for name, tensor in slow_weights.items():
            tensor.name = name
        return state | slow_weights | {_STEPS: assign(self._count)}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over a `state_dict()`; what is missing stays. With slow weights alone, as Paddle writes
        them, the next step back comes after k steps."""
        require_dict("set_state_dict", state_dict)
        state = dict(state_dict)
        steps = state.pop(_STEPS, None)
        for param, slow in zip(self._all_params(), self._slow, strict=True):
            loaded = state.pop(f"{param.name}_slow_0", None)
            if loaded is not None:
                slow.set_value(loaded)
                # behind the first step, which would replace them by the weights
                self._count.set_value(to_tensor(self.k))
        if steps is not None:
            self._count.set_value(steps)
        if state:
            self.inner_optimizer.set_state_dict(state)

    load_state_dict = set_state_dict
