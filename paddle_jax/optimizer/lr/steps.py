"""Piecewise constant schedules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paddle_jax.optimizer.lr.scheduler import LRScheduler, need, need_type

if TYPE_CHECKING:
    pass


class PiecewiseDecay(LRScheduler):
    """Takes the rate from a table: `values[i]` while the epoch is below `boundaries[i]`, the last
    value after that.

    Args:
        boundaries: list or tuple of increasing ints, epochs at which the rate changes.
        values: list or tuple of floats, one more than `boundaries`.
        last_epoch: int, index of the last epoch, to resume. Default -1.
        verbose: print one line at every change. Default False.
    Raises:
        ValueError: `boundaries` is empty or `values` is too short.
    Example:
        >>> rate = paddle.optimizer.lr.PiecewiseDecay([1, 3], [0.1, 0.05, 0.01])
        >>> rate.step()
        >>> rate()
        0.05
    """

    def __init__(
        self, boundaries: Sequence[int], values: Sequence[float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        need(
            len(boundaries) > 0,
            "PiecewiseDecay: boundaries: got an empty list; give at least one boundary.",
            ValueError,
        )
        need(
            len(values) > len(boundaries),
            f"PiecewiseDecay: values: got {len(values)} for {len(boundaries)} boundaries; "
            "give one value more than boundaries.",
            ValueError,
        )
        self.boundaries = boundaries
        self.values = values
        super().__init__(last_epoch=last_epoch, verbose=verbose)

    def get_lr(self) -> float:
        """Computes the rate for the current epoch."""
        for boundary, value in zip(self.boundaries, self.values, strict=False):
            if self.last_epoch < boundary:
                return value
        return self.values[len(self.values) - 1]


class StepDecay(LRScheduler):
    """Multiplies the rate by `gamma` after every `step_size` steps.

    Args:
        learning_rate: float, the first rate.
        step_size: int, positive, length of one stair in steps.
        gamma: float below 1, the factor of one stair. Default 0.1.
        last_epoch: int, index of the last epoch, to resume. Default -1.
        verbose: print one line at every change. Default False.
    Raises:
        TypeError: `step_size` is not an int.
        AssertionError: `step_size` is not positive.
        ValueError: `gamma` is not below 1.
    Example:
        >>> rate = paddle.optimizer.lr.StepDecay(0.5, step_size=2, gamma=0.5)
        >>> rate.step(2)
        >>> rate()
        0.25
    """

    def __init__(
        self,
        learning_rate: float,
        step_size: int,
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        need_type(step_size, int, "StepDecay", "step_size")
        need(gamma < 1.0, f"StepDecay: gamma: got {gamma}; it must be below 1.", ValueError)
        need(step_size > 0, f"StepDecay: step_size: got {step_size}; it must be positive.")
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """Computes the rate for the current epoch."""
        return self.base_lr * (self.gamma ** (self.last_epoch // self.step_size))


class MultiStepDecay(LRScheduler):
    """Multiplies the rate by `gamma` at each of the given epochs.

    Args:
        learning_rate: float, the first rate.
        milestones: list or tuple of strictly increasing ints, the epochs.
        gamma: float below 1, the factor of one stair. Default 0.1.
        last_epoch: int, index of the last epoch, to resume. Default -1.
        verbose: print one line at every change. Default False.
    Raises:
        TypeError: `milestones` is not a list or tuple.
        ValueError: `milestones` do not increase, or `gamma` is not below 1.
    Example:
        >>> rate = paddle.optimizer.lr.MultiStepDecay(0.5, milestones=[1, 3], gamma=0.5)
        >>> rate.step(3)
        >>> rate()
        0.125
    """

    def __init__(
        self,
        learning_rate: float,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        need_type(milestones, (tuple, list), "MultiStepDecay", "milestones")
        increasing = all(a < b for a, b in zip(milestones, milestones[1:], strict=False))
        need(increasing, f"MultiStepDecay: milestones: got {milestones}; they must increase.", ValueError)
        need(gamma < 1.0, f"MultiStepDecay: gamma: got {gamma}; it must be below 1.", ValueError)
        self.milestones = milestones
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """Computes the rate for the current epoch."""
        passed = next(
            (i for i, epoch in enumerate(self.milestones) if self.last_epoch < epoch), len(self.milestones)
        )
        return self.base_lr * (self.gamma**passed)
