"""Two experts for each token, the second by chance (Lepikhin et al., GShard, 2020)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from paddle_jax.incubate.distributed.models.moe.gate.naive_gate import NaiveGate
from paddle_jax.incubate.distributed.models.moe.utils import limited, marks
from paddle_jax.nn.functional.softmaxes import softmax
from paddle_jax.tensor.creation import full_like
from paddle_jax.tensor.joining import stack
from paddle_jax.tensor.random import rand
from paddle_jax.tensor.search import topk as largest
from paddle_jax.tensor.search import where

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


class GShardGate(NaiveGate):
    """Chooses two experts for each token. An expert takes `capacity` times as many tokens as there are at
    most; the second choice is kept with the probability of twice its score. The loss is the mean product of
    how often and how gladly each expert is chosen, times num_expert ** 2.

    Args:
        d_model, num_expert, world_size: as for `NaiveGate`.
        topk: 2.
        capacity: pair of floats, for training and evaluation.
        random_routing: bool, drop second choices by chance.
        group: as for `MoELayer`.
    Raises:
        AssertionError: topk is not 2.
    Differs from Paddle: it works on the CPU, and tokens beyond the capacity are the last ones.
    Example:
        >>> gate = paddle.incubate.distributed.models.moe.GShardGate(2, 4, 1, random_routing=False)
        >>> value, number = gate(paddle.ones([3, 2])); number.shape, gate.get_loss().shape
        (paddle.Size([3, 2]), paddle.Size([]))
    """

    def __init__(
        self,
        d_model: Any,
        num_expert: Any,
        world_size: Any,
        topk: Any = 2,
        capacity: Any = (1.2, 2.4),
        random_routing: bool = True,
        group: Any = None,
    ) -> None:
        if topk != 2:
            raise AssertionError(f"GShardGate: topk: got {topk}; it must be 2")
        super().__init__(d_model, num_expert, world_size)
        self.capacity = capacity
        self.random_routing = random_routing
        self.group = group

    def forward(self, x: Tensor) -> tuple[Any, Any]:
        scores = self.gate(x)
        value, number = largest(scores, self.top_k, -1, True, False)
        # Counted before the capacity cuts choices off: the loss is for what the gate wants.
        chosen = marks(number.flatten(), self.tot_expert).sum(0) / scores.shape[0]
        self.set_loss((chosen * softmax(scores, 1).mean(0)).mean() * self.num_expert**2)
        number = limited(
            number,
            self.tot_expert,
            math.ceil(self.capacity[0 if self.training else 1] * x.shape[0]),
            self.group,
        )
        if self.random_routing:
            second = number[:, 1]
            # The weaker the second choice is, the more often it is left out.
            kept = 2 * value[:, 1] >= rand([scores.shape[0]], "float32")
            number = stack([number[:, 0], where(kept, second, full_like(second, -1))], 1)
        return value, number
