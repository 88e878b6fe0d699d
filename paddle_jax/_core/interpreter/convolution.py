"""Convolutions as matrix products over windows (im2col); the windows are a strided view of the padded operand."""

import math

import numpy as np

from paddle_jax._core.interpreter.contraction import stacked_matmul
from paddle_jax._core.interpreter.layout import placed
from paddle_jax._core.interpreter.rules import Refusal, rule, wide

_WINDOWS = 1 << 23  # bytes of windows at a time
_LARGEST = 1 << 27  # bytes of windows of one example


@rule("conv_general_dilated")
def _convolution(params, ins, outs):
    dims, groups = params["dimension_numbers"], params["feature_group_count"]
    dtype = outs[0].dtype
    inner = wide(dtype)
    if dtype.kind not in "fVc":
        raise Refusal("convolution of integers is compiled")
    strides, padding = params["window_strides"], params["padding"]
    spread, dilation = params["lhs_dilation"], params["rhs_dilation"]
    back = np.argsort(dims.out_spec)
    out = tuple(outs[0].shape[k] for k in dims.out_spec)
    batch_groups = params["batch_group_count"]
    windows = groups * batch_groups * math.prod(ins[1].shape[k] for k in dims.rhs_spec[1:]) * math.prod(out[2:]) * inner.itemsize
    if windows > _LARGEST:
        raise Refusal("a convolution that needs more than 128 MB for the windows of one example is compiled")

    def convolve(x, w):
        x = x.transpose(dims.lhs_spec).astype(inner, copy=False)
        w = w.transpose(dims.rhs_spec).astype(inner, copy=False)
        if batch_groups > 1:  # groups of the batch become groups of channels
            n, c = x.shape[:2]
            x = x.reshape(batch_groups, n // batch_groups, c, *x.shape[2:]).swapaxes(0, 1).reshape(n // batch_groups, batch_groups * c, *x.shape[2:])
        y = _grouped(_padded(x, padding, spread), w, groups * batch_groups, strides, dilation, out)
        return y.transpose(back).astype(dtype, copy=False)

    return convolve


def _padded(x, padding, spread):
    """x [n, c, ...] with its elements `spread` apart and zeros around; negative padding cuts off."""
    if all(p == (0, 0) for p in map(tuple, padding)) and all(s == 1 for s in spread):
        return x
    shape, target, source = placed(x.shape, [(0, 0), (0, 0), *padding], [1, 1, *spread])
    y = np.zeros(shape, x.dtype)
    y[target] = x[source]
    return y


def _grouped(x, w, groups, strides, dilation, out):
    """x [n, groups * i, ...] and w [o, i, window...] to [n, o, ...], some examples at a time."""
    if 0 in out or 0 in x.shape or 0 in w.shape:
        return np.zeros(out, x.dtype)
    each = groups * math.prod(w.shape[1:]) * math.prod(out[2:]) * x.itemsize  # bytes of the windows of one example
    step = max(1, _WINDOWS // each)
    if step >= len(x):
        return _product(x, w, groups, strides, dilation, out[2:])
    y = np.empty(out, x.dtype)
    for start in range(0, len(x), step):
        y[start : start + step] = _product(x[start : start + step], w, groups, strides, dilation, out[2:])
    return y


def _product(x, w, groups, strides, dilation, places):
    """As `_grouped`, with the windows of all examples in memory."""
    n, o, i, window, channel = len(x), w.shape[0], w.shape[1], w.shape[2:], x.strides[1]
    near, far = ([s * d for s, d in zip(x.strides[2:], steps, strict=True)] for steps in (dilation, strides))
    stack, apart = (groups, n), (channel * i, x.strides[0])
    rows, depth = w.reshape(groups, 1, o // groups, -1), i * math.prod(window)
    if window and window[-1] > places[-1]:  # copying is quick along the longer axis; gradients of weights have windows as large as images
        view = np.lib.stride_tricks.as_strided(x, (*stack, *places, i, *window), (*apart, *far, channel, *near), writeable=False)
        y = stacked_matmul(view.reshape(*stack, math.prod(places), depth), rows.swapaxes(2, 3)).swapaxes(2, 3)
    else:
        view = np.lib.stride_tricks.as_strided(x, (*stack, i, *window, *places), (*apart, channel, *near, *far), writeable=False)
        y = stacked_matmul(rows, view.reshape(*stack, depth, math.prod(places)))
    return y.swapaxes(0, 1).reshape(n, o, *places)  # from [groups, n, o / groups, places]
