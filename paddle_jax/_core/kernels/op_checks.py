"""What looks at each operation, which then runs by itself: FLAGS_check_nan_inf, and messages at level 3."""

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from paddle_jax._core.base.caller_info import user_line
from paddle_jax._core.base.vlog import Verbose, vlog
from paddle_jax._core.kernels.value_checks import ride
from paddle_jax._core.lazy.transfer import to_array, to_numpy


def watcher(check):
    """The executor of threads. check: whether to look for NaN and infinity. None: nothing looks,
    operations are recorded."""
    return checked if check else announced if Verbose.wants("operation") else None


def announced(kernel, values):
    """Runs a kernel, and prints its name, operands and line."""
    if Verbose.wants("operation") and not any(isinstance(v, Tracer) for v in values):
        vlog(
            "operation",
            f"{kernel.name}({', '.join(f'{v.dtype}{list(v.shape)}' for v in values)}) at {user_line()}",
        )
    return kernel.compute(values)


def checked(kernel, values):
    """Runs a kernel and raises when a result holds NaN or infinity."""
    out = announced(kernel, values)
    for i, o in enumerate(out if isinstance(out, tuple | list) else [out]):
        bad = None if isinstance(o, Tracer) or o.dtype.kind not in "fcV" else to_numpy(o)
        if bad is not None and not np.isfinite(bad).all():
            raise RuntimeError(_sentence(kernel, values, i, bad))
    return out


class NotFinite(RuntimeError):
    """A compiled step would give or leave behind NaN or infinity; it has changed nothing. Run op by op it
    tells which operation was the first."""


def ride_results(values):
    """Adds to a program that is being captured a look at all that it gives and changes."""
    wrong = [~jnp.isfinite(v).all() for v in values if v.dtype.kind in "fcV" and 0 not in v.shape]
    if wrong:
        ride(
            jnp.stack(wrong).any(),
            (),
            lambda: NotFinite("FLAGS_check_nan_inf: the function gives NaN or infinity"),
        )


def _sentence(kernel, values, number, bad):
    nan, inf = np.isnan(bad).sum(), np.isinf(bad).sum()
    place = np.unravel_index(int(np.argmin(np.isfinite(bad))), bad.shape)
    first = f"the first is {bad[place]} at {[int(n) for n in place]}" if bad.ndim else f"it is {bad[()]}"
    arrays = [to_array(v) for v in values]
    already = [
        i
        for i, v in enumerate(arrays)
        if v.dtype.kind in "fcV" and not isinstance(v, Tracer) and not np.isfinite(to_numpy(v)).all()
    ]
    whence = f"; operand {already[0]} had such values already" if already else "; all operands are finite"
    return (
        f"FLAGS_check_nan_inf: {kernel.name} at {user_line()}: output {number} of shape "
        f"{list(bad.shape)} has {nan} NaN and {inf} infinite values, {first}{whence}"
    )
