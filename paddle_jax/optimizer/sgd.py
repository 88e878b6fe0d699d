"""Stochastic gradient descent."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


class SGD(Optimizer):
    """Updates by `parameter -= learning_rate * gradient`.

    Args:
        learning_rate: float or LRScheduler. Default 0.001.
        parameters: list of Parameters, or of dicts with groups; see `Optimizer`.
        weight_decay: float, L1Decay or L2Decay. Default None.
        grad_clip: gradient clipping. Default None.
        multi_precision: keep float32 copies of float16 and bfloat16 parameters. Default False.
        name: str that becomes part of the names of the states. Default None.
    Raises:
        ValueError: `learning_rate` is None.
    Example:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
        >>> layer(paddle.ones([3, 2])).mean().backward()
        >>> optimizer.step()
    """

    _by_element = True
    _lazy = True  # zero gradients change nothing

    def __init__(
        self,
        learning_rate: LearningRate = 0.001,
        parameters: ParameterGroups | None = None,
        weight_decay: WeightDecay | None = None,
        grad_clip: GradClip | None = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        if learning_rate is None:
            raise ValueError("SGD: learning_rate: got None; pass a float or an LRScheduler.")
        self.type = "sgd"
        self._multi_precision = multi_precision
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    @staticmethod
    def _rule(p: jax.Array, g: jax.Array, s: Slots, lr: jax.Array) -> UpdateResult:
        # No state: the parameter alone changes.
        return p - lr * g, s
