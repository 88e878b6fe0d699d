"""RMSProp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

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


class RMSProp(Optimizer):
    """Divides the gradient by the root of the running mean of its square; with momentum on the step.

    Args:
        learning_rate: float or LRScheduler.
        rho: float, not negative, decay of the mean. Default 0.95.
        epsilon: float, not negative, added under the root. Default 1e-6.
        momentum: float, not negative. Default 0.0.
        centered: subtract the square of the running mean gradient under the root. Default False.
        parameters: list of Parameters, or of dicts with groups; see `Optimizer`.
        weight_decay: float, L1Decay or L2Decay. Default None.
        grad_clip: gradient clipping. Default None.
        name: str that becomes part of the names of the states. Default None.
    Raises:
        ValueError: a number is None or negative.
    Example:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.optimizer.RMSProp(0.1, parameters=layer.parameters())
        >>> layer(paddle.ones([3, 2])).mean().backward()
        >>> optimizer.step()
    """

    _momentum_acc_str = "momentum"
    _mean_square_acc_str = "mean_square"
    _mean_grad_acc_str = "mean_grad"
    _slots = ("momentum", "mean_square", "mean_grad")
    _by_element = True

    def __init__(
        self,
        learning_rate: LearningRate,
        rho: float = 0.95,
        epsilon: float = 1e-6,
        momentum: float = 0.0,
        centered: bool = False,
        parameters: ParameterGroups | None = None,
        weight_decay: WeightDecay | None = None,
        grad_clip: GradClip | None = None,
        name: str | None = None,
    ) -> None:
        if learning_rate is None:
            raise ValueError("RMSProp: learning_rate: got None; pass a float or an LRScheduler.")
        for argument, value in (("rho", rho), ("epsilon", epsilon), ("momentum", momentum)):
            if value is None or value < 0:
                raise ValueError(f"RMSProp: {argument}: got {value}; it must be at least 0.")
        self.type = "rmsprop"
        self._rho = rho
        self._epsilon = epsilon
        self._momentum = momentum
        self._centered = centered
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _hyper(self, settings: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
        numbers = (("rho", self._rho), ("epsilon", self._epsilon), ("momentum", self._momentum))
        return (
            *((name, float(settings.get(name, value))) for name, value in numbers),
            ("centered", bool(self._centered)),
        )

    @staticmethod
    def _rule(
        p: jax.Array,
        g: jax.Array,
        s: Slots,
        lr: jax.Array,
        rho: float,
        epsilon: float,
        momentum: float,
        centered: bool,
    ) -> UpdateResult:
        # Tieleman and Hinton, 2012; centred: Graves, 2013.
        square = rho * s["mean_square"] + (1 - rho) * g * g
        mean = s["mean_grad"]
        # step = lr * g / sqrt(E[g^2] - E[g]^2 + eps); without `centered` E[g] counts as 0.
        under = square
        if centered:
            mean = rho * mean + (1 - rho) * g
            under = square - mean * mean
        step = momentum * s["momentum"] + lr * g / jnp.sqrt(under + epsilon)
        return p - step, {"momentum": step, "mean_square": square, "mean_grad": mean}
