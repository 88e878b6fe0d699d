"""Static programs whose processes update by their own gradients, and average their Parameters now and then.

`strategy.localsgd` averages every `k_steps` runs. With `strategy.adaptive_localsgd` the loss and the learning
rate decide the number of runs (Wang and Joshi, Adaptive Communication Strategies to Achieve the Best
Error-Runtime Trade-off in Local-Update SGD).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle_jax._core.lazy.transfer import to_array, to_numpy
from paddle_jax._core.process_group import collectives
from paddle_jax._core.tensors.held_values import computed_array
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax._program.composites import eager_mode
from paddle_jax._program.parameters import declare_variable
from paddle_jax._program.program import Program
from paddle_jax.distributed.data_parallel import averaged
from paddle_jax.distributed.fleet.static_sharding import copy_name
from paddle_jax.distributed.fleet.static_switches import WHERE, refuse_together, stored_number
from paddle_jax.optimizer import SGD, Momentum

# Names of Variables in the Scope, as in Paddle.
_COUNT = "@STEP_COUNTER@"
_LAST = "last_step"
_INTERVAL = "k_steps"
_FIRST_LOSS = "loss_0"
_FIRST_RATE = "lr_0"
_MOST_STEPS = 16
# What an exchange of gradients needs, or what updates the Parameters elsewhere.
_EXCLUDED = ("gradient_merge", "sharding", "fp16_allreduce", "tensor_parallel")


class LocalSteps:
    """When the processes average their Parameters.

    The counts are Variables in the Scope, so that they are saved with the states of the optimizer.

    Attributes:
        group: Group of the processes.
        first_interval: number of runs between two averages, at first.
        begin: number of runs at the start after each of which Parameters are averaged.
        is_adaptive: whether the number of runs between two averages changes.
        names: list of the names of the Parameters.
        rate_name: name of the learning rate.
    """

    def __init__(self, group: Any, first_interval: int, begin: int, is_adaptive: bool) -> None:
        self.group = group
        self.first_interval = first_interval
        self.begin = begin
        self.is_adaptive = is_adaptive
        self.names: list[str] = []
        self.rate_name: str = ""

    def declare(self, program: Program, startup: Program | None) -> None:
        """Puts the counts into the Scope when the startup program runs."""
        first = {_COUNT: 0, _LAST: self.begin, _INTERVAL: self.first_interval}
        for name, value in first.items():
            _declare(program, startup, name, np.array([value], np.int64))
        if self.is_adaptive:
            for name in (_FIRST_LOSS, _FIRST_RATE):
                _declare(program, startup, name, np.zeros([1], np.float32))

    def add(self, program: Program, pairs: Sequence[tuple[Any, Any]]) -> None:
        """Adds the Parameters of pairs of Parameter and gradient, whose update is in the program."""
        self.names += [param.name for param, _ in pairs if param.name not in self.names]
        self.rate_name = next(iter(program.learning_rates))

    def after_update(self, values: dict[str, Any], loss: Any, size: int) -> None:
        """Averages the Parameters if it is time to.

        Args:
            values: the values of the Variables by name.
            loss: the loss of this process in this run.
            size: bytes that travel together.
        """
        count = stored_number(values, _COUNT) + 1
        values[_COUNT] = np.array([count], np.int64)
        if self.is_adaptive and count == 1:
            values[_FIRST_LOSS] = self._mean_loss(loss)
            values[_FIRST_RATE] = _rate(values, self.rate_name)
        is_local = count > self.begin
        if is_local and count - stored_number(values, _LAST) != stored_number(values, _INTERVAL):
            return
        self._average(values, size)
        values[_LAST] = np.array([count], np.int64)
        if self.is_adaptive and is_local:
            values[_INTERVAL] = np.array([self._next_interval(values, loss)], np.int64)

    def _average(self, values: dict[str, Any], size: int) -> None:
        # Copies in float32 of Parameters of low precision are averaged as well.
        copies = [copy_name(name) for name in self.names if copy_name(name) in values]
        names = [*self.names, *copies]
        with eager_mode():
            tensors = [wrap(to_array(values[name])) for name in names]
            averaged(tensors, self.group, size)
            values.update(zip(names, map(computed_array, tensors), strict=True))

    def _mean_loss(self, loss: Any) -> np.ndarray:
        """The mean of the losses of all processes."""
        own = np.asarray(to_numpy(loss), np.float32).reshape(1)
        found = self.group.process_group.all_reduce(own, collectives.AVG, "localsgd: loss: all_reduce")
        return np.asarray(found)

    def _next_interval(self, values: dict[str, Any], loss: Any) -> int:
        """The number of runs until the next average: fewer where the loss is lower, more where the learning
        rate is."""
        first_loss = float(to_numpy(to_array(values[_FIRST_LOSS]))[0])
        first_rate = float(to_numpy(to_array(values[_FIRST_RATE]))[0])
        divisor = float(_rate(values, self.rate_name)[0]) * first_loss
        product = first_rate * float(self._mean_loss(loss)[0]) * self.first_interval
        # A loss or rate of zero, or one that is not finite, says nothing: then Parameters are averaged soon.
        if divisor == 0 or not math.isfinite(product / divisor) or product / divisor < 0:
            return 1
        return min(max(math.ceil(math.sqrt(product / divisor)), 1), _MOST_STEPS)


def _declare(program: Program, startup: Program | None, name: str, value: np.ndarray) -> None:
    declare_variable(program, name, value.shape, value.dtype, lambda: value, startup=startup)


def _rate(values: dict[str, Any], name: str) -> np.ndarray:
    return np.asarray(to_numpy(to_array(values[name])), np.float32).reshape(1)


def local_steps(strategy: Any, optimizer: Any, group: Any) -> LocalSteps | None:
    """The LocalSteps of a strategy; None where it asks for none.

    Args:
        strategy: DistributedStrategy.
        optimizer: the one that updates.
        group: Group of all processes.
    Raises:
        NotImplementedError: the optimizer is none of SGD and Momentum, or the strategy asks for more.
        ValueError: both kinds are asked for, or a number is below 1.
    """
    chosen = [name for name in ("localsgd", "adaptive_localsgd") if getattr(strategy, name)]
    if not chosen:
        return None
    if len(chosen) > 1:
        raise ValueError(f"{WHERE}: got localsgd and adaptive_localsgd; choose one of them")
    (name,) = chosen
    if type(optimizer) not in (SGD, Momentum):
        raise NotImplementedError(
            f"{WHERE}: {name} with {type(optimizer).__name__}; give SGD or Momentum, or leave it out"
        )
    refuse_together(strategy, name, _EXCLUDED)
    configs = getattr(strategy, f"{name}_configs")
    is_adaptive = name == "adaptive_localsgd"
    key = "init_k_steps" if is_adaptive else "k_steps"
    for one in (key, "begin_step"):
        if configs[one] < 1:
            raise ValueError(f"{WHERE}.{name}_configs: {one}: got {configs[one]}; it must be 1 or more")
    return LocalSteps(group, configs[key], configs["begin_step"], is_adaptive)


__all__ = ["LocalSteps", "local_steps"]
