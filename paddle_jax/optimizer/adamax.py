"""Relatives of Adam: Adamax, NAdam, RAdam."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from paddle_jax.optimizer.adam import BETA, column
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


class Adamax(Optimizer):
    """Adam with the largest recent gradient instead of the mean square.

    Args:
        learning_rate: float or LRScheduler. Default 0.001.
        beta1: float in [0, 1), decay of the mean. Default 0.9.
        beta2: float in [0, 1), decay of the maximum. Default 0.999.
        epsilon: float, not negative, added to the maximum. Default 1e-8.
        parameters: list of Parameters, or of dicts with groups; see `Optimizer`.
        weight_decay: float, L1Decay or L2Decay. Default None.
        grad_clip: gradient clipping. Default None.
        name: str that becomes part of the names of the states. Default None.
    Raises:
        ValueError: a number is out of range.
        AssertionError: a number is None.
    Example:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.optimizer.Adamax(0.01, parameters=layer.parameters())
        >>> layer(paddle.ones([3, 2])).mean().backward()
        >>> optimizer.step()
    See: "Adam: A Method for Stochastic Optimization" (https://arxiv.org/abs/1412.6980), section 7.1.
    """

    _slots = ("moment", "inf_norm", "beta1_pow_acc")
    _by_element = True

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: ParameterGroups | None = None,
        weight_decay: WeightDecay | None = None,
        grad_clip: GradClip | None = None,
        name: str | None = None,
    ) -> None:
        checked("Adamax", "learning_rate", learning_rate, lambda v: True, "a float or an LRScheduler")
        self.type = "adamax"
        self._beta1 = checked("Adamax", "beta1", beta1, lambda v: 0 <= v < 1, BETA)
        self._beta2 = checked("Adamax", "beta2", beta2, lambda v: 0 <= v < 1, BETA)
        self._epsilon = checked("Adamax", "epsilon", epsilon, lambda v: v >= 0, "at least 0")
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _slot_init(self, slot: str, settings: dict[str, Any]) -> tuple[tuple[int, ...] | None, float, Any]:
        if slot == "beta1_pow_acc":
            return (None, float(settings.get("beta1", self._beta1)), None)
        return ((), 0.0, None)

    def _hyper(self, settings: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
        return tuple(
            (name, float(settings.get(name, getattr(self, "_" + name))))
            for name in ("beta1", "beta2", "epsilon")
        )

    @staticmethod
    def _rule(
        p: jax.Array, g: jax.Array, s: Slots, lr: jax.Array, beta1: float, beta2: float, epsilon: float
    ) -> UpdateResult:
        mean = beta1 * s["moment"] + (1 - beta1) * g
        # m = b1 m + (1 - b1) g, u = max(|g|, b2 u + eps); p -= lr / (1 - b1^t) * m / u.
        largest = jnp.maximum(jnp.abs(g), beta2 * s["inf_norm"] + epsilon)
        new = {"moment": mean, "inf_norm": largest, "beta1_pow_acc": s["beta1_pow_acc"] * beta1}
        return p - lr / (1 - column(s["beta1_pow_acc"], p)) * mean / largest, new


def _check(owner: str, learning_rate: Any, **numbers: Any) -> None:
    if learning_rate is None:
        raise ValueError(f"{owner}: learning_rate: got None; pass a float or an LRScheduler.")
    for name, value in numbers.items():
        # The betas have an upper bound as well.
        if name.startswith("beta"):
            is_allowed = 0 <= value < 1
            allowed = BETA
        else:
            is_allowed = value >= 0
            allowed = "at least 0"
        if not is_allowed:
            raise ValueError(f"{owner}: {name}: got {value}; it must be {allowed}.")


class NAdam(Optimizer):
    """Adam with Nesterov momentum.

    Args:
        learning_rate: float or LRScheduler. Default 0.002.
        beta1: float in [0, 1), decay of the mean. Default 0.9.
        beta2: float in [0, 1), decay of the mean square. Default 0.999.
        epsilon: float, not negative, added to the root of the mean square. Default 1e-8.
        momentum_decay: float, not negative, how fast the momentum approaches `beta1`. Default 0.004.
        parameters: list of Parameters, or of dicts with groups; see `Optimizer`.
        weight_decay: float, L1Decay or L2Decay. Default None.
        grad_clip: gradient clipping. Default None.
        name: str that becomes part of the names of the states. Default None.
    Raises:
        ValueError: a number is out of range.
    Example:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.optimizer.NAdam(0.01, parameters=layer.parameters())
        >>> layer(paddle.ones([3, 2])).mean().backward()
        >>> optimizer.step()
    See: "Incorporating Nesterov Momentum into Adam" (https://openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ).
    """

    _slots = ("momentum_decay_pow", "beta2_pow", "mu_product", "moment1", "moment2")
    _by_element = True

    def __init__(
        self,
        learning_rate: LearningRate = 0.002,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        momentum_decay: float = 0.004,
        parameters: ParameterGroups | None = None,
        weight_decay: WeightDecay | None = None,
        grad_clip: GradClip | None = None,
        name: str | None = None,
    ) -> None:
        _check(
            "NAdam", learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon, momentum_decay=momentum_decay
        )
        self.type = "nadam"
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon
        self._momentum_decay = momentum_decay
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _slot_init(self, slot: str, settings: dict[str, Any]) -> tuple[tuple[int, ...] | None, float, Any]:
        if slot in ("moment1", "moment2"):
            return (), 0.0, None
        # The powers and products start at 1.
        return (), 1.0, None

    def _hyper(self, settings: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
        names = ("beta1", "beta2", "epsilon", "momentum_decay")
        return tuple((name, float(settings.get(name, getattr(self, "_" + name)))) for name in names)

    @staticmethod
    def _rule(
        p: jax.Array,
        g: jax.Array,
        s: Slots,
        lr: jax.Array,
        beta1: float,
        beta2: float,
        epsilon: float,
        momentum_decay: float,
    ) -> UpdateResult:
        # mu_t = b1 (1 - 0.5 * 0.96^(t * psi)); `following` is mu_(t+1), and the product is that of all mu
        # so far.
        decay = s["momentum_decay_pow"] * 0.96
        power2 = s["beta2_pow"] * beta2
        # The momentum warms up (Dozat, 2016); 0.96 is the constant of that schedule.
        mu = beta1 * (1 - 0.5 * decay**momentum_decay)
        following = beta1 * (1 - 0.5 * decay**momentum_decay * 0.96**momentum_decay)
        product = s["mu_product"] * mu
        first = beta1 * s["moment1"] + (1 - beta1) * g
        second = beta2 * s["moment2"] + (1 - beta2) * g * g
        # Nesterov: the momentum of the next step applies to the mean already.
        mean = following * first / (1 - product * following) + (1 - mu) * g / (1 - product)
        new = {
            "momentum_decay_pow": decay,
            "beta2_pow": power2,
            "mu_product": product,
            "moment1": first,
            "moment2": second,
        }
        return p - lr * mean / (jnp.sqrt(second / (1 - power2)) + epsilon), new


class RAdam(Optimizer):
    """Adam that starts as momentum and turns on the division by the mean square when that is
    known well enough.

    Args:
        learning_rate: float or LRScheduler. Default 0.001.
        beta1: float in [0, 1), decay of the mean. Default 0.9.
        beta2: float in [0, 1), decay of the mean square. Default 0.999.
        epsilon: float, not negative, added to the root of the mean square. Default 1e-8.
        parameters: list of Parameters, or of dicts with groups; see `Optimizer`.
        weight_decay: float, L1Decay or L2Decay. Default None.
        grad_clip: gradient clipping. Default None.
        name: str that becomes part of the names of the states. Default None.
    Raises:
        ValueError: a number is out of range.
    Example:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.optimizer.RAdam(0.01, parameters=layer.parameters())
        >>> layer(paddle.ones([3, 2])).mean().backward()
        >>> optimizer.step()
    See: "On the Variance of the Adaptive Learning Rate and Beyond"
        (https://arxiv.org/abs/1908.03265), algorithm 2.
    """

    _slots = ("beta1_pow", "beta2_pow", "rho", "moment1", "moment2")
    _by_element = True

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: ParameterGroups | None = None,
        weight_decay: WeightDecay | None = None,
        grad_clip: GradClip | None = None,
        name: str | None = None,
    ) -> None:
        _check("RAdam", learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon)
        self.type = "radam"
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _slot_init(self, slot: str, settings: dict[str, Any]) -> tuple[tuple[int, ...] | None, float, Any]:
        return (), 1.0 if slot.startswith("beta") else 0.0, None

    def _hyper(self, settings: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
        return tuple(
            (name, float(settings.get(name, getattr(self, "_" + name))))
            for name in ("beta1", "beta2", "epsilon")
        )

    @staticmethod
    def _rule(
        p: jax.Array, g: jax.Array, s: Slots, lr: jax.Array, beta1: float, beta2: float, epsilon: float
    ) -> UpdateResult:
        power1 = s["beta1_pow"] * beta1
        power2 = s["beta2_pow"] * beta2
        # rho holds t * beta2^t / (1 - beta2^t), carried on without knowing t.
        rho = (s["rho"] * (beta2 - power2) + power2) / (1 - power2)
        first = beta1 * s["moment1"] + (1 - beta1) * g
        second = beta2 * s["moment2"] + (1 - beta2) * g * g
        # The length of the simple moving average with the same centre, at infinity and at step t.
        limit = 2 / (1 - beta2) - 1
        length = limit - 2 * rho
        # The variance of the mean square is finite for more than 4; Paddle begins above 5.
        known = length > 5
        # Below 4 the root would be NaN, which checks for NaN would report though it is not taken.
        safe = jnp.where(known, length, 6.0)
        rectified = jnp.sqrt((safe - 4) * (safe - 2) * limit / ((limit - 4) * (limit - 2) * safe))
        step = first / (1 - power1)
        adaptive = step * rectified * jnp.sqrt(1 - power2) / (jnp.sqrt(second) + epsilon)
        new = {"beta1_pow": power1, "beta2_pow": power2, "rho": rho, "moment1": first, "moment2": second}
        return p - lr * jnp.where(known, adaptive, step), new
