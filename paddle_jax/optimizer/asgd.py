"""Rules for full batches: averaged gradients and resilient propagation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from paddle_jax.optimizer.lr.scheduler import LRScheduler
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


class ASGD(Optimizer):
    """Steps along the average of the last `batch_num` gradients.

    Args:
        learning_rate: float or LRScheduler. Default 0.001.
        batch_num: int, positive, number of batches in an epoch; as many gradients are kept. Default 1.
        parameters: list of Parameters, or of dicts with groups; see `Optimizer`.
        weight_decay: float, L1Decay or L2Decay. Default None.
        grad_clip: gradient clipping. Default None.
        multi_precision: keep float32 copies of float16 and bfloat16 parameters. Default False.
        name: str that becomes part of the names of the states. Default None.
    Raises:
        ValueError: `learning_rate` is None, or `batch_num` not positive.
    Example:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.optimizer.ASGD(0.1, batch_num=10, parameters=layer.parameters())
        >>> layer(paddle.ones([3, 2])).mean().backward()
        >>> optimizer.step()
    See: "Minimizing Finite Sums with the Stochastic Average Gradient" (https://arxiv.org/abs/1309.2388).
    """

    _slots = ("d", "y", "m")

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        batch_num: int = 1,
        parameters: ParameterGroups | None = None,
        weight_decay: WeightDecay | None = None,
        grad_clip: GradClip | None = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        if learning_rate is None:
            raise ValueError("ASGD: learning_rate: got None; pass a float or an LRScheduler.")
        if batch_num is None or batch_num <= 0:
            raise ValueError(f"ASGD: batch_num: got {batch_num}; it must be a positive int.")
        self.type = "asgd"
        self._n = batch_num
        self._multi_precision = multi_precision
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _slot_init(self, slot: str, settings: dict[str, Any]) -> tuple[tuple[int, ...] | None, float, Any]:
        if slot == "m":
            # The count of steps decides which gradient is replaced.
            return None, 0, jnp.int64
        return (self._n,) if slot == "y" else (), 0.0, None

    def _hyper(self, settings: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
        return (("batches", self._n),)

    @staticmethod
    def _rule(p: jax.Array, g: jax.Array, s: Slots, lr: jax.Array, batches: int) -> UpdateResult:
        # d is the sum of the last gradient of each of n batches, y holds these: d += g - y[i], p -= lr /
        # min(m + 1, n) * d.
        count = s["m"][:, 0]
        rows = jnp.arange(len(count))
        turn = count % batches
        # The oldest gradient leaves the sum, the new one joins it.
        total = s["d"] - s["y"][rows, turn] + g
        # At first there are fewer gradients than `batch_num`.
        seen = jnp.minimum(count + 1, batches).reshape((-1,) + (1,) * (p.ndim - 1)).astype(p.dtype)
        return p - lr / seen * total, {"d": total, "y": s["y"].at[rows, turn].set(g), "m": s["m"] + 1}


class Rprop(Optimizer):
    """Gives every element a step of its own, which grows while the gradient keeps its sign and shrinks when
    it turns. For full batches.

    Args:
        learning_rate: float or LRScheduler, the first step. Default 0.001.
        learning_rate_range: tuple of floats, the smallest and largest step. Default (1e-5, 50).
        parameters: list of Parameters, or of dicts with groups; see `Optimizer`.
        etas: tuple of floats, the factors for shrinking and growing. Default (0.5, 1.2).
        grad_clip: gradient clipping. Default None.
        multi_precision: keep float32 copies of float16 and bfloat16 parameters. Default False.
        name: str that becomes part of the names of the states. Default None.
    Raises:
        ValueError: not 0 < range[0] <= learning_rate <= range[1], or not 0 < etas[0] < 1 < etas[1].
    Example:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.optimizer.Rprop(0.01, parameters=layer.parameters())
        >>> layer(paddle.ones([3, 2])).mean().backward()
        >>> optimizer.step()
    See: "A Direct Adaptive Method for Faster Backpropagation Learning: The RPROP Algorithm"
        (doi:10.1109/ICNN.1993.298623).
    """

    _slots = ("prevs", "learning_rates")
    _by_element = True

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        learning_rate_range: Sequence[float] = (1e-5, 50),
        parameters: ParameterGroups | None = None,
        etas: Sequence[float] = (0.5, 1.2),
        grad_clip: GradClip | None = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        if learning_rate is None:
            raise ValueError("Rprop: learning_rate: got None; pass a float or an LRScheduler.")
        low, high = learning_rate_range
        if isinstance(learning_rate, LRScheduler):
            first = learning_rate()
        else:
            first = learning_rate
        # The first steps must lie within their own bounds.
        if not 0.0 < low <= first <= high:
            raise ValueError(
                f"Rprop: learning_rate_range: got {learning_rate_range}; "
                f"0 < low <= learning_rate={first} <= high is needed."
            )
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Rprop: etas: got {etas}; 0 < etas[0] < 1 < etas[1] is needed.")
        self.type = "rprop"
        self._initial_learning_rate = first
        self._range, self._etas = (float(low), float(high)), (float(etas[0]), float(etas[1]))
        self._multi_precision = multi_precision
        # Weight decay would change signs, on which the rule depends.
        super().__init__(learning_rate, parameters, 0.0, grad_clip, name)

    def _slot_init(self, slot: str, settings: dict[str, Any]) -> tuple[tuple[int, ...] | None, float, Any]:
        return (), self._initial_learning_rate if slot == "learning_rates" else 0.0, None

    def _hyper(self, settings: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
        return ("bounds", self._range), ("etas", self._etas)

    @staticmethod
    def _rule(
        p: jax.Array,
        g: jax.Array,
        s: Slots,
        lr: jax.Array,
        bounds: tuple[float, float],
        etas: tuple[float, float],
    ) -> UpdateResult:
        # The step of an element grows while its gradient keeps the sign.
        turn = g * s["prevs"]
        factor = jnp.where(turn > 0, etas[1], jnp.where(turn < 0, etas[0], 1.0)).astype(p.dtype)
        # Where the sign turned, this step does not move, and the next one sees no turn.
        g = jnp.where(turn < 0, 0, g)
        rates = jnp.clip(s["learning_rates"] * factor, *bounds)
        return p - jnp.sign(g) * rates, {"prevs": g, "learning_rates": rates}
