"""Views of what trains: learning rates, optimizers, and Models with their history."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from typing import Any

from paddle_jax._core.base.out_of_memory import format_bytes
from paddle_jax._core.tensors.held_values import element_count
from paddle_jax.hapi.model import Model
from paddle_jax.optimizer.lr import LRScheduler, ReduceOnPlateau
from paddle_jax.optimizer.optimizer import Optimizer
from paddle_jax.views.layers import layer_body
from paddle_jax.views.markup import (
    Markup,
    chip,
    counted,
    curves,
    fold,
    head,
    joined,
    number,
    row,
    soft,
    table,
    view,
)

_STEPS = 100  # that are drawn where a schedule names no length of its own
_MOST_STEPS = 5000
_MOST_POINTS = 400  # of a curve
# attributes of schedulers that say after how many steps something happens
_LENGTHS = (
    "T_max",
    "total_steps",
    "decay_steps",
    "step_size",
    "warmup_steps",
    "T_0",
    "total_iters",
    "step_size_up",
)


def scheduler_view(scheduler: LRScheduler) -> Markup:
    """The view of a schedule: its rate now, and the curve from here on."""
    facts = [
        head(type(scheduler).__name__),
        chip(f"rate {number(scheduler.last_lr)}"),
        chip(f"step {scheduler.last_epoch}"),
    ]
    return view(row(*facts), _rates(scheduler))


def _rates(scheduler: LRScheduler) -> Markup:
    """The curve of a learning rate from the present step on."""
    if isinstance(scheduler, ReduceOnPlateau):
        return soft("the rate falls when the metric stalls: no curve is known before")
    steps, rates = next_rates(scheduler, _horizon(scheduler))
    last = int(steps[-1])
    return curves([("learning rate", steps, rates)], f"learning rate of steps {int(steps[0])} to {last}")


def next_rates(scheduler: LRScheduler, count: int) -> tuple[list[float], list[float]]:
    """The present and the next `count` steps with their rates; the scheduler stays as it is."""
    # A copy, as steps would move the user's scheduler.
    moving = copy.deepcopy(scheduler)
    moving.verbose = False
    steps = [float(moving.last_epoch)]
    rates = [float(moving.last_lr)]
    for _ in range(count):
        try:
            moving.step()
        except ValueError:  # OneCycleLR ends with its last step
            break
        steps.append(float(moving.last_epoch))
        rates.append(float(moving.last_lr))
    every = -(-len(steps) // _MOST_POINTS)
    if every > 1:
        steps = [*steps[::every], steps[-1]]
        # The last point stays, so that the curve has its end.
        rates = [*rates[::every], rates[-1]]
    return steps, rates


def _horizon(scheduler: LRScheduler) -> int:
    """How many steps are drawn: about two periods."""
    inner = getattr(scheduler, "learning_rate", None)  # of LinearWarmup
    found = [getattr(scheduler, name, None) for name in _LENGTHS]
    lengths = [2 * int(n) for n in found if isinstance(n, int | float) and n > 0]
    for name in ("boundaries", "milestones"):
        ends = getattr(scheduler, name, None)
        if ends:
            # A little beyond the last boundary.
            lengths.append(math.ceil(1.25 * max(ends)))
    if isinstance(inner, LRScheduler):
        lengths.append(_horizon(inner) + max(lengths, default=0) // 2)
    return min(max([*lengths, 10 if lengths else _STEPS]), _MOST_STEPS)


def optimizer_view(optimizer: Optimizer) -> Markup:
    """The view of an optimizer: settings, parameters, the size of its state, the learning rate."""
    rate = optimizer._learning_rate
    parameters = list(optimizer._all_params()) if optimizer._parameter_list is not None else []
    elements = sum(map(element_count, parameters))
    facts = [head(type(optimizer).__name__), chip(f"rate {number(float(optimizer.get_lr()))}")]
    facts += [chip(counted(elements, "parameter")), chip(f"in {counted(len(parameters), 'Tensor')}")]
    if len(optimizer._groups) > 1:
        facts.append(chip(counted(len(optimizer._groups), "group")))
    states = [value for _, _, value in optimizer._entries()]
    if states:
        facts.append(chip(f"state {format_bytes(sum(_nbytes(value) for value in states))}"))
    parts = [row(*facts), row(*[soft(text) for text in _settings(optimizer)])]
    if isinstance(rate, LRScheduler):
        parts += [row(soft(type(rate).__name__)), _rates(rate)]
    if optimizer._slots:
        parts.append(row(soft(f"state of each parameter: {', '.join(optimizer._slots)}")))
    return view(*parts)


def _nbytes(value: Any) -> int:
    return math.prod(value.shape) * value.dtype.itemsize


def _settings(optimizer: Optimizer) -> Iterable[str]:
    """The settings of an optimizer in words."""
    for name in ("_momentum", "_beta1", "_beta2", "_epsilon", "_rho", "_coeff"):
        value = getattr(optimizer, name, None)
        if isinstance(value, int | float):
            yield f"{name.strip('_')} {number(value)}"
    if optimizer.regularization is not None:
        yield f"weight decay {optimizer.regularization}"
    if optimizer._grad_clip is not None:
        yield f"gradients clipped by {type(optimizer._grad_clip).__name__}"


def history_curves(history: list[dict[str, float]]) -> Markup:
    """Losses of epochs as lines; those of evaluations are dashed."""
    series = []
    for name in sorted({name for entry in history for name in entry if name.endswith("loss")}):
        known = [entry for entry in history if name in entry]
        series.append((name, [entry["epoch"] for entry in known], [entry[name] for entry in known]))
    series.sort(key=lambda line: line[0].startswith("eval"))
    return curves(series, "losses by epoch", "epoch")


def history_table(history: list[dict[str, float]]) -> Markup:
    """One row for each epoch."""
    names = list(dict.fromkeys(name for entry in history for name in entry))
    return table(names, [[entry.get(name, "") for name in names] for entry in history])


def model_view(model: Model) -> Markup:
    """The view of a `paddle.Model`: its network, and the history of its last `fit`."""
    facts = [head("Model"), chip(type(model.network).__name__), chip(model.mode)]
    optimizer = model._optimizer
    if optimizer is not None:
        facts.append(chip(f"{type(optimizer).__name__}, rate {number(float(optimizer.get_lr()))}"))
    facts += [chip(name) for metric in model._metrics for name in _names(metric)]
    parts = [row(*facts)]
    if model._history:
        parts += [history_curves(model._history), history_table(model._history)]
    parts.append(fold("network", layer_body(model.network)))
    return view(joined(parts))


def _names(metric: Any) -> list[str]:
    found = metric.name()
    if isinstance(found, str):
        return [found]
    return list(found)
