"""Adam, and AMSGrad."""

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
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.optimizer.group import _Group


BETA = "at least 0 and less than 1"


def column(power: jax.Array, p: jax.Array) -> jax.Array:
    """A state of one number per parameter, shaped to broadcast with a stack of parameters; in a flat stack it
    may be spread over the elements."""
    # Flat stacks hold the number once for each element.
    if power.shape == p.shape:
        return power
    return power.reshape((-1,) + (1,) * (p.ndim - 1))


def adam_step(
    p: jax.Array, g: jax.Array, s: Slots, lr: jax.Array, beta1: float, beta2: float, epsilon: float
) -> UpdateResult:
    """One step of Adam on a stack: the new parameters and states."""
    power1 = column(s["beta1_pow_acc"], p)
    power2 = column(s["beta2_pow_acc"], p)
    first = beta1 * s["moment1"] + (1 - beta1) * g
    second = beta2 * s["moment2"] + (1 - beta2) * g * g
    new = {"moment1": first, "moment2": second}
    # AMSGrad (Reddi and others, 2018): the largest mean square so far.
    if "moment2_max" in s:
        new["moment2_max"] = second = jnp.maximum(s["moment2_max"], second)
    new["beta1_pow_acc"], new["beta2_pow_acc"] = s["beta1_pow_acc"] * beta1, s["beta2_pow_acc"] * beta2
    # Kingma and Ba, 2015, with both corrections in one factor; epsilon is scaled along, as in Paddle.
    correction = jnp.sqrt(1 - power2)
    return p - lr * correction / (1 - power1) * first / (jnp.sqrt(second) + epsilon * correction), new


class Adam(Optimizer):
    """Scales the step by running means of the gradient and of its square, both corrected for
    their start at zero.

    Args:
        learning_rate: float or LRScheduler. Default 0.001.
        beta1: float in [0, 1), decay of the mean. Default 0.9.
        beta2: float in [0, 1), decay of the mean square. Default 0.999.
        epsilon: float, not negative, added to the root of the mean square. Default 1e-8.
        parameters: list of Parameters, or of dicts with groups; a group may have `beta1`, `beta2`,
            `epsilon` of its own.
        weight_decay: float, L1Decay or L2Decay, added to the gradient. Default None.
        grad_clip: gradient clipping. Default None.
        lazy_mode: leave the rows of an `Embedding(sparse=True)` that were not used as they are, with their
            running means. Default False.
        multi_precision: keep float32 copies of float16 and bfloat16 parameters. Default False.
        use_multi_tensor: accepted; all parameters are updated in one call anyway. Default False.
        amsgrad: divide by the largest mean square so far. Default False.
        name: str that becomes part of the names of the states. Default None.
    Attributes:
        _lazy_mode, _multi_precision, _use_multi_tensor, _amsgrad: as given.
        _rule: the update of one parameter, a function of arrays.
        _beta1, _beta2: float or Tensor, the decay of both moments, in [0, 1).
        _epsilon: float or Tensor, at least 0.
        _lazy: bool, the argument lazy_mode.
        _slots: tuple of str, the names of the state that each parameter has.
    Raises:
        ValueError: a number is out of range.
        AssertionError: a number is None.
        RuntimeError: there is a `weight_decay`, and an `Embedding(sparse=True)` has a gradient.
    Example:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.optimizer.Adam(0.01, parameters=layer.parameters())
        >>> layer(paddle.ones([3, 2])).mean().backward()
        >>> optimizer.step()
    See: "Adam: A Method for Stochastic Optimization" (https://arxiv.org/abs/1412.6980), section 2, last
        paragraph; "On the Convergence of Adam and Beyond" (https://arxiv.org/abs/1904.09237).
    """

    _moment1_acc_str = "moment1"
    _moment2_acc_str = "moment2"
    _moment2_acc_max_str = "moment2_max"
    _beta1_pow_acc_str = "beta1_pow_acc"
    _beta2_pow_acc_str = "beta2_pow_acc"
    type = "adam"
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
        lazy_mode: bool = False,
        multi_precision: bool = False,
        use_multi_tensor: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        owner = type(self).__name__
        checked(owner, "learning_rate", learning_rate, lambda v: True, "a float or an LRScheduler")
        self._beta1 = checked(owner, "beta1", beta1, lambda v: 0 <= v < 1, BETA)
        self._beta2 = checked(owner, "beta2", beta2, lambda v: 0 <= v < 1, BETA)
        self._epsilon = checked(owner, "epsilon", epsilon, lambda v: v >= 0, "at least 0")
        # In lazy mode rows of a table without a gradient keep their moments.
        self._lazy = self._lazy_mode = lazy_mode
        self._multi_precision = multi_precision
        self._use_multi_tensor = use_multi_tensor
        self._amsgrad = amsgrad
        self._slots = (
            "moment1",
            "moment2",
            *(["moment2_max"] if amsgrad else []),
            "beta1_pow_acc",
            "beta2_pow_acc",
        )
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _is_lazy(self, param: Tensor, group: _Group) -> bool:
        # A regularizer would change rows that were not used.
        if self.regularization is not None:
            raise RuntimeError(
                f"{type(self).__name__}: weight_decay: {param.name} is the table of an "
                "Embedding(sparse=True), which takes no decay; leave one of them out"
            )
        return super()._is_lazy(param, group)

    def _slot_init(self, slot: str, settings: dict[str, Any]) -> tuple[tuple[int, ...] | None, float, Any]:
        if slot.endswith("pow_acc"):
            beta = "beta1" if slot.startswith("beta1") else "beta2"
            # Paddle's powers start at beta, as they belong to the first step.
            return None, float(settings.get(beta, getattr(self, "_" + beta))), None
        return (), 0.0, None

    def _hyper(self, settings: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
        get = settings.get
        return (
            ("beta1", float(get("beta1", self._beta1))),
            ("beta2", float(get("beta2", self._beta2))),
            ("epsilon", float(get("epsilon", self._epsilon))),
        )

    _rule: Any = staticmethod(adam_step)
