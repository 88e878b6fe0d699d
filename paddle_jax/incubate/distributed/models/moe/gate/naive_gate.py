"""The experts with the largest scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.incubate.distributed.models.moe.gate.base_gate import BaseGate
from paddle_jax.nn.layer.common import Linear
from paddle_jax.tensor.search import topk as largest

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


class NaiveGate(BaseGate):
    """Chooses the experts with the largest scores, which are a linear function of the token.

    Args:
        d_model: int, numbers in a token.
        num_expert, world_size: as for `BaseGate`.
        topk: int, how many experts are chosen.
    Shape:
        [tokens, d_model] to (scores [tokens, topk], int64 numbers [tokens, topk]).
    Differs from Paddle: `paddle.incubate.distributed.models` is there without an import of its own.
    Example:
        >>> gate = paddle.incubate.distributed.models.moe.NaiveGate(2, 4, 1)
        >>> [t.shape for t in gate(paddle.ones([3, 2]))]
        [paddle.Size([3, 2]), paddle.Size([3, 2])]
    """

    def __init__(self, d_model: int, num_expert: Any, world_size: Any, topk: int = 2) -> None:
        super().__init__(num_expert, world_size)
        self.gate: Linear = Linear(d_model, self.tot_expert)
        for p in (self.gate.weight, self.gate.bias):
            p.name = f"gate_{p.name}"
        self.top_k = topk

    def forward(self, inp: Tensor, return_all_scores: bool = False) -> tuple[Any, Any, Any] | tuple[Any, Any]:
        scores = self.gate(inp)
        value, number = largest(scores, self.top_k, -1, True, False)
        if return_all_scores:
            return (value, number, scores)
        return (value, number)
