"""Stacks of parameters with their optimizer state, and the calls they are updated in."""

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.tensor import wrap
from paddle_jax.optimizer.update import compiled, scale_of, square_total

STACK = 32  # parameters in one stack
SMALL = 16384  # elements; larger parameters stand alone, since stacking copies them
CALL = 64  # parameters in one call: bounds the time to compile, and equal calls share their program


class Stack:
    """Up to STACK parameters of one shape and dtype; `state` maps slot names to Tensors with a leading axis over the parameters.

    `extras` holds small vectors over the parameters, where they are not all neutral: `lr` factor on the rate, `l1` and `l2` decay, `free` (1: not
    clipped), and `rule_...` for what the optimizer's rule wants to know per parameter.
    """

    def __init__(self, params, state, extras):
        self.params, self.state, self.extras = params, state, extras

    def values(self):
        """The state as arrays."""
        return {name: tensor._value for name, tensor in self.state.items()}


def vectors(**columns):
    """The columns that are not neutral (all zero; for `lr`: all one) as float32 vectors."""
    found = {}
    for name, values in columns.items():
        column = np.asarray(values, np.float32)
        if (column != (1 if name == "lr" else 0)).any():
            found[name] = jnp.asarray(column)
    return found


def chunks(params):
    """The parameters in lists of equal shape and dtype, each short enough for a stack."""
    found = {}
    for param in params:
        found.setdefault((param._value.shape, param._value.dtype), []).append(param)
    for (shape, _), same in found.items():
        size = STACK if np.prod(shape, dtype=np.int64) <= SMALL else 1
        yield from (same[i : i + size] for i in range(0, len(same), size))


class Call:
    """Stacks that are updated together."""

    def __init__(self, stacks):
        self.stacks = stacks
        self.lists = [stack.params for stack in stacks]
        self.extras = [stack.extras for stack in stacks]
        self.slots = [[*stack.state.items()] for stack in stacks]

    def run(self, update, grads, extras, lr, scale):
        """Updates parameters and state in place. `grads` is a list of arrays per stack."""
        state = [{name: tensor._value for name, tensor in slots} for slots in self.slots]
        params = [[p._value for p in same] for same in self.lists]
        new_params, new_state = update(state, params, grads, extras, lr, scale)
        for same, new in zip(self.lists, new_params, strict=True):
            for param, value in zip(same, new, strict=True):
                param._rebind(value)
        for slots, new in zip(self.slots, new_state, strict=True):
            for name, tensor in slots:
                tensor._value = new[name]


def pack(stacks):
    """Calls of at most CALL parameters (or one stack)."""
    calls, waiting, count = [], [], 0
    for stack in stacks:
        if waiting and count + len(stack.params) > CALL:
            calls.append(Call(waiting))
            waiting, count = [], 0
        waiting.append(stack)
        count += len(stack.params)
    return [*calls, Call(waiting)] if waiting else calls


def run_calls(work, rule, hyper, clip, lr):
    """Runs a list of (call, grads, extras). A norm over several calls is computed first."""
    update = compiled(rule, hyper, clip)
    scale = None
    if clip is not None and clip[0] == "global_norm" and len(work) > 1:
        scale = scale_of([square_total(grads, [_clip_extras(e) for e in extras]) for _, grads, extras in work], clip[1])
    for call, grads, extras in work:
        call.run(update, grads, extras, lr, scale)


def _clip_extras(extra):
    return {name: value for name, value in extra.items() if name == "free"}


def fresh(shape, fill, dtype):
    """A new state array that nobody else holds (it will be donated), concrete even while a program is being traced."""
    with jax.ensure_compile_time_eval():
        return wrap(jnp.full(shape, fill, dtype))
