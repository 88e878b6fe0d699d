"""Smooth decays: exponential, inverse time, polynomial, and user-given factors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from paddle_jax.optimizer.lr.scheduler import LRScheduler, need

if TYPE_CHECKING:
    pass


class ExponentialDecay(LRScheduler):
    """Multiplies the rate by `gamma` at every step: `learning_rate * gamma ** epoch`.

    Args:
        learning_rate: float, the first rate.
        gamma: float in (0, 1), the factor of one step.
        last_epoch: int, index of the last epoch, to resume. Default -1.
        verbose: print one line at every change. Default False.
    Raises:
        AssertionError: `gamma` is outside (0, 1).
    Example:
        >>> rate = paddle.optimizer.lr.ExponentialDecay(0.5, gamma=0.5)
        >>> rate.step()
        >>> rate()
        0.25
    """

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        need(gamma > 0.0 and gamma < 1.0, f"ExponentialDecay: gamma: got {gamma}; it must lie in (0, 1).")
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """Computes the rate for the current epoch."""
        return self.base_lr * self.gamma**self.last_epoch


class NaturalExpDecay(LRScheduler):
    """Decays the rate exponentially in time: `learning_rate * exp(-gamma * epoch)`.

    Args:
        learning_rate: float, the first rate.
        gamma: float, positive, the decay constant per step.
        last_epoch: int, index of the last epoch, to resume. Default -1.
        verbose: print one line at every change. Default False.
    Raises:
        AssertionError: `gamma` is not positive.
    Example:
        >>> rate = paddle.optimizer.lr.NaturalExpDecay(0.5, gamma=0.1)
        >>> rate.step()
        >>> round(rate(), 6)
        0.452419
    """

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        need(
            gamma > 0.0,
            f"NaturalExpDecay: gamma: got {gamma}; it must be greater than 0, or the rate would not decay.",
        )
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """Computes the rate for the current epoch."""
        return self.base_lr * math.exp(-1 * self.gamma * self.last_epoch)


class InverseTimeDecay(LRScheduler):
    """Divides the rate by a linear function of time: `learning_rate / (1 + gamma * epoch)`.

    Args:
        learning_rate: float, the first rate.
        gamma: float, the decay constant per step.
        last_epoch: int, index of the last epoch, to resume. Default -1.
        verbose: print one line at every change. Default False.
    Example:
        >>> rate = paddle.optimizer.lr.InverseTimeDecay(0.5, gamma=1.0)
        >>> rate.step()
        >>> rate()
        0.25
    """

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """Computes the rate for the current epoch."""
        return self.base_lr / (1 + self.gamma * self.last_epoch)


class PolynomialDecay(LRScheduler):
    """Moves from `learning_rate` to `end_lr` in `decay_steps` steps along
    `(1 - epoch / decay_steps) ** power`.

    Args:
        learning_rate: float, the first rate.
        decay_steps: int, positive, length of the decay in steps.
        end_lr: float, the last rate. Default 0.0001.
        power: float, positive, exponent of the curve. Default 1.0: a straight line.
        cycle: start again with a longer period after `decay_steps` instead of staying at
            `end_lr`. Default False.
        last_epoch: int, index of the last epoch, to resume. Default -1.
        verbose: print one line at every change. Default False.
    Raises:
        AssertionError: `decay_steps` is not a positive int, or `power` is not positive.
    Example:
        >>> rate = paddle.optimizer.lr.PolynomialDecay(0.5, decay_steps=4, end_lr=0.1)
        >>> rate.step(4)
        >>> rate()
        0.1
    """

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_lr: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        need(
            isinstance(decay_steps, int) and decay_steps > 0,
            f"PolynomialDecay: decay_steps: got {decay_steps!r}; it must be a positive int.",
        )
        need(power > 0.0, f"PolynomialDecay: power: got {power}; it must be greater than 0.")
        self.decay_steps = decay_steps
        self.end_lr = end_lr
        self.power = power
        self.cycle = cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """Computes the rate for the current epoch."""
        epoch = self.last_epoch
        length = self.decay_steps
        if self.cycle:
            # Whole periods more, so that the rate rises again after each.
            length = self.decay_steps * max(1, math.ceil(float(epoch) / float(self.decay_steps)))
        else:
            # After the last step the rate stays.
            epoch = min(epoch, self.decay_steps)
        return (self.base_lr - self.end_lr) * ((1 - float(epoch) / float(length)) ** self.power) + self.end_lr


class LambdaDecay(LRScheduler):
    """Multiplies the first rate by a factor of your own: `learning_rate * lr_lambda(epoch)`.

    Args:
        learning_rate: float, the first rate.
        lr_lambda: callable, epoch (int) to factor (float).
        last_epoch: int, index of the last epoch, to resume. Default -1.
        verbose: print one line at every change. Default False.
    Raises:
        TypeError: `lr_lambda` is not callable.
    Example:
        >>> rate = paddle.optimizer.lr.LambdaDecay(0.5, lambda epoch: 0.5**epoch)
        >>> rate.step()
        >>> rate()
        0.25
    """

    def __init__(
        self,
        learning_rate: float,
        lr_lambda: Callable[[int], float],
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        need(
            callable(lr_lambda),
            f"LambdaDecay: lr_lambda: got {type(lr_lambda).__name__}; pass a function of the epoch.",
            TypeError,
        )
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """Computes the rate for the current epoch."""
        return self.base_lr * self.lr_lambda(self.last_epoch)


class MultiplicativeDecay(LRScheduler):
    """Multiplies the rate by a new factor at every step: the product of `lr_lambda(1) ... lr_lambda(epoch)`
    times `learning_rate`.

    Args:
        learning_rate: float, the first rate.
        lr_lambda: callable, epoch (int) to factor (float).
        last_epoch: int, index of the last epoch, to resume. Default -1.
        verbose: print one line at every change. Default False.
    Raises:
        TypeError: `lr_lambda` is not callable.
    Example:
        >>> rate = paddle.optimizer.lr.MultiplicativeDecay(0.5, lambda epoch: 0.5)
        >>> rate.step(2)
        >>> rate()
        0.125
    """

    def __init__(
        self,
        learning_rate: float,
        lr_lambda: Callable[[int], float],
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        need(
            callable(lr_lambda),
            f"MultiplicativeDecay: lr_lambda: got {type(lr_lambda).__name__}; pass a function of the epoch.",
            TypeError,
        )
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """Computes the rate for the current epoch."""
        rate = self.base_lr
        # From the first epoch on: a jump gives the same rate as single steps.
        for epoch in range(1, self.last_epoch + 1):
            rate = rate * self.lr_lambda(epoch)
        return rate
