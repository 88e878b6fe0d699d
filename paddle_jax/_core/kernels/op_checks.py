"""Executors that look at each operation: FLAGS_check_nan_inf, and messages of level 3.

With one of them every operation runs at once, on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from paddle_jax._core.base.caller_info import user_line
from paddle_jax._core.base.vlog import Verbose, vlog
from paddle_jax._core.kernels.value_checks import add_check
from paddle_jax._core.lazy.transfer import to_array, to_numpy

if TYPE_CHECKING:
    from paddle_jax._core.kernels.kernel import Kernel

_INEXACT = "fcV"  # NumPy kinds of floating and complex dtypes


def op_executor(check_nan_inf: bool) -> Callable[[Kernel, Sequence[Any]], Any] | None:
    """The executor of threads. None: operations are recorded, and nothing looks at them.

    Args:
        check_nan_inf: whether to look for NaN and infinity.
    """
    if check_nan_inf:
        return run_checked
    if Verbose.wants("operation"):
        return run_logged
    return None


def run_logged(kernel: Kernel, values: Sequence[Any]) -> Any:
    """Runs a kernel, and prints its name, operands and line."""
    if Verbose.wants("operation") and not any(isinstance(value, Tracer) for value in values):
        operands = ", ".join(f"{value.dtype}{list(value.shape)}" for value in values)
        vlog("operation", f"{kernel.name}({operands}) at {user_line()}")
    return kernel.compute(values)


def run_checked(kernel: Kernel, values: Sequence[Any]) -> Any:
    """Runs a kernel and raises if a result holds NaN or infinity."""
    out = run_logged(kernel, values)
    results = out if isinstance(out, tuple | list) else [out]
    for number, result in enumerate(results):
        if isinstance(result, Tracer) or result.dtype.kind not in _INEXACT:
            continue
        array = to_numpy(result)
        if not np.isfinite(array).all():
            raise RuntimeError(_message(kernel, values, number, array))
    return out


class NotFinite(RuntimeError):
    """A compiled step would give or leave behind NaN or infinity; it has changed nothing. Run op by op it
    names the first such operation."""


def add_finite_check(values: Sequence[Any]) -> None:
    """Adds to a program that is being captured a check of all its results and changes."""
    wrong = [
        ~jnp.isfinite(value).all()
        for value in values
        if value.dtype.kind in _INEXACT and 0 not in value.shape
    ]
    if wrong:
        add_check(
            # One check for all values, as each check is a result of the program.
            jnp.stack(wrong).any(),
            (),
            lambda: NotFinite("FLAGS_check_nan_inf: the function gives NaN or infinity"),
        )


def _message(kernel: Kernel, values: Sequence[Any], number: int, array: np.ndarray) -> str:
    """The message about result `number` of a kernel, which holds NaN or infinity."""
    nan_count = np.isnan(array).sum()
    inf_count = np.isinf(array).sum()
    # `argmin` finds the first False.
    index = np.unravel_index(int(np.argmin(np.isfinite(array))), array.shape)
    first = f"it is {array[()]}"
    if array.ndim:
        first = f"the first is {array[index]} at {[int(n) for n in index]}"
    bad_operands = [i for i, value in enumerate(values) if _has_nan_or_inf(value)]
    cause = "; all operands are finite"
    if bad_operands:
        cause = f"; operand {bad_operands[0]} had such values already"
    return (
        f"FLAGS_check_nan_inf: {kernel.name} at {user_line()}: output {number} of shape "
        f"{list(array.shape)} has {nan_count} NaN and {inf_count} infinite values, {first}{cause}"
    )


def _has_nan_or_inf(value: Any) -> bool:
    array = to_array(value)
    if array.dtype.kind not in _INEXACT or isinstance(array, Tracer):
        return False
    return not np.isfinite(to_numpy(array)).all()
