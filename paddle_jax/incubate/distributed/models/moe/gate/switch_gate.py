"""One expert for each token (Fedus, Zoph and Shazeer, Switch Transformers, 2021)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from paddle_jax.incubate.distributed.models.moe.gate.naive_gate import NaiveGate
from paddle_jax.incubate.distributed.models.moe.utils import limited, marks
from paddle_jax.nn.functional.softmaxes import softmax
from paddle_jax.tensor.random import rand
from paddle_jax.tensor.search import topk as largest

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


class SwitchGate(NaiveGate):
    """Chooses the expert with the largest probability, in training of scores multiplied by noise in 1 -
    switch_eps .. 1 + switch_eps.

    Args:
        d_model, num_expert, world_size: as for `NaiveGate`.
        topk: 1.
        switch_eps: float, the noise.
        capacity: pair of floats, for training and evaluation: an expert takes that many times the number
            of tokens at most.
        group: as for `MoELayer`.
    Raises:
        AssertionError: topk is not 1.
    Differs from Paddle: it works on the CPU, and tokens beyond the capacity are the last ones.
    Example:
        >>> gate = paddle.incubate.distributed.models.moe.SwitchGate(2, 4, 1).eval()
        >>> value, number = gate(paddle.ones([3, 2])); number.shape, gate.get_loss().shape
        (paddle.Size([3, 1]), paddle.Size([]))
    """

    def __init__(
        self,
        d_model: Any,
        num_expert: Any,
        world_size: Any,
        topk: Any = 1,
        switch_eps: float = 0.1,
        capacity: Any = (1.2, 2.4),
        group: Any = None,
    ) -> None:
        if topk != 1:
            raise AssertionError(f"SwitchGate: topk: got {topk}; it must be 1")
        super().__init__(d_model, num_expert, world_size, topk=1)
        self.switch_eps = switch_eps
        self.capacity = capacity
        self.group = group

    def forward(self, inp: Tensor) -> tuple[Any, Any]:
        scores = self.gate(inp)
        if self.training:
            scores = scores * (rand(scores.shape) * (2 * self.switch_eps) + (1 - self.switch_eps))
        scores = softmax(scores, -1)
        value, number = largest(scores, 1, -1, True)
        # An expert takes so many tokens at most, in evaluation other ones than in training.
        number = limited(
            number,
            self.tot_expert,
            math.ceil(self.capacity[0 if self.training else 1] * inp.shape[0]),
            self.group,
        )
        taken = marks(number.flatten(), self.tot_expert)
        count = taken.sum()
        self.set_loss((taken.sum(0) / count * (scores.sum(0) / count)).sum() * self.tot_expert)
        return value, number
