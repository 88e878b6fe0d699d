"""`minimize` in static Programs: the optimizers' own update rules as one operation; their states are
Variables in the Scope."""

from __future__ import annotations

import functools as ft
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base import unique_name
from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.tensors.held_values import held_symbol, holds_symbol
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.parameters import declare_variable
from paddle_jax._program.program import Program, program_guard
from paddle_jax._program.scope import global_scope
from paddle_jax.nn.clip import ClipGradByValue, clip_all
from paddle_jax.optimizer.static_updates import StaticUpdates
from paddle_jax.optimizer.update import compiled
from paddle_jax.static.backward import append_backward

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import jax

    from paddle_jax._annotations import DTypeLike
    from paddle_jax._program.operation import Operation
    from paddle_jax.optimizer.optimizer import Optimizer


class Rate:
    """The learning rate of an optimizer in a program, a Variable in the Scope."""

    def __init__(self, optimizer: Optimizer, program: Program, startup: Program | None) -> None:
        self.optimizer = optimizer
        self.given: float | None = None
        self.variable: Any = declare_variable(
            program,
            unique_name.generate("learning_rate"),
            (),
            np.dtype(np.float32),
            lambda: np.float32(optimizer.get_lr()),
            startup=startup,
        )
        program.learning_rates[self.variable.name] = self

    def rate_now(self, held: Any) -> Any:
        """The value for a run: that of the optimizer, or what was put into the Scope by hand
        since the last run."""
        value = self.optimizer.get_lr()
        # A scheduler has moved on, or the user has set another rate.
        if held is None or value != self.given:
            self.given = value
            return np.float32(value)
        # Values in the Scope were put there by hand.
        return held


def minimize(
    optimizer: Optimizer,
    loss: Tensor,
    startup_program: Program | None = None,
    parameters: Sequence[Tensor] | None = None,
    no_grad_set: Iterable[Tensor | str] | None = None,
) -> tuple[list[Operation], list[tuple[Tensor, Tensor]]]:
    """Adds gradients and updates to the program of the loss; returns (operations, pairs of
    Parameter and gradient)."""
    hook = held_symbol(loss).program.hook
    if hook is not None:
        raise RuntimeError(
            f"{type(optimizer).__name__}.minimize: the program {hook.purpose}; use "
            "fleet.distributed_optimizer(optimizer).minimize(loss)"
        )
    pairs = backward(optimizer, loss, parameters, no_grad_set)
    return apply_gradients(optimizer, pairs, held_symbol(loss).program, startup_program), pairs


def backward(
    optimizer: Optimizer,
    loss: Tensor,
    parameters: Sequence[Tensor] | None = None,
    no_grad_set: Iterable[Tensor | str] | None = None,
    callbacks: Sequence[Callable[..., None]] = None,
) -> list[tuple[Tensor, Tensor]]:
    """The pairs of Parameter and gradient that an optimizer updates by."""
    # The parameters given to the optimizer; without any all that the loss depends on.
    chosen = parameters or list(optimizer._all_params()) or None
    if chosen is None and optimizer._updates_nothing:
        return []
    pairs = append_backward(loss, chosen, no_grad_set, callbacks, optimizer._checkpoints)
    return [(p, g) for p, g in pairs if g is not None]


def apply_gradients(
    optimizer: Optimizer,
    pairs: Sequence[tuple[Tensor, Tensor]],
    program: Program | None = None,
    startup_program: Program | None = None,
) -> list[Operation]:
    """Adds the updates for given gradients; returns the operations."""
    if not pairs and optimizer._updates_nothing:
        return []
    if not pairs:
        raise ValueError(
            f"{type(optimizer).__name__}: there is no Parameter to update: "
            "the loss depends on none that is trainable"
        )
    # Users' optimizers may overwrite the method, and their code cannot become one operation.
    if optimizer._updates_alone():
        raise NotImplementedError(
            f"{type(optimizer).__name__}: in a static program its _append_optimize_op "
            "is not called; train in dynamic mode, or with paddle.jit.to_static"
        )
    recorder = local.ctx.frame
    if not isinstance(program, Program):
        program = recorder.program
    # One rate for each optimizer in a program.
    rate = next((r for r in program.learning_rates.values() if r.optimizer is optimizer), None) or Rate(
        optimizer, program, startup_program
    )
    groups = [
        (g, [(p, grad) for p, grad in pairs if any(p is q for q in g.params)]) for g in optimizer._groups
    ]
    rest = [(p, grad) for p, grad in pairs if not any(p is q for g in optimizer._groups for q in g.params)]
    # A single group without parameters of its own has all of them.
    if len(groups) == 1 and not groups[0][1]:
        groups = [(groups[0][0], rest)]
    start = len(program.ops)
    with program_guard(program, startup_program):
        for group, own in groups:
            if own:
                _update(optimizer, group, own, program, rate, startup_program)
    return program.ops[start:]


def _update(
    optimizer: Optimizer,
    group: Any,
    pairs: Sequence[tuple[Tensor, Tensor]],
    program: Program,
    rate: Rate,
    startup: Program | None,
) -> None:
    clip = group.settings.get("grad_clip", optimizer._grad_clip)
    _check_parts(optimizer, clip, pairs)
    rule = None
    # Clipping by norm is part of the rule, so that it sees all gradients at once.
    if clip is not None and optimizer._clips_inside(clip):
        rule = clip.rule()
    elif clip is not None:
        pairs = [(p, g) for p, g in clip(pairs) if g is not None]
    if optimizer._updated_names is not None:
        # Other processes update the rest. All gradients count in a norm that they are clipped by.
        if rule is not None:
            pairs = _clipped(rule, pairs)
            rule = None
        pairs = [(p, g) for p, g in pairs if p.name in optimizer._updated_names]
        if not pairs:
            return
    params = [p for p, _ in pairs]
    grads = [g for _, g in pairs]
    states = [_states(optimizer, group, p, program, startup) for p in params]
    extras = [optimizer._columns([p], group.settings) for p in params]
    # Updates differ by more than the settings: states and columns of each parameter.
    layout = tuple((tuple(s), tuple(e)) for s, e in zip(states, extras, strict=True))
    skip = optimizer._skip
    kernel = _kernel(
        compiled(type(optimizer)._rule, optimizer._hyper(group.settings), rule), layout, skip is not None
    )
    recorder = local.ctx.frame
    flat = [rate.variable, *params, *grads, *[v for s in states for v in s.values()]]
    symbols = [recorder.symbol(t) for t in flat]
    # Settings that differ between parameters are operands.
    for columns in extras:
        symbols += [held_symbol(recorder.constant(v)) for v in columns.values()]
    if skip is not None:
        symbols.append(skip)
    outs = recorder.record(kernel, symbols, [True] * len(symbols))
    # Parameters and their states stand for the new values, which a run stores.
    for target, out in zip([*params, *[v for s in states for v in s.values()]], outs, strict=True):
        program.write(target, held_symbol(out))


def _clipped(rule: tuple[Any, ...], pairs: Sequence[tuple[Tensor, Tensor]]) -> list[tuple[Tensor, Tensor]]:
    """The pairs with clipped gradients, by an operation of its own."""
    chosen = [getattr(param, "need_clip", True) for param, _ in pairs]
    symbols = [held_symbol(grad) for (_, grad), is_chosen in zip(pairs, chosen, strict=True) if is_chosen]
    if not symbols:
        return list(pairs)
    outs = iter(local.ctx.frame.record(_clip_kernel(rule), symbols, [True] * len(symbols)))
    return [
        (param, next(outs) if is_chosen else grad)
        for (param, grad), is_chosen in zip(pairs, chosen, strict=True)
    ]


@ft.lru_cache(maxsize=64)
def _clip_kernel(rule: tuple[Any, ...]) -> Kernel:
    """The clipping of gradients as a kernel."""
    return Kernel("clip_gradients", lambda *grads: tuple(clip_all(rule, list(grads))), nondiff=True)


def _check_parts(optimizer: Optimizer, clip: Any, pairs: Sequence[tuple[Tensor, Tensor]]) -> None:
    """Refuses norms of weights and gradients of which this process has a part."""
    parts = [param.name for param, _ in pairs if getattr(param, "is_distributed", False)]
    if not parts:
        return
    # The norm of values is that of each element: parts are no problem there.
    by_norm = clip is not None and not isinstance(clip, ClipGradByValue)
    if by_norm or optimizer._takes_norms:
        raise NotImplementedError(
            f"{type(optimizer).__name__}: {parts[0]}: a process has a part of it, and the norm of a part is "
            "not that of the whole; clip by value, with an optimizer that takes no norms"
        )


def _states(
    optimizer: Optimizer, group: Any, param: Tensor, program: Program, startup: Program | None
) -> dict[str, Tensor]:
    """The state Variables of a Parameter, by slot."""
    raw = held_symbol(param)
    if not jnp.issubdtype(raw.dtype, jnp.floating):
        raise RuntimeError(
            f"{type(optimizer).__name__}: parameters: {param.name} is {raw.dtype}; "
            "only floating-point ones can be updated."
        )
    # States of low precision are float32.
    wide = jnp.promote_types(raw.dtype, np.dtype("float32"))
    found = {}
    for slot in optimizer._slots:
        lead, value, dtype = optimizer._slot_init(slot, group.settings)
        # A state of one number, such as the power of a decay.
        shape = (1,) if lead is None else (*lead, *raw.shape)
        dtype = np.dtype(dtype or wide)
        fill = ft.partial(np.full, shape, value, dtype)
        found[slot] = _held(program, optimizer._state_name(param, slot), shape, dtype, fill, startup)
    # The copy in float32 takes the small updates that a low precision loses.
    if optimizer._multi_precision and str(raw.dtype) in ("float16", "bfloat16"):
        name = param.name
        found["master"] = _held(
            program,
            name + "_fp32_master_0",
            raw.shape,
            np.dtype(wide),
            # After the parameter itself was filled: initializers run in this order.
            lambda: global_scope().values[name].astype(wide),
            startup,
        )
    return found


def _held(
    program: Program,
    name: str,
    shape: Sequence[int],
    dtype: DTypeLike,
    fill: Callable[[], Any],
    startup: Program | None,
) -> Tensor:
    found = program.vars.get(name)
    if found is None:
        return declare_variable(program, name, shape, dtype, fill, startup=startup)
    return found


@ft.lru_cache(maxsize=256)
def _kernel(
    update: Any, layout: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...], skips: bool = False
) -> Kernel:
    """The update as a kernel: (rate, parameters, gradients, states, columns, skip where it `skips`) ->
    (parameters, states).

    Each parameter is a stack of its own."""
    count = len(layout)

    def fn(rate: jax.Array, *flat: jax.Array) -> tuple[jax.Array, ...]:
        values = iter(flat)
        # Each parameter is a stack of one: the rules work on stacks of equal parameters.
        params, grads = ([[next(values)] for _ in range(count)] for _ in range(2))
        states = [{slot: next(values)[None] for slot in slots} for slots, _ in layout]
        columns = [{name: next(values) for name in names} for _, names in layout]
        results = update.function(states, params, grads, columns, rate, None, next(values) if skips else None)
        kept = iter(results[count:])
        # The rule gives its states in the order of their names.
        kept = [{slot: next(kept)[0] for slot in sorted(slots)} for slots, _ in layout]
        return (*results[:count], *[kept[i][slot] for i, (slots, _) in enumerate(layout) for slot in slots])

    return Kernel("optimizer_step", fn, nondiff=True)


def in_static(loss_or_pairs: Any) -> bool:
    """Whether a call of an optimizer concerns a static program."""
    first = loss_or_pairs
    # Nested pairs: the first Tensor decides.
    while isinstance(first, list | tuple) and first:
        first = first[0]
    return isinstance(first, Tensor) and holds_symbol(first)


StaticUpdates.minimize = minimize
StaticUpdates.backward = backward
StaticUpdates.apply_gradients = apply_gradients

__all__ = ["apply_gradients", "backward", "in_static", "minimize"]
