"""Shapes and dtypes of what an operation gives, found by tracing it: once for each probe of the lengths that are not known."""

import jax
import jax.numpy as jnp

from paddle_jax._core.deferred.value import aval_of
from paddle_jax._core.errors import translate
from paddle_jax._core.kernel import Kernel

_MAX = 1 << 14
_known: dict = {}


def results_of(kernel, avals):
    """(tuple, list or None, tuple of avals) of a kernel on operands of these avals."""
    key = kernel, avals
    found = _known.get(key)
    if found is None:
        if len(_known) >= _MAX:
            _known.clear()
        found = _known[key] = _traced(kernel, avals)
    return found


def _traced(kernel, avals):
    structs = [a.struct for a in avals]
    try:
        out = jax.eval_shape(kernel.fn, *structs)
    except Exception as error:
        raise translate(kernel.name, structs, error) from None
    many = type(out) if type(out) in (tuple, list) else None
    return many, tuple([aval_of(o.shape, o.dtype, o.weak_type) for o in (out if many else (out,))])


def full_kernel(shape, value, dtype):
    """The kernel that makes an array of one value; the same object for the same arguments."""
    key = (shape, dtype, type(value), str(value))
    found = _fills.get(key)
    if found is None:
        if len(_fills) >= _MAX:
            _fills.clear()
        found = _fills[key] = Kernel("full", lambda: jnp.full(shape, value, dtype))
    return found


_fills: dict = {}
