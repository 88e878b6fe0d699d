"""Adam with a step that is scaled to the size of the parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from paddle_jax.optimizer.adam import column
from paddle_jax.optimizer.helpers import checked
from paddle_jax.optimizer.optimizer import Optimizer

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import GradClip, LearningRate, ParameterGroups, Slots, UpdateResult
    from paddle_jax._core.tensors.tensor import Tensor


def _norm(x: jax.Array) -> jax.Array:
    # Of each parameter in the stack.
    return jnp.sqrt(jnp.sum(x * x, axis=tuple(range(1, x.ndim)), keepdims=True))


class Lamb(Optimizer):
    """Adam whose step on a parameter has the length `learning_rate * norm(parameter)`, for large batches.

    Args:
        learning_rate: float or LRScheduler. Default 0.001.
        lamb_weight_decay: float, part of the parameter that is added to the step. Default 0.01.
        beta1: float, decay of the mean. Default 0.9.
        beta2: float, decay of the mean square. Default 0.999.
        epsilon: float, added to the root of the mean square. Default 1e-6.
        parameters: list of Parameters, or of dicts with groups; see `Optimizer`.
        grad_clip: gradient clipping. Default None.
        exclude_from_weight_decay_fn: callable, Parameter to bool: whether it does not decay. Default None.
        multi_precision: keep float32 copies of float16 and bfloat16 parameters. Default False.
        always_adapt: scale the step also where there is no decay. Default False.
        name: str that becomes part of the names of the states. Default None.
    Attributes:
        _beta1, _beta2, _epsilon, _lamb_weight_decay, _exclude_from_weight_decay_fn, _multi_precision,
            always_adapt: as given.
        type: str, Paddle's name of the rule.
    Raises:
        AssertionError: a number is None.
    Example:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.optimizer.Lamb(0.01, parameters=layer.parameters())
        >>> layer(paddle.ones([3, 2])).mean().backward()
        >>> optimizer.step()
    See: "Large Batch Optimization for Deep Learning: Training BERT in 76 minutes"
        (https://arxiv.org/abs/1904.00962), algorithm 2.
    """

    _takes_norms = True
    _slots = ("moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc")

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        lamb_weight_decay: float = 0.01,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        parameters: ParameterGroups | None = None,
        grad_clip: GradClip | None = None,
        exclude_from_weight_decay_fn: Callable[[Tensor], bool] | None = None,
        multi_precision: bool = False,
        always_adapt: bool = False,
        name: str | None = None,
    ) -> None:
        for argument, value in (
            ("learning_rate", learning_rate),
            ("beta1", beta1),
            ("beta2", beta2),
            ("epsilon", epsilon),
        ):
            checked("Lamb", argument, value, lambda v: True, "a float")
        self.type = "lamb"
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon
        self._lamb_weight_decay = lamb_weight_decay
        self._exclude_from_weight_decay_fn = exclude_from_weight_decay_fn
        self._multi_precision = multi_precision
        self.always_adapt = always_adapt
        super().__init__(learning_rate, parameters, None, grad_clip, name)

    def _slot_init(self, slot: str, settings: dict[str, Any]) -> tuple[tuple[int, ...] | None, float, Any]:
        if slot.endswith("pow_acc"):
            return None, float(self._beta1 if slot.startswith("beta1") else self._beta2), None
        return (), 0.0, None

    def _hyper(self, settings: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
        numbers = (("beta1", self._beta1), ("beta2", self._beta2), ("epsilon", self._epsilon))
        return (
            *((name, float(settings.get(name, value))) for name, value in numbers),
            ("always", bool(self.always_adapt)),
        )

    def _marks(self, params: Sequence[Tensor], settings: dict[str, Any]) -> dict[str, list[float]]:
        decay = settings.get("lamb_weight_decay", self._lamb_weight_decay)
        excluded = self._exclude_from_weight_decay_fn
        return {
            "rule_decay": [
                0.0 if excluded is not None and excluded(param) else float(decay) for param in params
            ]
        }

    _choices = ("regularization", "_lamb_weight_decay", "_exclude_from_weight_decay_fn")

    @staticmethod
    def _rule(
        p: jax.Array,
        g: jax.Array,
        s: Slots,
        lr: jax.Array,
        beta1: float,
        beta2: float,
        epsilon: float,
        always: bool,
        rule_decay: jax.Array | None = None,
    ) -> UpdateResult:
        # m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2; step = m' / (sqrt(v') + eps) + decay * p, where m'
        # and v' are divided by 1 - b^t.
        first = beta1 * s["moment1"] + (1 - beta1) * g
        second = beta2 * s["moment2"] + (1 - beta2) * g * g
        mean = first / (1 - column(s["beta1_pow_acc"], p))
        square = second / (1 - column(s["beta2_pow_acc"], p))
        step = mean / (jnp.sqrt(square) + epsilon)
        # The decay is part of the step, and so of its length.
        if rule_decay is not None:
            step = step + rule_decay * p
        size = _norm(p)
        length = _norm(step)
        # Trust ratio |p| / |step|; 1 where either norm is zero.
        adapt = (size > 0) & (length > 0)
        # Paddle adapts only parameters that decay, unless always_adapt is set.
        if not always:
            if rule_decay is None:
                adapt = jnp.zeros_like(adapt)
            else:
                adapt = adapt & (rule_decay > 0)
        step = step * jnp.where(adapt, size / jnp.where(length > 0, length, 1), 1)
        powers = {name: s[name] * beta for name, beta in (("beta1_pow_acc", beta1), ("beta2_pow_acc", beta2))}
        return p - lr * step, {"moment1": first, "moment2": second, **powers}
