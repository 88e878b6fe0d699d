"""Stop watches by name, for the parts of a training step."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from paddle_jax.device import synchronize

_GLOBAL_TIMERS = None


class _Timer:
    """A stop watch that waits for the device before it looks at the clock."""

    name: str

    def __init__(self, name: str) -> None:
        self.name, self.elapsed_, self.started_, self.start_time = name, 0.0, False, time.time()

    def start(self) -> None:
        """Starts it.

        Raises:
            AssertionError: it runs already.
        """
        if self.started_:
            raise AssertionError("timer has already started")
        # Work that is under way belongs to the time before.
        synchronize()
        self.start_time: float = time.time()
        self.started_ = True

    def stop(self) -> None:
        """Stops it; the time counts from now on.

        Raises:
            AssertionError: it does not run.
        """
        if not self.started_:
            raise AssertionError("timer is not started.")
        # Results may still be computed in the background; their time counts.
        synchronize()
        self.elapsed_ += time.time() - self.start_time
        self.started_ = False

    def reset(self) -> None:
        """Forgets the time."""
        self.elapsed_: float = 0.0
        self.started_: bool = False

    def elapsed(self, reset: bool = True) -> float:
        """The seconds that it has run, up to now. reset: whether it begins at 0 afterwards."""
        # A running watch is stopped to read it, and goes on from here.
        was_running = self.started_
        if was_running:
            self.stop()
        seconds = self.elapsed_
        if reset:
            self.reset()
        if was_running:
            self.start()
        return seconds


class _GPUEventTimer(_Timer):
    """A stop watch for work of a device. All stop watches here wait for the device."""


class Timers:
    """Stop watches by name: `timers("forward").start()`."""

    def __init__(self) -> None:
        self.timers: dict[Any, Any] = {}

    def __call__(self, name: str, use_event: bool = False) -> _Timer:
        """The stop watch of a name.

        Args:
            name: str.
            use_event: bool, whether it is one for the device.
        Raises:
            AssertionError: the name has one of the other kind.
        """
        kind = _GPUEventTimer if use_event else _Timer
        timer = self.timers.setdefault(name, kind(name))
        if type(timer) is not kind:
            raise AssertionError(
                f"Timers: {name!r} is a {type(timer).__name__}; use_event must be the same in all calls"
            )
        return timer

    def log(self, names: Sequence[str], normalizer: float = 1.0, reset: bool = True) -> None:
        """Prints times.

        Args:
            names: list of names.
            normalizer: number that they are divided by, such as the count of steps.
            reset: whether they begin at 0 afterwards.
        Raises:
            AssertionError: normalizer is not positive.
        """
        if normalizer <= 0:
            raise AssertionError(f"log: normalizer: got {normalizer}; it must be positive")
        times = [f"{name}: {self.timers[name].elapsed(reset) * 1000 / normalizer:.2f}" for name in names]
        print(" | ".join(["time (ms)", *times]), flush=True)


def is_timer_initialized() -> bool:
    """Whether `set_timers` has been called."""
    return _GLOBAL_TIMERS is not None


def set_timers() -> None:
    """Makes the stop watches of the program.

    Raises:
        AssertionError: there are some.
    Example:
        >>> from paddle_jax.distributed.fleet.utils import timer_helper
        >>> timer_helper.set_timers()
        >>> timers = timer_helper.get_timers()
        >>> timers("step").start(); timers("step").stop()
        >>> timers("step").elapsed() > 0
        True
    """
    global _GLOBAL_TIMERS  # noqa: PLW0603  one for the program, under the name that Paddle has
    if is_timer_initialized():
        raise AssertionError("timers has been already initialized.")
    _GLOBAL_TIMERS = Timers()


def get_timers() -> Timers:
    """The stop watches of the program.

    Raises:
        AssertionError: `set_timers` has not been called.
    """
    if _GLOBAL_TIMERS is None:
        raise AssertionError("timers is not initialized.")
    return _GLOBAL_TIMERS


__all__ = []
