"""What gates share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


class BaseGate(Layer):
    """The base of gates: they give a value and the number of an expert (-1: none) for each
    choice of each token.

    Args:
        num_expert: int, the number of experts of a process.
        world_size: int, the number of processes that share the experts.
    Differs from Paddle: `paddle.incubate.distributed.models` is there without an import of its own.
    Example:
        >>> gate = paddle.incubate.distributed.models.moe.BaseGate(4, 1)
        >>> gate.tot_expert, gate.get_loss()
        (4, None)
    """

    num_expert: int
    tot_expert: int
    world_size: int

    def __init__(self, num_expert: int, world_size: int) -> None:
        super().__init__()
        self.world_size, self.num_expert, self.tot_expert, self.loss = (
            world_size,
            num_expert,
            world_size * num_expert,
            None,
        )

    def set_loss(self, loss: Tensor) -> None:
        """Keeps the loss of the last call that makes experts be used evenly."""
        self.loss = loss

    def get_loss(self, clear: bool = True) -> Tensor | None:
        """The loss of the last call, to be added to that of the model; None where there is none.

        Args:
            clear: bool, forget it.
        """
        loss = self.loss
        if clear:
            self.loss: Tensor | None = None
        return loss
