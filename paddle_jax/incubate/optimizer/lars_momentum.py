"""Momentum with a learning rate for each parameter, scaled to its size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from paddle_jax.optimizer.helpers import checked
from paddle_jax.optimizer.optimizer import Optimizer

if TYPE_CHECKING:
    import jax

    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.clip import ClipGradByGlobalNorm
    from paddle_jax.regularizer import L2Decay


def _norm(x: jax.Array) -> jax.Array:
    # The first axis is that of parameters of one shape, which are stacked.
    return jnp.sqrt(jnp.sum(x * x, axis=tuple(range(1, x.ndim)), keepdims=True))


class LarsMomentumOptimizer(Optimizer):
    """Momentum whose learning rate is, for each parameter, scaled to the size of the parameter beside that of
    its gradient; for large batches.

    The step of a parameter is `velocity = momentum * velocity + rate * (gradient + lars_weight_decay *
    parameter)` and `parameter -= velocity`, where `rate = learning_rate * lars_coeff * norm(parameter) /
    (norm(gradient) + lars_weight_decay * norm(parameter) + epsilon)`, or `learning_rate` if a norm is zero
    or nothing decays.

    Args:
        learning_rate: float or LRScheduler.
        momentum: float.
        lars_coeff: float. Default 0.001.
        lars_weight_decay: float. Default 0.0005.
        parameter_list: list of Parameters, or of dicts with groups; see `Optimizer`.
        regularization: L1Decay or L2Decay, added to the gradients. Default None.
        grad_clip: gradient clipping. Default None.
        name: str that becomes part of the names of the states. Default None.
        exclude_from_weight_decay: list of str; parameters in whose name one of them occurs do not
            decay. Default None.
        epsilon: float, added to the divisor. Default 0.
        multi_precision: keep float32 copies of float16 and bfloat16 parameters. Default False.
        rescale_grad: float, gradients are multiplied by it. Default 1.0.
    Attributes:
        type: str, Paddle's name of the rule.
        _momentum, _lars_coeff, _lars_weight_decay, _epsilon, _rescale_grad: float, as given.
        _exclude_from_weight_decay: list of str, parts of names of parameters that do not decay.
        _multi_precision: bool, as given.
    Raises:
        AssertionError: `learning_rate` or `momentum` is None.
    Example:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.incubate.optimizer.LarsMomentumOptimizer(0.1, 0.9,
        ...                                                             parameter_list=layer.parameters())
        >>> layer(paddle.ones([3, 2])).mean().backward()
        >>> optimizer.step()
    See: "Large Batch Training of Convolutional Networks" (https://arxiv.org/abs/1708.03888), algorithm 1.
    """

    _velocity_acc_str = "velocity"
    _takes_norms = True
    _slots = ("velocity",)

    def __init__(
        self,
        learning_rate: Any,
        momentum: float,
        lars_coeff: float = 0.001,
        lars_weight_decay: float = 0.0005,
        parameter_list: Sequence[Tensor] | None = None,
        regularization: L2Decay | None = None,
        grad_clip: ClipGradByGlobalNorm | None = None,
        name: str | None = None,
        exclude_from_weight_decay: Sequence[str] | None = None,
        epsilon: float = 0,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
    ) -> None:
        for argument, value in (("learning_rate", learning_rate), ("momentum", momentum)):
            checked("LarsMomentumOptimizer", argument, value, lambda v: True, "a float")
        self.type = "lars_momentum"
        self._momentum, self._lars_coeff, self._lars_weight_decay = (
            momentum,
            float(lars_coeff),
            float(lars_weight_decay),
        )
        self._exclude_from_weight_decay = list(exclude_from_weight_decay or ())
        self._epsilon, self._rescale_grad, self._multi_precision = (
            float(epsilon),
            float(rescale_grad),
            multi_precision,
        )
        super().__init__(learning_rate, parameter_list, regularization, grad_clip, name)

    def _hyper(
        self, settings: dict[str, Any]
    ) -> tuple[tuple[str, float], tuple[str, float], tuple[str, float], tuple[str, float]]:
        return (
            ("momentum", float(self._momentum)),
            ("coeff", self._lars_coeff),
            ("epsilon", self._epsilon),
            ("scale", self._rescale_grad),
        )

    def _marks(self, params: Sequence[Tensor], settings: dict[str, Any]) -> dict[str, list[float]]:
        excluded = self._exclude_from_weight_decay
        return {
            "rule_decay": [
                0.0 if any(part in param.name for part in excluded) else self._lars_weight_decay
                for param in params
            ]
        }

    @staticmethod
    def _rule(
        p: jax.Array,
        g: jax.Array,
        s: dict[str, Any],
        lr: jax.Array,
        momentum: Any,
        coeff: Any,
        epsilon: Any,
        scale: Any,
        rule_decay: jax.Array | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        g = g * scale
        if rule_decay is None:  # nothing decays
            velocity = momentum * s["velocity"] + lr * g
            return p - velocity, {"velocity": velocity}
        size = _norm(p)
        slope = _norm(g)
        # Without weights, gradients or decay there is no ratio to scale by.
        known = (size > 0) & (slope > 0) & (rule_decay > 0)
        # Divides by 1 where the ratio is not used, against 0 / 0.
        rate = jnp.where(
            known, lr * coeff * size / jnp.where(known, slope + rule_decay * size + epsilon, 1), lr
        )
        velocity = momentum * s["velocity"] + rate * (g + rule_decay * p)
        return p - velocity, {"velocity": velocity}
