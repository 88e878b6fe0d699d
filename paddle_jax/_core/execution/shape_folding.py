"""What a run that is to be repeated knows beforehand: a few numbers that depend on shapes alone.

A program is made for given shapes, so `paddle.shape(x)` and what is computed from it are constants of it,
which code may use as sizes, compare and loop over. They are worked out on the host while the code runs, and
stay NumPy arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.core
import numpy as np

from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.transfer import to_array, to_numpy
from paddle_jax._core.numpy_backend.plan import plan
from paddle_jax._core.numpy_backend.rules import Refusal
from paddle_jax._core.tensors.tensor import NumberTensor, Tensor

_SMALL = 64  # elements: sizes, not data


def fold_shapes(kernel: Kernel, tensors: Sequence[Tensor], values: Sequence[Any]) -> Any:
    """The results of a kernel as NumPy arrays where the host can tell them beforehand; else None."""
    if not (values and kernel.deferrable):
        return None
    if all(map(_is_known, tensors, values)):
        if not all(t.stop_gradient for t in tensors) or not any(map(_on_host, values)):
            return None
        values = [to_numpy(to_array(v)) for v in values]
        equations = kernel.equations_for(values)
    elif kernel.nondiff and len(values) == 1 and all(type(n) is int for n in values[0].shape):
        equations = kernel.equations_for(values)
        operand, (result, *more) = equations.jaxpr.invars[0], equations.jaxpr.outvars
        if equations.jaxpr.eqns or more or result is operand:
            return None
        # no equation reads the operand: any value of its shape will do
        values = [np.broadcast_to(np.zeros((), v.dtype), v.shape) for v in values]
    else:
        return None
    return _worked_out(equations, values)


def _is_known(tensor: Tensor, value: Any) -> bool:
    """Whether an operand is a small array on the host, or stands for a Python number."""
    return _on_host(value) or type(tensor) is NumberTensor and not isinstance(value, jax.core.Tracer)


def _on_host(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) and value.size <= _SMALL


def _worked_out(equations: Any, values: Sequence[Any]) -> Any:
    """What equations give for arrays of the host; None where there is no rule for one of them."""
    from jax.extend.core import ClosedJaxpr  # takes 0.05 s to import

    if any(aval.size > _SMALL for aval in equations.out_avals):
        return None
    try:
        evaluate = plan(ClosedJaxpr(equations.jaxpr, equations.consts))
        return equations.structured(evaluate(*map(np.asarray, values)))
    except Refusal:
        return None
