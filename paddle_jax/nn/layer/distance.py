"""Distances between vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.nn import functional as F
from paddle_jax.nn.layer.helpers import alias, linked
from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


class PairwiseDistance(Layer):
    """Computes the p-norm of x - y + epsilon along the last axis.

    Args:
        p: float, the p of the norm.
        epsilon: float, keeps the gradient finite where x equals y; `eps` is accepted as a name.
        keepdim: bool, keep the last axis with length 1.
    Attributes:
        p, epsilon, keepdim, name: as given.
        norm: float, `p` under its other name.
        eps: float, `epsilon` under its other name.
    Example:
        >>> paddle.nn.PairwiseDistance()(paddle.ones([2, 3]), paddle.zeros([2, 3])).shape
        paddle.Size([2])
    """

    @alias(eps="epsilon")
    def __init__(
        self, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False, name: str | None = None
    ) -> None:
        super().__init__()
        self.p = p
        self.epsilon = epsilon
        self.keepdim = keepdim
        self.name = name

    eps: property = linked("epsilon", "epsilon, under its other name.")
    norm: property = linked("p", "p, under its other name.")

    @alias(x1="x", x2="y")
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return F.pairwise_distance(x, y, self.p, self.epsilon, self.keepdim)

    def extra_repr(self) -> str:
        settings = [
            ("epsilon", self.epsilon, 1e-6),
            ("keepdim", self.keepdim, False),
            ("name", self.name, None),
        ]
        return f"p={self.p}" + "".join(f", {key}={value}" for key, value, usual in settings if value != usual)


__all__ = ["PairwiseDistance"]
