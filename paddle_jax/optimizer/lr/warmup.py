"""Schedules that start low: linear warm-up, linear change, Noam."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.optimizer.lr.scheduler import LRScheduler, need

if TYPE_CHECKING:
    from paddle_jax._annotations import LearningRate, StateDict


class NoamDecay(LRScheduler):
    """Warms up linearly, then decays with the inverse square root of the epoch.

    The rate is `learning_rate * d_model ** -0.5 * min(epoch ** -0.5, epoch * warmup_steps ** -1.5)`.

    Args:
        d_model: int, positive, width of the model.
        warmup_steps: int, length of the warm-up in steps.
        learning_rate: float, factor in front. Default 1.0.
        last_epoch: int, index of the last epoch, to resume. Default -1.
        verbose: print one line at every change. Default False.
    Raises:
        ValueError: `d_model` is not positive.
    Example:
        >>> rate = paddle.optimizer.lr.NoamDecay(d_model=64, warmup_steps=4)
        >>> rate.step(4)
        >>> rate()
        0.0625
    See: "Attention Is All You Need", section 5.3 (https://arxiv.org/abs/1706.03762).
    """

    def __init__(
        self,
        d_model: int,
        warmup_steps: int,
        learning_rate: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        need(d_model > 0, f"NoamDecay: d_model: got {d_model}; it must be positive.", ValueError)
        self.d_model = d_model
        self.warmup_steps = warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """Computes the rate for the current epoch."""
        decay = 1 if self.last_epoch == 0 else self.last_epoch**-0.5
        warm = self.warmup_steps**-1.5 * self.last_epoch
        return self.base_lr * (self.d_model**-0.5) * min(decay, warm)


class LinearWarmup(LRScheduler):
    """Raises the rate linearly from `start_lr` to `end_lr`, then follows `learning_rate`.

    Args:
        learning_rate: float, the constant rate after the warm-up; or an LRScheduler, which starts at its
            own epoch 0 then.
        warmup_steps: int, positive, length of the warm-up in steps.
        start_lr: float, first rate of the warm-up.
        end_lr: float, greater than `start_lr`, rate the warm-up heads for.
        last_epoch: int, index of the last epoch, to resume. Default -1.
        verbose: print one line at every change. Default False.
    Raises:
        TypeError: `learning_rate` is neither a number nor an LRScheduler.
        AssertionError: `warmup_steps` is not a positive int, or `end_lr` is not above `start_lr`.
    Example:
        >>> rate = paddle.optimizer.lr.LinearWarmup(0.5, warmup_steps=4, start_lr=0.0, end_lr=0.5)
        >>> rate.step(2)
        >>> rate()
        0.25
    """

    def __init__(
        self,
        learning_rate: LearningRate,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not isinstance(learning_rate, float | int | LRScheduler):
            raise TypeError(
                f"LinearWarmup: learning_rate: got {type(learning_rate).__name__}; "
                "pass float, int or an LRScheduler."
            )
        need(
            isinstance(warmup_steps, int) and warmup_steps > 0,
            f"LinearWarmup: warmup_steps: got {warmup_steps!r}; it must be a positive int.",
        )
        need(
            end_lr > start_lr,
            f"LinearWarmup: end_lr: got {end_lr}; it must be greater than start_lr={start_lr}.",
        )
        self.learning_rate = learning_rate
        self.warmup_steps = warmup_steps
        self.start_lr = start_lr
        self.end_lr = end_lr
        super().__init__(start_lr, last_epoch, verbose)

    def get_lr(self) -> float:
        """Computes the rate for the current epoch; moves the scheduler behind the warm-up along."""
        if self.last_epoch < self.warmup_steps:
            return (self.end_lr - self.start_lr) * float(self.last_epoch) / float(
                self.warmup_steps
            ) + self.start_lr
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.step(self.last_epoch - self.warmup_steps)
            return self.learning_rate()
        return self.learning_rate

    def state_dict(self) -> StateDict:
        """Returns the state; that of a scheduler behind the warm-up is under `LinearWarmup_LR`."""
        state = super().state_dict()
        if isinstance(self.learning_rate, LRScheduler):
            state["LinearWarmup_LR"] = self.learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: StateDict) -> None:
        """Takes over a state made by `state_dict()`, also for the scheduler behind the warm-up."""
        super().set_state_dict(state_dict)
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.set_state_dict(state_dict["LinearWarmup_LR"])

    def _unused(self, state_dict: StateDict) -> list[str]:
        return [key for key in super()._unused(state_dict) if key != "LinearWarmup_LR"]


class LinearLR(LRScheduler):
    """Changes the factor on the rate linearly from `start_factor` to `end_factor` in `total_steps` steps.

    Args:
        learning_rate: float, the rate the factors apply to.
        total_steps: int, positive, length of the change in steps.
        start_factor: float in (0, 1]. Default 1/3.
        end_factor: float in [0, 1]. Default 1.0.
        last_epoch: int, index of the last epoch, to resume. Default -1.
        verbose: print one line at every change. Default False.
    Raises:
        ValueError: a factor or `total_steps` is out of range.
    Example:
        >>> rate = paddle.optimizer.lr.LinearLR(0.5, total_steps=4, start_factor=0.5)
        >>> rate.step()
        >>> rate()
        0.3125
    """

    def __init__(
        self,
        learning_rate: float,
        total_steps: int,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        need(
            0.0 < start_factor <= 1.0,
            f"LinearLR: start_factor: got {start_factor}; it must lie in (0, 1].",
            ValueError,
        )
        need(
            0.0 <= end_factor <= 1.0,
            f"LinearLR: end_factor: got {end_factor}; it must lie in [0, 1].",
            ValueError,
        )
        need(total_steps > 0, f"LinearLR: total_steps: got {total_steps}; it must be positive.", ValueError)
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_steps = total_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """Computes the rate for the current epoch from the last rate."""
        if self.last_epoch == 0:
            return self.base_lr * self.start_factor
        if self.last_epoch > self.total_steps:
            return self.last_lr
        change = self.end_factor - self.start_factor
        return self.last_lr * (
            1.0 + change / (self.total_steps * self.start_factor + (self.last_epoch - 1) * change)
        )
