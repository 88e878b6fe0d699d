"""The compiled update: clipping, weight decay and the optimizer's rule over stacks of equally shaped
parameters, in one call.

A *stack* is a list of up to 32 small parameters of one shape and dtype (large ones stand alone). Their
optimizer state lives in arrays with a leading axis over the stack, so that a call passes one array per state
and stack instead of one per state and parameter: passing arrays is what a step over many parameters costs.
Where the rule allows it, parameters of all shapes are in one *flat* stack (flat.py). State buffers belong to
the optimizer alone and are donated; parameters and gradients are not.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.interrupt_safe import InterruptSafeCall, interrupt_safe_jit
from paddle_jax._core.ops.fast_tracing import is_loop_free, without_inner_jit
from paddle_jax._core.tensors.layout import constrain, with_leading_axes
from paddle_jax.nn.clip import clip_stack, global_scale, square_sum
from paddle_jax.optimizer import flat
from paddle_jax.optimizer.flat import FLAT, ROWS

if TYPE_CHECKING:
    from paddle_jax._annotations import Slots, UpdateResult


def _wide(grads: Sequence[Any], dtype: Any, form: Any) -> jax.Array:
    """The gradients of a stack as one array. Those of some rows of a table are (gradients, row numbers)."""
    if form is ROWS:
        # The row numbers are no gradients.
        grads = grads[:1]
    return _stacked(grads, dtype, form)


def _column(vector: jax.Array, like: jax.Array) -> jax.Array:
    """A vector over the stack, shaped to broadcast with a stack of parameters."""
    return vector.reshape((-1,) + (1,) * (like.ndim - 1)).astype(like.dtype)


def _compute_dtype(dtype: Any) -> Any:
    # float64 stays as it is.
    return jnp.promote_types(dtype, np.dtype("float32"))


def _stacked(arrays: Sequence[jax.Array], dtype: Any, form: Any = None) -> jax.Array:
    whole = flat.joined(arrays, form is FLAT)
    if whole.dtype == dtype:
        return whole
    return whole.astype(dtype)


@ft.lru_cache(maxsize=256)
def compiled(
    rule: Callable[..., UpdateResult],
    hyper: tuple[tuple[str, Any], ...],
    clip: tuple[Any, ...] | None,
    forms: tuple[Any, ...] | None = None,
) -> InterruptSafeCall:
    """The update for a rule `(p, g, state, lr, **hyper) -> (p, state)` with fixed settings. It compiles once
    per structure of stacks.

    forms: for each stack FLAT, ROWS, None, or (layout of its parameters, (name, layout) of its states) if it
    is on several devices: the results lie so, and what is computed between lies as the states do.
    """
    settings = dict(hyper)

    def update(
        state: list[Slots],
        params: Sequence[Sequence[jax.Array]],
        grads: Sequence[Any],
        extras: Sequence[dict[str, Any]],
        lr: jax.Array,
        scale: Any,
        skip: jax.Array | None = None,
    ) -> list[jax.Array]:
        """The first four arguments are lists over stacks; see `Stack` for the extras. skip: bool array; True
        leaves everything as it is.

        Returns the new parameters, stack by stack; the new states, those of a stack by name; and what
        `p.grad` becomes (nothing, except for a global norm, which Paddle scales gradients by in place).
        """
        where = forms or [None] * len(params)
        # All arithmetic is in float32 at least; parameters are cast back at the end.
        wide = [
            _wide(g, _compute_dtype(p[0].dtype), form)
            for p, g, form in zip(params, grads, where, strict=True)
        ]
        wide = _clipped(clip, wide, extras, scale, params, where)
        results = []
        for given, form, *each in zip(grads, where, state, params, wide, extras, strict=True):
            if form is ROWS:
                results.append(_of_rows(rule, settings, *each, lr, skip, given[1]))
            else:
                results.append(_one(rule, settings, *each, form, lr, skip))
        # In a fixed order, in which the caller takes them apart.
        states = [slots[name] for _, slots in results for name in sorted(slots)]
        return (
            [p for same, _ in results for p in same] + states + _written_back(clip, grads, wide, skip, where)
        )

    def traced(*arguments: Any, **named: Any) -> list[jax.Array]:
        with without_inner_jit():
            return update(*arguments, **named)

    function = update
    if is_loop_free(rule):
        function = traced
    return InterruptSafeCall(interrupt_safe_jit(function, donate_argnums=0), "optimizer")


def _one(
    rule: Callable[..., UpdateResult],
    settings: dict[str, Any],
    old: Slots,
    params: Sequence[jax.Array],
    grad: jax.Array,
    extra: dict[str, jax.Array],
    form: Any,
    lr: jax.Array,
    skip: jax.Array | None,
) -> tuple[list[jax.Array], Slots]:
    """(new parameters, new states) of one stack."""
    layout = None if form is FLAT else form
    if "master" in old:
        param = old["master"]
    else:
        param = _stacked(params, grad.dtype, form)
    if layout is not None:
        # The update is computed in the layout of the states, to which gradient and parameters are brought.
        inside = next(
            (each for name, each in layout[1] if old[name].shape == grad.shape),
            with_leading_axes(layout[0], 1),
        )
        grad = constrain(grad, inside)
        param = constrain(param, inside)
    if form is FLAT and flat.is_uneven(old, extra):
        new, slots = _uneven(rule, settings, param, grad, old, extra, lr, params)
    else:
        new, slots = _masked(rule, settings, param, grad, old, extra, lr)
    new = new.astype(params[0].dtype)
    if skip is not None:
        # `skip` is known only on the device (loss scaling), so both values exist and one is chosen.
        new = jnp.where(skip, _stacked(params, new.dtype, form), new)
        slots = {name: jnp.where(skip, old[name], value) for name, value in slots.items()}
    if layout is not None:
        new = constrain(new, with_leading_axes(layout[0], 1))
        slots = {name: constrain(slots[name], each) for name, each in layout[1]}
    return flat.split(new, params, form is FLAT), slots


def _of_rows(
    rule: Callable[..., UpdateResult],
    settings: dict[str, Any],
    old: Slots,
    params: Sequence[jax.Array],
    grad: jax.Array,
    extra: dict[str, jax.Array],
    lr: jax.Array,
    skip: jax.Array | None,
    rows: jax.Array,
) -> tuple[list[jax.Array], Slots]:
    """As `_one` for a table of which these rows alone are updated. grad: [1, rows, width]. A row number
    behind the last row stands for none."""
    (table,) = params
    # States with a row for each row of the table, unlike a power of beta.
    whole = {name for name, value in old.items() if value.shape[1:] == table.shape}
    picked = {name: _rows_of(value, rows) if name in whole else value for name, value in old.items()}
    before = _rows_of(table[None], rows)
    if "master" in old:
        param = picked["master"]
    else:
        param = before.astype(grad.dtype)
    new, slots = _masked(rule, settings, param, grad, picked, extra, lr)
    new = new.astype(table.dtype)
    if skip is not None:
        new = jnp.where(skip, before, new)
        slots = {name: jnp.where(skip, picked[name], value) for name, value in slots.items()}
    slots = {
        name: old[name].at[0, rows].set(value[0], mode="drop") if name in whole else value
        for name, value in slots.items()
    }
    return [table.at[rows].set(new[0], mode="drop")], slots


def _rows_of(stack: jax.Array, rows: jax.Array) -> jax.Array:
    # A number behind the last row stands for none, and gets zeros.
    return stack.at[:, rows].get(mode="fill", fill_value=0)


def _masked(
    rule: Callable[..., UpdateResult],
    settings: dict[str, Any],
    param: jax.Array,
    grad: jax.Array,
    old: Slots,
    extra: dict[str, jax.Array],
    lr: jax.Array,
) -> UpdateResult:
    """(param, states) after the rule, as before where the mask says so."""
    new, slots = _ruled(rule, settings, param, _decayed(param, grad, extra), old, extra, lr)
    if "mask" in extra:
        new = jnp.where(_mask(extra, new), new, param)
        slots = {name: jnp.where(_mask(extra, value), value, old[name]) for name, value in slots.items()}
    return new, {name: value.astype(old[name].dtype) for name, value in slots.items()}


def _uneven(
    rule: Callable[..., UpdateResult],
    settings: dict[str, Any],
    param: jax.Array,
    grad: jax.Array,
    old: Slots,
    extra: dict[str, jax.Array],
    lr: jax.Array,
    params: Sequence[jax.Array],
) -> UpdateResult:
    """As `_masked` for a flat stack whose parameters have numbers of their own: they become numbers for each
    element on the way."""
    single = [name for name, value in old.items() if value.shape[1] == 1]
    wide = {name: flat.per_element(value, params) if name in single else value for name, value in old.items()}
    if "mask" in extra:
        extra = extra | {"mask": flat.per_element(extra["mask"], params)}
    new, slots = _masked(rule, settings, param, grad, wide, extra, lr)
    return new, flat.columns(slots, single, params)


def _ruled(
    rule: Callable[..., UpdateResult],
    settings: dict[str, Any],
    param: jax.Array,
    grad: jax.Array,
    old: Slots,
    extra: dict[str, jax.Array],
    lr: jax.Array,
) -> UpdateResult:
    """(param, states) after the rule; where there are master weights, they are among the states."""
    # Rules know of no master: it is the parameter that they are given.
    slots = {name: value for name, value in old.items() if name != "master"}
    rate = lr.astype(param.dtype)
    if "lr" in extra:
        rate = rate * _column(extra["lr"], param)
    marks = {name: _column(extra[name], param) for name in extra if name.startswith("rule_")}
    # Numbers such as 1 - beta2 are formed in the precision of the update, as in Paddle: in float32 they
    # differ from the exact ones.
    numbers = {
        name: param.dtype.type(value) if isinstance(value, float) else value
        for name, value in settings.items()
    }
    new, slots = rule(param, grad, slots, rate, **numbers, **marks)
    if "master" in old:
        slots = {**slots, "master": new}
    return new, slots


def _mask(extra: dict[str, jax.Array], like: jax.Array) -> jax.Array:
    mask = extra["mask"]
    # A mask of single numbers fits; one of whole parameters is widened.
    if mask.shape == like.shape:
        return mask
    return mask.reshape((-1,) + (1,) * (like.ndim - 1))


def _clipped(
    clip: tuple[Any, ...] | None,
    grads: Sequence[Any],
    extras: Sequence[dict[str, Any]],
    scale: Any,
    params: Sequence[Sequence[jax.Array]],
    forms: Sequence[Any],
) -> list[jax.Array]:
    if clip is None:
        return list(grads)
    if clip[0] == "global_norm":
        # A group of several calls has one scale for all, computed before.
        if scale is None:
            scale = global_scale(_total(grads, extras), clip[1])
        done = [g * scale.astype(g.dtype) for g in grads]
    else:
        done = [_clipped_apart(clip, *each) for each in zip(grads, params, forms, strict=True)]
    return [
        jnp.where(_column(e["free"], g) > 0, g, d) if "free" in e else d
        for g, d, e in zip(grads, done, extras, strict=True)
    ]


def _clipped_apart(
    clip: tuple[Any, ...], grad: jax.Array, params: Sequence[jax.Array], form: Any
) -> jax.Array:
    """Gradients of a stack, each clipped for itself."""
    # By value each number is clipped alone; norms are those of each parameter.
    if form is not FLAT or clip[0] == "value":
        return clip_stack(clip, grad)
    return flat.joined([clip_stack(clip, each[None])[0] for each in flat.split(grad, params, True)], True)


def _written_back(
    clip: tuple[Any, ...] | None,
    grads: Sequence[Any],
    clipped: Sequence[jax.Array],
    skip: jax.Array | None,
    forms: Sequence[Any],
) -> list[jax.Array]:
    """The clipped gradients in the form of the given ones, where clipping changes them in place."""
    # Paddle's other clips leave `p.grad` as it was.
    if clip is None or clip[0] != "global_norm":
        return []
    grads = [same[:1] if form is ROWS else same for same, form in zip(grads, forms, strict=True)]
    pieces = zip(grads, clipped, forms, strict=True)
    pairs = [
        (g, d.astype(g.dtype))
        for same, done, form in pieces
        for g, d in zip(same, flat.split(done, same, form is FLAT), strict=True)
    ]
    return [done if skip is None else jnp.where(skip, g, done) for g, done in pairs]


def _total(grads: Sequence[Any], extras: Sequence[dict[str, Any]]) -> Any:
    """The sum of squares of all gradients that are to be clipped."""
    return sum(
        # Parameters that are not clipped do not count.
        square_sum(jnp.where(_column(e["free"], g) > 0, 0, g) if "free" in e else g)
        for g, e in zip(grads, extras, strict=True)
    )


@ft.partial(jax.jit, static_argnums=2)
def square_total(grads: Sequence[Any], extras: Sequence[dict[str, Any]], forms: Sequence[Any]) -> Any:
    """The sum of squares over lists of gradients, for a group that is too large for one call."""
    return _total(
        [_wide(g, _compute_dtype(g[0].dtype), form) for g, form in zip(grads, forms, strict=True)], extras
    )


@ft.partial(jax.jit, static_argnums=1)
def scale_of(totals: Sequence[Any], clip_norm: float) -> jax.Array:
    """The common factor from the parts of the sum of squares."""
    return global_scale(sum(totals), clip_norm)


def _decayed(param: jax.Array, grad: jax.Array, extra: dict[str, jax.Array]) -> jax.Array:
    """Adds the gradient of the L1 and L2 regularizers."""
    if "l2" in extra:
        grad = grad + _column(extra["l2"], param) * param
    # The slope of the absolute value.
    if "l1" in extra:
        grad = grad + _column(extra["l1"], param) * jnp.sign(param)
    return grad
