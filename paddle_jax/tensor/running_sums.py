"""Running sums as one primitive of JAX.

XLA for CPUs adds up a window of the axis for each element of `lax.cumsum`. So running sums are computed by
pairs there, which takes a hundred equations. With a primitive a trace has one equation: they are written out
where XLA compiles it. The interpreter has a rule of its own (_core/numpy_backend/reductions.py), and so has
the gradient (_core/kernels/reverse.py).
"""

from __future__ import annotations

import functools as ft
from collections.abc import Sequence

import jax
from jax import lax
from jax._src.core import Primitive  # jax.extend takes 0.05 s to import
from jax.core import ShapedArray
from jax.interpreters import ad, batching, mlir

RUNNING_SUM = Primitive("running_sum")


def running_sum(x: jax.Array, axis: int) -> jax.Array:
    """Running sums along an axis.

    Args:
        x: array [...] with at least one element along the axis.
        axis: int, not negative.
    Returns:
        Array of x's shape and dtype.
    """
    return RUNNING_SUM.bind(x, axis=axis, reverse=False)


def _by_pairs(x: jax.Array, *, axis: int, reverse: bool) -> jax.Array:
    return lax.associative_scan(lax.add, x, reverse=reverse, axis=axis)


# A call outside a program compiles each computation once.
@ft.lru_cache(maxsize=64)
def _compiled(axis: int, reverse: bool) -> jax.stages.Wrapped:
    return jax.jit(ft.partial(_by_pairs, axis=axis, reverse=reverse))


def _run(x: jax.Array, *, axis: int, reverse: bool) -> jax.Array:
    return _compiled(axis, reverse)(x)


def _transpose(ct: jax.Array, x: ad.UndefinedPrimal, *, axis: int, reverse: bool) -> list[jax.Array]:
    # Each element is part of the sums from its place on.
    return [RUNNING_SUM.bind(ct, axis=axis, reverse=not reverse)]


def _batch(
    operands: Sequence[jax.Array], axes: Sequence[int], *, axis: int, reverse: bool
) -> tuple[jax.Array, int]:
    (x,) = operands
    (mapped,) = axes
    # The mapped axis may come before the axis of the sums.
    new_axis = axis + (mapped <= axis)
    return RUNNING_SUM.bind(x, axis=new_axis, reverse=reverse), mapped


RUNNING_SUM.def_impl(_run)
RUNNING_SUM.def_abstract_eval(lambda x, **params: ShapedArray(x.shape, x.dtype))
mlir.register_lowering(RUNNING_SUM, mlir.lower_fun(_by_pairs, multiple_results=False))
ad.deflinear2(RUNNING_SUM, _transpose)
batching.primitive_batchers[RUNNING_SUM] = _batch
