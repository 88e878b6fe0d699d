"""Reductions over sliding windows, and what scatters into the window's chosen element."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle_jax._core.numpy_backend.layout import padding_slices
from paddle_jax._core.numpy_backend.reductions import monoid_of, neutral
from paddle_jax._core.numpy_backend.rules import Avals, Params, Refusal, Run, compute_dtype, rule

_SMALL = 64  # elements of a window


def _dilate_and_pad(x: np.ndarray, fill: Any, padding: Sequence[Any], dilation: Sequence[int]) -> Any:
    """x with its elements `dilation` apart and `fill` between and around; negative padding cuts off."""
    shape, target, source = padding_slices(x.shape, padding, dilation)
    y = np.full(shape, fill, x.dtype)
    y[target] = x[source]
    return y


def windows(
    x: np.ndarray,
    shape: tuple[int, ...],
    window: Sequence[int],
    strides: Sequence[int],
    dilation: Sequence[int],
) -> Any:
    """A view [places..., window...] of the windows of x at `shape` places."""
    # From window to window, then from element to element inside one.
    steps = [s * k for s, k in zip(x.strides, strides, strict=True)] + [
        s * k for s, k in zip(x.strides, dilation, strict=True)
    ]
    return np.lib.stride_tricks.as_strided(x, (*shape, *window), steps, writeable=False)


def _reducer(ufunc: Any, start: Any, params: Params, out: Any) -> Any:
    window, rank, dtype = params["window_dimensions"], len(out.shape), out.dtype
    inner = compute_dtype(dtype)
    options = [
        tuple(params[name]) for name in ("window_strides", "padding", "base_dilation", "window_dilation")
    ]
    strides, padding, spread, dilation = options

    def reduce(x: np.ndarray, first: Any = start) -> Any:
        x = _dilate_and_pad(
            np.asarray(x).astype(inner, copy=False), np.asarray(first).astype(inner), padding, spread
        )
        if 0 in out.shape:
            return np.zeros(out.shape, dtype)
        y = _by_offset(ufunc, x, out.shape, window, strides, dilation)
        if y is None:
            y = ufunc.reduce(windows(x, out.shape, window, strides, dilation), tuple(range(rank, 2 * rank)))
        return np.asarray(y).astype(dtype, copy=False)

    return reduce


def _by_offset(
    ufunc: Any,
    x: np.ndarray,
    shape: tuple[int, ...],
    window: Sequence[int],
    strides: Sequence[int],
    dilation: Sequence[int],
) -> Any:
    """The reduction as one step per position in the window; None for large windows, where a strided
    view is quicker."""
    if math.prod(window) > _SMALL:
        return None
    y = None
    for offset in itertools.product(*map(range, window)):
        places = zip(offset, shape, strides, dilation, strict=True)
        part = x[tuple([slice(k * d, k * d + (n - 1) * s + 1, s) for k, n, s, d in places])]
        y = np.array(part) if y is None else ufunc(y, part, out=y)
    return y


def _window(name: str, ufunc: Any) -> None:
    @rule(f"reduce_window_{name}")
    def build(params: Params, ins: Avals, outs: Avals) -> Run:
        if name != "sum":
            start = neutral(name, outs[0].dtype)
        else:
            start = np.zeros((), outs[0].dtype)
        return _reducer(ufunc, start, params, outs[0])


_window("sum", np.add)
_window("max", np.maximum)
_window("min", np.minimum)


@rule("reduce_window")
def _reduce_window(params: Params, ins: Avals, outs: Avals) -> Run:
    ufunc = monoid_of(params["jaxpr"])
    if ufunc is None or len(outs) != 1:
        raise Refusal("reduce_window with a function of one's own is compiled")
    reduce = _reducer(ufunc, None, params, outs[0])

    def run(x: np.ndarray, first: Any) -> Any:
        y = reduce(x, first)
        return [np.asarray(ufunc(y, first))]

    return run


@rule("select_and_scatter_add")
def _select_and_scatter_add(params: Params, ins: Avals, outs: Avals) -> Run:
    name = getattr(params["select_prim"], "name", "")
    if name not in ("ge", "le") or outs[0].dtype.kind not in "f":
        raise Refusal("select_and_scatter_add of this kind is compiled")
    window = params["window_dimensions"]
    strides = params["window_strides"]
    padding = params["padding"]
    out = outs[0].shape
    source = ins[0].shape
    dtype = outs[0].dtype
    fill = -np.inf if name == "ge" else np.inf
    positions = np.arange(math.prod(out)).reshape(out)
    ones, inner = (1,) * len(out), compute_dtype(outs[0].dtype)

    def scatter(updates: np.ndarray, x: np.ndarray) -> Any:
        if 0 in source or 0 in out:
            return np.zeros(out, dtype)
        values = windows(_dilate_and_pad(x, fill, padding, ones), source, window, strides, ones).reshape(
            *source, -1
        )
        where = windows(_dilate_and_pad(positions, -1, padding, ones), source, window, strides, ones).reshape(
            *source, -1
        )
        values = np.where(where < 0, fill, values)
        chosen = (values.argmax if name == "ge" else values.argmin)(-1)[..., None]
        target = np.take_along_axis(where, chosen, -1).reshape(-1)
        y = np.zeros(math.prod(out), inner)
        keep = target >= 0
        np.add.at(y, target[keep], updates.reshape(-1)[keep].astype(inner, copy=False))
        return y.reshape(out).astype(dtype, copy=False)

    return scatter
