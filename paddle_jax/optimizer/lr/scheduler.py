"""The base class of all schedulers and the checks they share."""

from __future__ import annotations

import functools as ft
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.errors import require_dict
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.module_protocol import CapturedState
from paddle_jax._core.tensors.tensor import Tensor

if TYPE_CHECKING:
    from paddle_jax._annotations import StateDict


def need(condition: Any, message: str, error: type[Exception] = AssertionError) -> None:
    """Raises `error(message)` unless the condition holds (Paddle raises AssertionError for most
    scheduler settings)."""
    if not condition:
        raise error(message)


def need_type(value: Any, types: Any, owner: str, argument: str) -> None:
    """Raises TypeError unless `value` is an instance of `types`."""
    if not isinstance(value, types):
        allowed = " or ".join(t.__name__ for t in (types if isinstance(types, tuple) else (types,)))
        raise TypeError(f"{owner}: {argument}: got {type(value).__name__}; pass {allowed}.")


def _on_host(step: Callable[..., Any]) -> Callable[..., Any]:
    """A `step` that a function being compiled repeats at each of its calls: it changes
    Python numbers only."""

    @ft.wraps(step)
    def stepped(self: LRScheduler, *args: Any, **kwargs: Any) -> Any:
        return local.ctx.frame.host_effect(step, self, args, kwargs)

    return stepped


class LRScheduler:
    """Computes a learning rate from a step count; the base class of every scheduler.

    A subclass sets its own attributes, calls `super().__init__(learning_rate, last_epoch, verbose)` and
    defines `get_lr()`, which reads `self.last_epoch`, `self.base_lr` and `self.last_lr`. Pass a scheduler as
    the `learning_rate` of an optimizer and call `step()` once per batch or per epoch.

    Args:
        learning_rate: float, the rate the schedule starts from. Not negative. Default 0.1.
        last_epoch: int, index of the last epoch, to resume a schedule. Default -1: from the start.
        verbose: print one line at every change. Default False.
    Attributes:
        last_epoch, verbose: as given.
        base_lr: float, the first learning rate.
        last_lr: float, the present learning rate.
        _var_name: str or None, its variable in a static program.
        step: method of the class; a compiled program calls it on the host.
        keys: list of str, the attributes that a state dict has.
    Raises:
        TypeError: `learning_rate` is not an int or float.
        ValueError: `learning_rate` is negative.
    Example:
        >>> class Halve(paddle.optimizer.lr.LRScheduler):
        ...     def get_lr(self):
        ...         return self.base_lr * 0.5**self.last_epoch
        >>> rate = Halve(0.8)
        >>> rate.step()
        >>> rate()
        0.4
    """

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False) -> None:
        need_type(learning_rate, (float, int), type(self).__name__, "learning_rate")
        need(
            learning_rate >= 0,
            f"{type(self).__name__}: learning_rate: got {learning_rate}; it may not be negative.",
            ValueError,
        )
        self.base_lr: float = float(learning_rate)
        self.last_lr: float = float(learning_rate)
        self.last_epoch: int = last_epoch
        self.verbose = verbose
        self._var_name = None
        # A new schedule moves to epoch 0 here.
        self.step()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Subclasses may have a `step` of their own.
        if "step" in cls.__dict__:
            cls.step = _on_host(cls.step)

    def __paddle_jax_state__(self) -> CapturedState:
        """Nothing: compiled code asks the Frame for each rate."""
        return CapturedState()

    def __call__(self) -> float:
        """Returns the current learning rate (a float)."""
        return local.ctx.frame.guarded_value(lambda: self.last_lr)

    def get_lr(self) -> float:
        """Computes the rate for `self.last_epoch`; a subclass must define it."""
        raise NotImplementedError(
            f"{type(self).__name__}: get_lr() is not defined; a scheduler must define it."
        )

    @_on_host
    def step(self, epoch: int | None = None) -> None:
        """Moves the schedule on by one, or to `epoch`, and computes the new rate.

        Args:
            epoch: int, the epoch to jump to. Default None: the next one.
        Example:
            >>> rate = paddle.optimizer.lr.StepDecay(0.5, step_size=2)
            >>> rate.step(2)
            >>> rate()
            0.05
        """
        if epoch is None:
            self.last_epoch = self.last_epoch + 1
        else:
            self.last_epoch = epoch
        # A schedule that get_lr() computes from the last rate cannot jump; it may give a formula for that.
        if epoch is None:
            closed_form = None
        else:
            closed_form = getattr(self, "_get_closed_form_lr", None)
        self.last_lr = closed_form() if closed_form else self.get_lr()
        self._tell()

    def _tell(self) -> None:
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to {self.last_lr}.")

    def state_keys(self) -> None:
        """Sets `self.keys`, the names of the attributes that `state_dict()` stores; override
        it to store more."""
        self.keys: list[str] = ["last_epoch", "last_lr"]

    def state_dict(self) -> StateDict:
        """Returns the scheduler's state: a dict of the attributes named by `state_keys()`; one-element
        Tensors become floats.

        Example:
            >>> paddle.optimizer.lr.ExponentialDecay(0.5, gamma=0.9).state_dict()
            {'last_epoch': 0, 'last_lr': 0.5}
        """
        # A subclass names its own attributes there.
        self.state_keys()
        return {key: _plain(self.__dict__[key]) for key in self.keys if key in self.__dict__}

    def set_state_dict(self, state_dict: StateDict) -> None:
        """Takes over a state made by `state_dict()`.

        Args:
            state_dict: dict with every name of `state_keys()`. Further entries are ignored with a warning.
        Raises:
            RuntimeError: a name is missing.
            TypeError: state_dict is None or another thing that has no names.
        Example:
            >>> rate = paddle.optimizer.lr.ExponentialDecay(0.5, gamma=0.9)
            >>> rate.set_state_dict({'last_epoch': 3, 'last_lr': 0.25})
            >>> rate()
            0.25
        """
        if not hasattr(state_dict, "__contains__"):
            require_dict("set_state_dict", state_dict)
        self.state_keys()
        for key in self.keys:
            if key not in state_dict:
                raise RuntimeError(
                    f"{type(self).__name__}: state_dict: {key!r} is missing; "
                    "pass the dict that state_dict() returned."
                )
            self.__dict__[key] = state_dict[key]
        unused = self._unused(state_dict)
        if unused:
            warnings.warn(
                f"{type(self).__name__}: state_dict: unused entries {unused}; "
                "was it saved by another scheduler?",
                stacklevel=2,
            )

    set_dict = set_state_dict

    def _unused(self, state_dict: StateDict) -> list[str]:
        return sorted(set(state_dict) - set(self.keys))


def _plain(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    need(
        value.size == 1,
        f"LRScheduler: state_dict: a Tensor of shape {list(value.shape)}; only one element can be stored.",
    )
    return float(value.item())
