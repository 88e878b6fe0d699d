"""What a run that is to be repeated knows beforehand: a few numbers that depend on shapes alone.

A program is made for given shapes, so `paddle.shape(x)` and what is computed from it are constants of it,
which code may use as sizes, compare and loop over. They are worked out on the host while the code runs, and
stay NumPy arrays.
"""

import jax
import numpy as np

from paddle_jax._core.lazy.transfer import to_array, to_numpy
from paddle_jax._core.numpy_backend.plan import plan
from paddle_jax._core.numpy_backend.rules import Refusal
from paddle_jax._core.tensors.tensor import NumberTensor

_SMALL = 64  # elements: sizes, not data


def fold_shapes(kernel, tensors, values):
    """The results of a kernel as NumPy arrays where the host can tell them beforehand; else None."""
    if not (values and kernel.deferrable):
        return None
    if all(
        _on_host(v) or type(t) is NumberTensor and not isinstance(v, jax.core.Tracer)
        for t, v in zip(tensors, values, strict=True)
    ):
        if not all(t.stop_gradient for t in tensors) or not any(map(_on_host, values)):
            return None
        values = [to_numpy(to_array(v)) for v in values]
        equations = kernel.equations_for(values)
    elif kernel.nondiff and len(values) == 1 and all(type(n) is int for n in values[0].shape):
        equations = kernel.equations_for(values)
        operand, (result, *more) = equations.jaxpr.invars[0], equations.jaxpr.outvars
        if equations.jaxpr.eqns or more or result is operand:
            return None
        values = [np.broadcast_to(np.zeros((), v.dtype), v.shape) for v in values]  # which nothing looks at
    else:
        return None
    return _worked_out(equations, values)


def _on_host(value):
    return isinstance(value, np.ndarray | np.generic) and value.size <= _SMALL


def _worked_out(equations, values):
    from jax.extend.core import ClosedJaxpr  # takes 0.05 s to import

    if any(aval.size > _SMALL for aval in equations.out_avals):
        return None
    try:
        evaluate = plan(ClosedJaxpr(equations.jaxpr, equations.consts))
        return equations.structured(evaluate(*map(np.asarray, values)))
    except Refusal:
        return None
