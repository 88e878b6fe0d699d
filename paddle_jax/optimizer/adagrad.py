"""Adagrad and Adadelta: steps scaled by the sum, or running mean, of squared gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from paddle_jax.optimizer.helpers import checked
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


class Adagrad(Optimizer):
    """Divides the step by the root of the sum of all squared gradients.

    Args:
        learning_rate: float or LRScheduler.
        epsilon: float, added to the root. Default 1e-6.
        parameters: list of Parameters, or of dicts with groups; see `Optimizer`.
        weight_decay: float, L1Decay or L2Decay. Default None.
        grad_clip: gradient clipping. Default None.
        name: str that becomes part of the names of the states. Default None.
        initial_accumulator_value: float, what the sum starts from. Default 0.0.
    Raises:
        AssertionError: `learning_rate` or `epsilon` is None.
    Example:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.optimizer.Adagrad(0.1, parameters=layer.parameters())
        >>> layer(paddle.ones([3, 2])).mean().backward()
        >>> optimizer.step()
    See: "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization"
        (https://jmlr.org/papers/v12/duchi11a.html).
    """

    _moment_acc_str = "moment"
    _slots = ("moment",)
    _by_element = True
    _lazy = True  # zero gradients change nothing

    def __init__(
        self,
        learning_rate: LearningRate,
        epsilon: float = 1e-6,
        parameters: ParameterGroups | None = None,
        weight_decay: WeightDecay | None = None,
        grad_clip: GradClip | None = None,
        name: str | None = None,
        initial_accumulator_value: float = 0.0,
    ) -> None:
        # Any value but None passes here; the base class looks at the type.
        checked("Adagrad", "learning_rate", learning_rate, lambda v: True, "a float or an LRScheduler")
        self._epsilon = checked("Adagrad", "epsilon", epsilon, lambda v: True, "a float")
        self.type = "adagrad"
        self.initial_accumulator_value = initial_accumulator_value
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _slot_init(self, slot: str, settings: dict[str, Any]) -> tuple[tuple[int, ...] | None, float, Any]:
        return (), float(settings.get("initial_accumulator_value", self.initial_accumulator_value)), None

    def _hyper(self, settings: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
        return (("epsilon", float(settings.get("epsilon", self._epsilon))),)

    @staticmethod
    def _rule(p: jax.Array, g: jax.Array, s: Slots, lr: jax.Array, epsilon: float) -> UpdateResult:
        # Duchi and others, 2011.
        total = s["moment"] + g * g
        return p - lr * g / (jnp.sqrt(total) + epsilon), {"moment": total}


class Adadelta(Optimizer):
    """Scales the step by the ratio of running means: of squared steps to squared gradients.

    Args:
        learning_rate: float or LRScheduler, a factor on the step. Default 0.001.
        epsilon: float, added to both means. Default 1e-6.
        rho: float, decay of the means. Default 0.95.
        parameters: list of Parameters, or of dicts with groups; see `Optimizer`.
        weight_decay: float, L1Decay or L2Decay. Default None.
        grad_clip: gradient clipping. Default None.
        name: str that becomes part of the names of the states. Default None.
    Raises:
        ValueError: a number is None.
    Example:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.optimizer.Adadelta(0.1, parameters=layer.parameters())
        >>> layer(paddle.ones([3, 2])).mean().backward()
        >>> optimizer.step()
    See: "ADADELTA: An Adaptive Learning Rate Method" (https://arxiv.org/abs/1212.5701).
    """

    _avg_squared_grad_acc_str = "_avg_squared_grad"
    _avg_squared_update_acc_str = "_avg_squared_update"
    _slots = ("_avg_squared_grad", "_avg_squared_update")
    _by_element = True

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        epsilon: float = 1e-6,
        rho: float = 0.95,
        parameters: ParameterGroups | None = None,
        weight_decay: WeightDecay | None = None,
        grad_clip: GradClip | None = None,
        name: str | None = None,
    ) -> None:
        for argument, value in (("learning_rate", learning_rate), ("epsilon", epsilon), ("rho", rho)):
            if value is None:
                raise ValueError(f"Adadelta: {argument}: got None; pass a float.")
        self.type = "adadelta"
        self._epsilon = epsilon
        self._rho = rho
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _hyper(self, settings: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
        return (
            ("epsilon", float(settings.get("epsilon", self._epsilon))),
            ("rho", float(settings.get("rho", self._rho))),
        )

    @staticmethod
    def _rule(
        p: jax.Array, g: jax.Array, s: Slots, lr: jax.Array, epsilon: float, rho: float
    ) -> UpdateResult:
        # Zeiler, 2012: the step has the unit of the parameter.
        squares = rho * s["_avg_squared_grad"] + (1 - rho) * g * g
        step = jnp.sqrt((s["_avg_squared_update"] + epsilon) / (squares + epsilon)) * g
        steps = rho * s["_avg_squared_update"] + (1 - rho) * step * step
        return p - lr * step, {"_avg_squared_grad": squares, "_avg_squared_update": steps}
