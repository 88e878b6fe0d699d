"""Sorting: NaN last, -0.0 equal to 0.0, equal elements in their old order, as XLA's comparator has it;
`top_k` goes by totalOrder instead."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_jax._core.numpy_backend.rules import Avals, Params, Refusal, Run, define_rule, is_low, rule


def _keys(x: Any) -> list[np.ndarray]:
    """Arrays that sort as x does, the first counting most."""
    if x.dtype.kind == "c":
        # The real part counts first.
        return [x.real, x.imag]
    if is_low(x.dtype):
        return [x.astype(np.float32)]
    return [x]


@rule("sort")
def _sort(params: Params, ins: Avals, outs: Avals) -> Run:
    axis = params["dimension"]
    count = params["num_keys"]
    if len(ins) == 1 and ins[0].dtype.kind in "fiub" and not is_low(ins[0].dtype):
        return lambda x: [np.sort(x, axis, kind="stable")]

    def sort(*operands: Any) -> Any:
        keys = [key for x in operands[:count] for key in _keys(x)]
        if len(keys) == 1:
            order = np.argsort(keys[0], axis, kind="stable")
        else:
            # `lexsort` sorts by its last key first.
            order = np.lexsort(keys[::-1], axis)
        return [np.take_along_axis(x, order, axis) for x in operands]

    return sort


@rule("top_k")
def _top_k(params: Params, ins: Avals, outs: Avals) -> Run:
    k = params["k"]
    rank = len(ins[0].shape)
    axis = params.get("axis", params.get("dimension", -1)) % rank  # the name depends on the version of JAX
    if ins[0].dtype.kind == "c":
        raise Refusal("top_k of complex numbers is compiled")
    backwards = (slice(None),) * axis + (slice(None, None, -1),)
    first = (slice(None),) * axis + (slice(None, k),)
    last = ins[0].shape[axis] - 1
    dtype = outs[1].dtype

    def top(x: np.ndarray) -> Any:
        # Backwards twice: the largest come first, and of equal ones those with the lower index.
        order = last - np.argsort(_total(x)[backwards], axis, kind="stable")[backwards][first]
        return [np.take_along_axis(x, order, axis), order.astype(dtype)]

    return top


def _total(x: np.ndarray) -> Any:
    """Integers in the order of IEEE 754's totalOrder."""
    if x.dtype.kind not in "fV":
        return x
    signed = np.dtype(f"i{x.dtype.itemsize}")
    bits = np.ascontiguousarray(x).view(signed).reshape(np.shape(x))
    # As integers, negative floats have the opposite order.
    return np.where(bits < 0, bits ^ np.iinfo(signed).max, bits)


define_rule(lambda x, y: _total(x) < _total(y), "lt_to")
define_rule(lambda x, y: _total(x) <= _total(y), "le_to")
define_rule(lambda x, y: _total(x) == _total(y), "eq_to")
