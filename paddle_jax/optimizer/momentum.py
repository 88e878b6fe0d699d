"""Gradient descent with momentum."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from paddle_jax.optimizer.optimizer import Optimizer

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import (
        GradClip,
        LearningRate,
        ParameterGroups,
        Slots,
        UpdateResult,
        WeightDecay,
    )


class Momentum(Optimizer):
    """Updates by `velocity = momentum * velocity + gradient; parameter -= learning_rate * velocity`.

    With `use_nesterov` the step is `learning_rate * (gradient + momentum * velocity)`.

    Args:
        learning_rate: float or LRScheduler. Default 0.001.
        momentum: float. Default 0.9.
        parameters: list of Parameters, or of dicts with groups; see `Optimizer`.
        use_nesterov: bool. Default False.
        weight_decay: float, L1Decay or L2Decay. Default None.
        grad_clip: gradient clipping. Default None.
        multi_precision: keep float32 copies of float16 and bfloat16 parameters. Default False.
        rescale_grad: float; has no effect, as in Paddle, which warns about nothing; here another value than
            1.0 gives a warning. Default 1.0.
        use_multi_tensor: accepted; all parameters are updated in one call anyway. Default False.
        name: str that becomes part of the names of the states. Default None.
    Attributes:
        _momentum, _rescale_grad, _multi_precision, _use_multi_tensor: as given.
        type: str, Paddle's name of the rule.
        _use_nesterov: bool, as given.
    Raises:
        ValueError: `learning_rate` or `momentum` is None.
    Example:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.optimizer.Momentum(0.1, 0.9, parameters=layer.parameters())
        >>> layer(paddle.ones([3, 2])).mean().backward()
        >>> optimizer.step()
    """

    _velocity_acc_str = "velocity"
    _slots = ("velocity",)
    _by_element = True

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        momentum: float = 0.9,
        parameters: ParameterGroups | None = None,
        use_nesterov: bool = False,
        weight_decay: WeightDecay | None = None,
        grad_clip: GradClip | None = None,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        for argument, value in (("learning_rate", learning_rate), ("momentum", momentum)):
            if value is None:
                raise ValueError(f"Momentum: {argument}: got None; pass a float.")
        self.type = "momentum"
        self._momentum = momentum
        self._use_nesterov = bool(use_nesterov)
        if rescale_grad != 1.0:
            warnings.warn(
                "Momentum: rescale_grad: it has no effect, as in Paddle; scale the loss instead.",
                stacklevel=2,
            )
        self._rescale_grad = rescale_grad
        self._multi_precision = multi_precision
        self._use_multi_tensor = use_multi_tensor
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _hyper(self, settings: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
        momentum = settings.get("momentum", self._momentum)
        nesterov = settings.get("use_nesterov", self._use_nesterov)
        return ("momentum", float(momentum)), ("nesterov", bool(nesterov))

    @staticmethod
    def _rule(
        p: jax.Array, g: jax.Array, s: Slots, lr: jax.Array, momentum: float, nesterov: bool
    ) -> UpdateResult:
        # v = mu v + g; p -= lr v, or with Nesterov p -= lr (g + mu v).
        # Paddle's form, without dampening; Nesterov looks one step ahead.
        velocity = momentum * s["velocity"] + g
        return p - lr * (g + momentum * velocity if nesterov else velocity), {"velocity": velocity}
