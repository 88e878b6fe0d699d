"""Periodic schedules: cosine annealing with and without restarts, one cycle, cyclic."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from paddle_jax.optimizer.lr.scheduler import LRScheduler, need, need_type

if TYPE_CHECKING:
    from paddle_jax._annotations import StateDict


class CosineAnnealingDecay(LRScheduler):
    """Moves the rate along half a cosine from `learning_rate` to `eta_min` in `T_max` steps, and back.

    Args:
        learning_rate: float, the first and largest rate.
        T_max: int, positive, half a period in steps.
        eta_min: float or int, the smallest rate. Default 0.
        last_epoch: int, index of the last epoch, to resume. Default -1.
        verbose: print one line at every change. Default False.
    Raises:
        TypeError: `T_max` is not an int, or `eta_min` not a number.
        AssertionError: `T_max` is not positive.
    Example:
        >>> rate = paddle.optimizer.lr.CosineAnnealingDecay(0.5, T_max=2)
        >>> rate.step()
        >>> round(rate(), 6)
        0.25
    See: "SGDR: Stochastic Gradient Descent with Warm Restarts" (https://arxiv.org/abs/1608.03983),
        without the restarts.
    """

    def __init__(
        self,
        learning_rate: float,
        T_max: int,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        need_type(T_max, int, "CosineAnnealingDecay", "T_max")
        need_type(eta_min, (float, int), "CosineAnnealingDecay", "eta_min")
        need(T_max > 0, f"CosineAnnealingDecay: T_max: got {T_max}; it must be positive.")
        self.T_max = T_max
        self.eta_min: float = float(eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """Computes the rate for the current epoch from the last rate."""
        epoch = self.last_epoch
        half = self.T_max
        if epoch == 0:
            return self.base_lr
        # The ratio below would divide by zero: the last epoch was at the minimum of the cosine.
        if (epoch - 1 - half) % (2 * half) == 0:
            return self.last_lr + (self.base_lr - self.eta_min) * (1 - math.cos(math.pi / half)) / 2
        # From the last rate, so that a rate that was changed by hand goes on from there.
        ratio = (1 + math.cos(math.pi * epoch / half)) / (1 + math.cos(math.pi * (epoch - 1) / half))
        return ratio * (self.last_lr - self.eta_min) + self.eta_min

    def _get_closed_form_lr(self) -> float:
        return (
            self.eta_min
            + (self.base_lr - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        )


class CosineAnnealingWarmRestarts(LRScheduler):
    """Moves the rate along half a cosine from `learning_rate` to `eta_min`, then restarts; period i has
    `T_0 * T_mult ** i` steps.

    Args:
        learning_rate: float, the rate at every start.
        T_0: int, positive, length of the first period in steps.
        T_mult: int, at least 1, growth of the period. Default 1.
        eta_min: float or int, the smallest rate. Default 0.
        last_epoch: int, index of the last epoch, to resume. Default -1.
        verbose: print one line at every change. Default False.
    Attributes:
        T_0, T_mult: as given.
        T_i: int, the length of the present period.
        T_cur: number, the epochs since it began.
        eta_min: float, as given.
        last_epoch: int, the steps so far.
        last_lr: float, the present learning rate.
    Raises:
        ValueError: `T_0` or `T_mult` is not an int in range.
    Example:
        >>> rate = paddle.optimizer.lr.CosineAnnealingWarmRestarts(0.5, T_0=2)
        >>> rate.step()
        >>> rate()
        0.25
        >>> rate.step()
        >>> rate()
        0.5
    See: "SGDR: Stochastic Gradient Descent with Warm Restarts" (https://arxiv.org/abs/1608.03983).
    """

    def __init__(
        self,
        learning_rate: float,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        need(
            isinstance(T_0, int) and T_0 > 0,
            f"CosineAnnealingWarmRestarts: T_0: got {T_0}; it must be a positive int.",
            ValueError,
        )
        need(
            isinstance(T_mult, int) and T_mult >= 1,
            f"CosineAnnealingWarmRestarts: T_mult: got {T_mult}; it must be an int >= 1.",
            ValueError,
        )
        need_type(eta_min, (float, int), "CosineAnnealingWarmRestarts", "eta_min")
        self.T_0 = T_0
        self.T_i: int = T_0
        self.T_mult = T_mult
        self.eta_min: float = float(eta_min)
        self.T_cur: int = last_epoch
        if last_epoch >= 0:
            self._locate(last_epoch)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """Computes the rate for the current place in the period."""
        return (
            self.eta_min + (self.base_lr - self.eta_min) * (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        )

    def step(self, epoch: float | None = None) -> None:
        """Moves the schedule on by one, or to `epoch`, which may be a fraction.

        Args:
            epoch: int or float, not negative. Default None: the next one.
        Raises:
            ValueError: `epoch` is negative.
        """
        # The step that the constructor takes.
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                # The period has ended; the next one is `T_mult` times as long.
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            self._locate(epoch)
        # A fraction counts only for the place within the period.
        self.last_epoch: int = math.floor(epoch)
        self.last_lr = self.get_lr()
        self._tell()

    def _locate(self, epoch: float) -> None:
        need(
            epoch >= 0,
            f"CosineAnnealingWarmRestarts: epoch: got {epoch}; it may not be negative.",
            ValueError,
        )
        self.T_cur, self.T_i = self._position(epoch)

    def _position(self, epoch: float) -> tuple[float, int]:
        """The steps since the last restart before `epoch`, and the length of that period."""
        if self.T_mult == 1:
            return epoch % self.T_0, self.T_0
        start = 0
        length = self.T_0
        while epoch >= start + length:
            start += length
            length *= self.T_mult
        return epoch - start, length

    def state_dict(self) -> StateDict:
        """Returns the scheduler's state as other schedulers do; after a step to a fraction of an epoch
        also the position in the period."""
        state = super().state_dict()
        # Only where the epoch does not say it: other schedulers have no such keys.
        if (self.T_cur, self.T_i) != self._position(self.last_epoch):
            state["T_cur"] = self.T_cur
            state["T_i"] = self.T_i
        return state

    def set_state_dict(self, state_dict: StateDict) -> None:
        """Takes over a state made by `state_dict()`, here or in the real Paddle, and goes on from there.

        Differs from Paddle: the position in the period is restored.
        """
        super().set_state_dict(state_dict)
        position = self._position(self.last_epoch)
        self.T_cur = state_dict.get("T_cur", position[0])
        self.T_i = state_dict.get("T_i", position[1])

    set_dict = set_state_dict

    def _unused(self, state_dict: StateDict) -> list[str]:
        return [key for key in super()._unused(state_dict) if key not in ("T_cur", "T_i")]


def _cosine(start: float, end: float, part: float) -> float:
    return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def _linear(start: float, end: float, part: float) -> float:
    return (end - start) * part + start


class OneCycleLR(LRScheduler):
    """Raises the rate to `max_learning_rate`, then lowers it to `end_learning_rate`, in one pass
    of `total_steps`.

    Args:
        max_learning_rate: float, the peak.
        total_steps: int, positive, length of the cycle in steps.
        divide_factor: float, the first rate is `max_learning_rate / divide_factor`. Default 25.0.
        end_learning_rate: float, the last rate. Default 0.0001.
        phase_pct: float in [0, 1], fraction of the steps that rise. Default 0.3.
        anneal_strategy: 'cos' or 'linear', shape of the phases. Default 'cos'.
        three_phase: return to the first rate before the last descent (`phase_pct` must be below
            0.5). Default False.
        last_epoch: int, index of the last epoch, to resume. Default -1.
        verbose: print one line at every change. Default False.
    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument is out of range, or there were more steps than `total_steps`.
    Example:
        >>> rate = paddle.optimizer.lr.OneCycleLR(1.0, total_steps=10, anneal_strategy='linear')
        >>> rate.step(2)
        >>> rate()
        1.0
    See: "Super-Convergence: Very Fast Training of Neural Networks Using Large Learning Rates"
        (https://arxiv.org/abs/1708.07120).
    """

    def __init__(
        self,
        max_learning_rate: float,
        total_steps: int,
        divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001,
        phase_pct: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        three_phase: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        need_type(max_learning_rate, (float, int), "OneCycleLR", "max_learning_rate")
        need(
            max_learning_rate >= 0,
            f"OneCycleLR: max_learning_rate: got {max_learning_rate}; it may not be negative.",
            ValueError,
        )
        need_type(end_learning_rate, (float, int), "OneCycleLR", "end_learning_rate")
        need(
            end_learning_rate >= 0,
            f"OneCycleLR: end_learning_rate: got {end_learning_rate}; it may not be negative.",
            ValueError,
        )
        need_type(total_steps, int, "OneCycleLR", "total_steps")
        need(total_steps > 0, f"OneCycleLR: total_steps: got {total_steps}; it must be positive.", ValueError)
        need_type(phase_pct, float, "OneCycleLR", "phase_pct")
        need(
            0 <= phase_pct <= 1, f"OneCycleLR: phase_pct: got {phase_pct}; it must lie in [0, 1].", ValueError
        )
        need(
            anneal_strategy in ("cos", "linear"),
            f"OneCycleLR: anneal_strategy: got {anneal_strategy!r}; use 'cos' or 'linear'.",
            ValueError,
        )
        need(
            not three_phase or phase_pct < 0.5,
            f"OneCycleLR: phase_pct: got {phase_pct}; three_phase=True needs less than 0.5.",
            ValueError,
        )
        first = max_learning_rate / float(divide_factor)
        last = float(end_learning_rate)
        self.total_steps = total_steps
        # Epochs count from 0, so a phase ends one before its length.
        self._step_config = [0, phase_pct * total_steps - 1, total_steps - 1]
        self._lr_config = [first, max_learning_rate, last]
        if three_phase:
            # Down to the first rate takes as long as up; the last rate comes after.
            self._step_config.insert(2, 2 * phase_pct * total_steps - 2)
            self._lr_config.insert(2, first)
        self._steps_size = [
            end - start for start, end in zip(self._step_config, self._step_config[1:], strict=False)
        ]
        if anneal_strategy == "cos":
            self.anneal_func = _cosine
        else:
            self.anneal_func: Callable[..., Any] = _linear
        super().__init__(first, last_epoch, verbose)

    def get_lr(self) -> float:
        """Computes the rate for the current epoch."""
        step = self.last_epoch
        need(
            step <= self.total_steps,
            f"OneCycleLR: step {step} of a cycle of total_steps={self.total_steps}; make total_steps larger.",
            ValueError,
        )
        ends = self._step_config[1:]
        # What comes after all phases belongs to the last one.
        phase = next((i for i, end in enumerate(ends) if step <= end), len(ends) - 1)
        part = (step - self._step_config[phase]) / self._steps_size[phase]
        return self.anneal_func(self._lr_config[phase], self._lr_config[phase + 1], part)


class CyclicLR(LRScheduler):
    """Moves the rate up and down between `base_learning_rate` and `max_learning_rate`.

    Args:
        base_learning_rate: float, the lower bound and first rate.
        max_learning_rate: float, the upper bound.
        step_size_up: int, positive, steps of the rising part.
        step_size_down: int, positive, steps of the falling part. Default None: as the rising part.
        mode: 'triangular', 'triangular2' (height halves every cycle) or 'exp_range' (height times
            `exp_gamma ** iterations`). Default 'triangular'.
        exp_gamma: float, base of 'exp_range'. Default 1.0.
        scale_fn: callable, factor on the height; replaces `mode`. Default None.
        scale_mode: 'cycle' or 'iterations', what `scale_fn` is given: the cycle's number from 1, or the
            epoch. Default 'cycle'.
        last_epoch: int, index of the last epoch, to resume. Default -1.
        verbose: print one line at every change. Default False.
    Attributes:
        mode, scale_fn, scale_mode: as given.
        cycle_size: int, the steps of one cycle.
        step_up_pct: float, the share of a cycle in which the rate rises.
        max_lr: float, the argument max_learning_rate.
        amplitude: float, from the base rate to the largest one.
        gamma: float, the argument exp_gamma.
    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument is out of range.
    Example:
        >>> rate = paddle.optimizer.lr.CyclicLR(0.25, 0.75, step_size_up=2)
        >>> rate.step()
        >>> rate()
        0.5
    See: "Cyclical Learning Rates for Training Neural Networks" (https://arxiv.org/abs/1506.01186).
    """

    def __init__(
        self,
        base_learning_rate: float,
        max_learning_rate: float,
        step_size_up: int,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        exp_gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        need_type(max_learning_rate, (float, int), "CyclicLR", "max_learning_rate")
        need(
            max_learning_rate >= 0,
            f"CyclicLR: max_learning_rate: got {max_learning_rate}; it may not be negative.",
            ValueError,
        )
        if step_size_down is None:
            step_size_down = step_size_up
        for argument, value in (("step_size_up", step_size_up), ("step_size_down", step_size_down)):
            need_type(value, int, "CyclicLR", argument)
            need(value > 0, f"CyclicLR: {argument}: got {value}; it must be positive.", ValueError)
        need_type(exp_gamma, float, "CyclicLR", "exp_gamma")
        known = mode in ("triangular", "triangular2", "exp_range")
        need(
            known or scale_fn is not None,
            f"CyclicLR: mode: got {mode!r}; use 'triangular', 'triangular2' or 'exp_range'.",
            ValueError,
        )
        need(
            scale_mode in ("cycle", "iterations"),
            f"CyclicLR: scale_mode: got {scale_mode!r}; use 'cycle' or 'iterations'.",
            ValueError,
        )
        self.cycle_size: int = step_size_up + step_size_down
        self.step_up_pct: float = step_size_up / self.cycle_size
        self.max_lr: float = float(max_learning_rate)
        self.amplitude: float = self.max_lr - base_learning_rate
        self.mode = mode
        self.gamma = exp_gamma
        if scale_fn is None:
            scale_fn = self._scale_of_mode()
            # A mode says itself what it counts; the argument is for the user's function.
            scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.scale_fn = scale_fn
        self.scale_mode = scale_mode
        super().__init__(base_learning_rate, last_epoch, verbose)

    def _scale_of_mode(self) -> Callable[[float], float]:
        gamma = self.gamma
        scales = {
            "triangular": lambda x: 1.0,
            "triangular2": lambda x: 1 / (2.0 ** (x - 1)),
            "exp_range": lambda x: gamma**x,
        }
        return scales[self.mode]

    def get_lr(self) -> float:
        """Computes the rate for the current epoch."""
        iterations = self.last_epoch
        # `place` in [0, 1) is the position within the cycle: a triangle with its top at `rise`.
        cycle = 1 + iterations // self.cycle_size
        place = 1.0 + iterations / self.cycle_size - cycle
        rise = self.step_up_pct
        if place <= rise:
            height = self.amplitude * (place / rise)
        else:
            height = self.amplitude * ((1 - place) / (1 - rise))
        if self.scale_mode == "cycle":
            return self.base_lr + height * self.scale_fn(cycle)
        return self.base_lr + height * self.scale_fn(iterations)
