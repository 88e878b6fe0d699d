"""Checks of values that ride with a compiled program: it computes whether something is wrong, and the
host looks at that.

An index out of range is an error where it is known when the operation is called. Inside a compiled function
it is not; there the program tells, for all its checks together, in one small array. Where that depends on the
operands alone it is computed before the program runs (_program/capture/captured_checks.py). Else the program
returns it, and the array is looked at after the call if it is there by then, at the next call of any compiled
function, and at the latest when a value is read.
"""

import jax
import jax.numpy as jnp
from jax._src.core import get_opaque_trace_state  # jax.extend takes 0.05 s to import

from paddle_jax._core.base.caller_info import user_line
from paddle_jax._core.base.error_kinds import with_kind
from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.symbol import ABSTRACT
from paddle_jax._core.lazy.transfer import to_numpy

_MOST = 64  # outcomes that wait before the host waits for the oldest


def traced(tensor):
    """The value of a Tensor in the program that is being captured, where a check of it can ride
    along; else None."""
    run = local.ctx.frame
    if run.checks is None or get_opaque_trace_state(convention="flax") != run.level:
        return None  # the last: in a JAX trace within the run, whose values cannot leave it
    value = run.read(tensor)
    return value if isinstance(value, jax.core.Tracer) else None


def ride(bad, numbers, error):
    """Adds a check. bad: traced truth value. numbers: traced integers that tell what was found. error: makes
    the exception of these, as ints."""
    local.ctx.frame.checks.append((bad, numbers, error, f"{user_line()}, in a compiled function"))


def ride_between(value, low, high, error):
    """Adds the check that traced integers are in [low, high). error: makes the exception of the least and the
    largest of them."""
    if value.size:
        ends = value.min(), value.max()
        ride((ends[0] < low) | (ends[1] >= high), ends, error)


def followed(tensor):
    """Whether a Tensor's value is computed some time, outside of any trace, so that a check can
    follow behind it."""
    return local.ctx.frame.eager and not isinstance(tensor._raw, ABSTRACT)


def follow(bad, error):
    """Adds a check behind the operations so far. bad: truth value, as a whole number, pending or not. error:
    makes the exception."""
    arrived(bad, [(0, error, user_line())])


def joined(checks):
    """One array that tells all."""
    return jnp.stack(
        [jnp.asarray(n).astype(jnp.int64) for bad, numbers, *_ in checks for n in (bad, *numbers)]
    )


def judge(array, checks):
    """Raises the error of the first check that has failed. checks: [(count of numbers, error, line)]."""
    numbers, at = to_numpy(array).reshape(-1).tolist(), 0
    for count, error, line in checks:
        if numbers[at]:
            found = error(*numbers[at + 1 : at + 1 + count])
            with_kind(found.args[0].partition(":")[0], found)
            found.args = (f"{found.args[0]}; at {line}", *found.args[1:])
            raise found
        at += 1 + count


class Outcomes:
    """waiting: [(array of `joined` or the pending LazyArray of it, checks)]."""

    waiting: list = []


def arrived(raw, checks):
    """Takes what a program has told; raises if it is there and something is wrong."""
    Outcomes.waiting.append((raw, checks))
    look(len(Outcomes.waiting) > _MOST)


def heard(value):
    """A value that is about to be read, after what is known to be wrong has been told."""
    if Outcomes.waiting and local.ctx.frame.eager:
        look(True)
    return value


def look(wait):
    """Raises the error of the first check that has failed, once. wait: also for programs that are still
    running; those not begun count later."""
    for entry in list(Outcomes.waiting):
        raw, checks = entry
        array = raw.array if type(raw) is LazyArray else raw
        if array is None or not wait and isinstance(array, jax.Array) and not array.is_ready():
            continue
        Outcomes.waiting.remove(entry)
        judge(array, checks)
