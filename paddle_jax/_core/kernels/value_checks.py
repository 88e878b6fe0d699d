"""Checks of values that a compiled program computes, and that the host reads after it.

An index out of range is an error. Eager code knows it when the operation is called, a compiled function does
not. There the program gives the outcome of all its checks in one small array. If the checks depend on the
operands alone, that array is computed before the program runs (_program/capture/captured_checks.py). Else the
program returns it. The host reads it after the call if it is there by then, at the next call of any compiled
function, and at the latest when a value is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import jax
import jax.core
import jax.numpy as jnp
from jax._src.core import get_opaque_trace_state  # jax.extend takes 0.05 s to import

from paddle_jax._core.base.caller_info import user_line
from paddle_jax._core.base.error_kinds import with_kind
from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.transfer import to_numpy

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor

_MAX_PENDING = 64  # programs whose checks wait before the host waits for the oldest
_T = TypeVar("_T")


def traced_value(tensor: Tensor) -> jax.core.Tracer | None:
    """The value of a Tensor in the program that is being captured, if a check of it can be part of the
    program; else None."""
    frame = local.ctx.frame
    if frame.checks is None:
        return None
    # in a JAX trace within the captured one, values cannot leave that trace
    if get_opaque_trace_state(convention="flax") != frame.level:
        return None
    value = frame.read(tensor)
    if isinstance(value, jax.core.Tracer):
        return value
    return None


def add_check(bad: Any, numbers: Sequence[Any], error: Callable[..., Exception]) -> None:
    """Adds a check to the program that is being captured.

    Args:
        bad: traced truth value.
        numbers: traced integers for the message.
        error: makes the exception from these numbers, as ints.
    """
    local.ctx.frame.checks.append((bad, numbers, error, f"{user_line()}, in a compiled function"))


def add_range_check(value: Any, low: Any, high: Any, error: Callable[..., Exception]) -> None:
    """Adds the check that traced integers are in [low, high).

    Args:
        value: traced integers.
        low: the least that is allowed.
        high: the first that is not allowed.
        error: makes the exception from the least and the greatest of the integers.
    """
    if value.size:
        least = value.min()
        greatest = value.max()
        add_check((least < low) | (greatest >= high), (least, greatest), error)


def enqueue_check(bad: Any, error: Callable[..., Exception]) -> None:
    """Adds a check that runs after the operations so far.

    Args:
        bad: truth value, as a whole number, pending or not.
        error: makes the exception.
    """
    enqueue_results(bad, [(0, error, user_line())])


def pack_checks(checks: Sequence[tuple[Any, Sequence[Any], Callable[..., Exception], str]]) -> jax.Array:
    """One array with the truth values and numbers of all checks."""
    return jnp.stack(
        [jnp.asarray(number).astype(jnp.int64) for bad, numbers, *_ in checks for number in (bad, *numbers)]
    )


def raise_if_failed(array: Any, checks: Sequence[tuple[int, Callable[..., Exception], str]]) -> None:
    """Raises the error of the first check that has failed.

    Args:
        array: what `pack_checks` gave.
        checks: (count of numbers, error, line) of each.
    """
    numbers = to_numpy(array).reshape(-1).tolist()
    index = 0
    # For each check there is a flag, then the numbers for its message.
    for count, error, line in checks:
        if numbers[index]:
            exception = error(*numbers[index + 1 : index + 1 + count])
            # A message begins with the name of the operation.
            op_name = exception.args[0].partition(":")[0]
            with_kind(op_name, exception)
            exception.args = (f"{exception.args[0]}; at {line}", *exception.args[1:])
            raise exception
        index += 1 + count


class PendingChecks:
    """The checks of programs that have been called.

    Attributes:
        queue: list of (array of `pack_checks` or its pending LazyArray, checks).
    """

    queue: list[tuple[Any, Sequence[tuple[int, Callable[..., Exception], str]]]] = []


def enqueue_results(raw: Any, checks: Sequence[tuple[int, Callable[..., Exception], str]]) -> None:
    """Takes the array of checks that a program gave; raises if it is there and a check has failed."""
    PendingChecks.queue.append((raw, checks))
    poll(len(PendingChecks.queue) > _MAX_PENDING)


def after_checks(value: _T) -> _T:
    """The value itself, which the caller is about to read; raises first if a check has failed."""
    if PendingChecks.queue:
        local.ctx.frame.poll_checks()
    return value


def poll(wait: bool) -> None:
    """Raises the error of the first check that has failed, once.

    Args:
        wait: whether to wait for programs that are still running. Pending operations are left for later.
    """
    for entry in list(PendingChecks.queue):
        raw, checks = entry
        array = raw.array if type(raw) is LazyArray else raw
        if array is None:  # pending
            continue
        if not wait and isinstance(array, jax.Array) and not array.is_ready():  # pyright: ignore[reportAttributeAccessIssue]
            continue
        if _take_out(entry):
            raise_if_failed(array, checks)


def _take_out(entry: Any) -> bool:
    """Removes an entry of the queue. Returns whether it was there: another thread may have been first."""
    queue = PendingChecks.queue
    for index, other in enumerate(queue):
        # By identity: `==` compares the arrays of other entries, which has no truth value.
        if other is entry:
            del queue[index]
            return True
    return False
