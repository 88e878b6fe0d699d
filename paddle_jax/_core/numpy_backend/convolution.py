"""Convolutions as matrix products over windows (im2col); the windows are a strided view of
the padded operand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle_jax._core.numpy_backend.blas_threads import matmul
from paddle_jax._core.numpy_backend.layout import padding_slices
from paddle_jax._core.numpy_backend.rules import Avals, Params, Refusal, Run, compute_dtype, rule

_WINDOWS = 1 << 23  # bytes of windows at a time
_LARGEST = 1 << 27  # bytes of windows of one example
_FEW_POSITIONS = 64  # of a result, below which the examples share one product


@rule("conv_general_dilated")
def _convolution(params: Params, ins: Avals, outs: Avals) -> Run:
    dims = params["dimension_numbers"]
    groups = params["feature_group_count"]
    dtype = outs[0].dtype
    inner = compute_dtype(dtype)
    if dtype.kind not in "fVc":
        raise Refusal("convolution of integers is compiled")
    strides = params["window_strides"]
    padding = params["padding"]
    spread = params["lhs_dilation"]
    dilation = params["rhs_dilation"]
    # The inverse permutation: from [n, c, ...] to the order of the result.
    back = np.argsort(dims.out_spec)
    out = tuple(outs[0].shape[k] for k in dims.out_spec)
    batch_groups = params["batch_group_count"]
    windows = (
        groups
        * batch_groups
        * math.prod(ins[1].shape[k] for k in dims.rhs_spec[1:])
        * math.prod(out[2:])
        * inner.itemsize
    )
    if windows > _LARGEST:
        raise Refusal("a convolution that needs more than 128 MB for the windows of one example is compiled")

    def convolve(x: np.ndarray, w: np.ndarray) -> Any:
        x = x.transpose(dims.lhs_spec).astype(inner, copy=False)
        w = w.transpose(dims.rhs_spec).astype(inner, copy=False)
        if batch_groups > 1:  # groups of the batch become groups of channels
            n, c = x.shape[:2]
            x = (
                x.reshape(batch_groups, n // batch_groups, c, *x.shape[2:])
                .swapaxes(0, 1)
                .reshape(n // batch_groups, batch_groups * c, *x.shape[2:])
            )
        y = _grouped(_padded(x, padding, spread), w, groups * batch_groups, strides, dilation, out)
        return y.transpose(back).astype(dtype, copy=False)

    return convolve


def _padded(x: np.ndarray, padding: Sequence[Any], spread: Any) -> Any:
    """x [n, c, ...] with its elements `spread` apart and zeros around; negative padding cuts off."""
    has_padding = any(tuple(pair) != (0, 0) for pair in padding)
    if not has_padding and all(step == 1 for step in spread):
        return x
    all_padding = [(0, 0), (0, 0), *padding]
    shape, target, source = padding_slices(x.shape, all_padding, [1, 1, *spread])
    y = np.zeros(shape, x.dtype)
    y[target] = x[source]
    return y


def _grouped(
    x: np.ndarray, w: np.ndarray, groups: int, strides: Sequence[int], dilation: Sequence[int], out: Any
) -> Any:
    """x [n, groups * i, ...] and w [o, i, window...] to [n, o, ...], some examples at a time."""
    if 0 in out or 0 in x.shape or 0 in w.shape:
        return np.zeros(out, x.dtype)
    elements = groups * math.prod(w.shape[1:]) * math.prod(out[2:])  # of the windows of one example
    step = max(1, _WINDOWS // (elements * x.itemsize))
    if step >= len(x):
        return _product(x, w, groups, strides, dilation, out[2:])
    y = np.empty(out, x.dtype)
    for start in range(0, len(x), step):
        some = slice(start, start + step)
        y[some] = _product(x[some], w, groups, strides, dilation, out[2:])
    return y


def _product(
    x: np.ndarray, w: np.ndarray, groups: int, strides: Sequence[int], dilation: Sequence[int], places: Any
) -> Any:
    """As `_grouped`, with the windows of all examples in memory."""
    n = len(x)
    o = w.shape[0]
    i = w.shape[1]
    window = w.shape[2:]
    channel = x.strides[1]
    # memory strides from one element of a window to the next, and from one window to the next
    near = [stride * step for stride, step in zip(x.strides[2:], dilation, strict=True)]
    far = [stride * step for stride, step in zip(x.strides[2:], strides, strict=True)]
    stack = (groups, n)
    apart = (channel * i, x.strides[0])
    rows = w.reshape(groups, 1, o // groups, -1)
    depth = i * math.prod(window)
    # copying is quick along the longer axis; gradients of weights have windows as large as images
    if window and window[-1] > places[-1]:
        view = np.lib.stride_tricks.as_strided(
            x, (*stack, *places, i, *window), (*apart, *far, channel, *near), writeable=False
        )
        # one product for all examples: an image has few places here
        windows = view.reshape(groups, n * math.prod(places), depth)
        y = matmul(windows, rows[:, 0].swapaxes(1, 2)).reshape(*stack, math.prod(places), -1).swapaxes(2, 3)
    else:
        view = np.lib.stride_tricks.as_strided(
            x, (*stack, i, *window, *places), (*apart, channel, *near, *far), writeable=False
        )
        windows = view.reshape(*stack, depth, math.prod(places))
        y = matmul(rows, windows)
    return y.swapaxes(0, 1).reshape(n, o, *places)  # from [groups, n, o / groups, places]


# the three primitives of nn/functional/convolution_terms.py -------------------------------------------------


class _Taps:
    """The elements of a convolution's kernel, and the part of the image that each meets.

    Images are [n, groups, channels, ...] here, weights [groups, rows, channels, elements], results
    [n, groups, rows, positions].

    Attributes:
        slices: for each element, in order, the slices of the padded image that it meets.
        is_elementwise: bool, whether each group has one channel and one row, so that products of numbers
            suffice in place of products of matrices.
    """

    def __init__(self, params: Params, ins: Avals, out: Any) -> None:
        plan = params["plan"]
        shapes = params["shapes"]
        (n, c, *self.sizes), (o, i, *self.window) = shapes.x, shapes.weight
        if out.dtype.kind not in "fVc" or any(p < 0 for pair in plan.pads for p in pair):
            raise Refusal("a convolution of integers, or with padding that cuts off, is compiled")
        self.plan = plan
        self.dtype = out.dtype
        self.compute_dtype = compute_dtype(out.dtype)
        self.shape = out.shape
        groups = plan.groups
        self.elements = math.prod(self.window)
        self.image = n, groups, i
        self.result = n, groups, o // groups
        self.weight = groups, o // groups, i
        # Depthwise: one channel in and one out for each group.
        self.is_elementwise = i == 1 == o // groups
        if c * self.elements * math.prod(plan.out) * self.compute_dtype.itemsize > _LARGEST:
            raise Refusal(
                "a convolution that needs more than 128 MB for the windows of one example is compiled"
            )
        sizes_and_pads = list(zip(self.sizes, plan.pads, strict=True))
        self.padded = [size + before + after for size, (before, after) in sizes_and_pads]
        self.inside = tuple(slice(before, before + size) for size, (before, _) in sizes_and_pads)
        spans = [step * (count - 1) + 1 for step, count in zip(plan.strides, plan.out, strict=True)]
        self.slices = [
            tuple(
                slice(k * d, k * d + span, s)
                for k, d, span, s in zip(at, plan.dilations, spans, plan.strides, strict=True)
            )
            for at in np.ndindex(*self.window)
        ]

    def widen(self, x: np.ndarray) -> Any:
        return x.astype(self.compute_dtype, copy=False)

    def images(self, x: np.ndarray) -> Any:
        """x with its padding."""
        x = self.widen(x)
        if any(map(any, self.plan.pads)):
            padded = np.zeros((*x.shape[:2], *self.padded), x.dtype)
            padded[(..., *self.inside)] = x
            x = padded
        return x.reshape(*self.image, *self.padded)

    def per_element(self, image: np.ndarray) -> Any:
        """The part of the image that each element of the kernel meets: [n, groups, channels, positions]."""
        return (image[(..., *place)].reshape(*self.image, -1) for place in self.slices)

    def windows(self, image: np.ndarray) -> Any:
        """The parts of the image that all elements meet: [groups, channels, elements, n, positions]."""
        n, groups, channels = self.image
        positions = math.prod(self.plan.out)
        out = np.empty((groups, channels, self.elements, n, positions), image.dtype)
        for k, x in enumerate(self.per_element(image)):
            out[:, :, k] = x.transpose(1, 2, 0, 3)
        return out

    def weights(self, w: np.ndarray) -> Any:
        return self.widen(w).reshape(*self.weight, -1)

    def results(self, g: np.ndarray) -> Any:
        return self.widen(g).reshape(*self.result, -1)

    def finish(self, x: np.ndarray) -> Any:
        return x.reshape(self.shape).astype(self.dtype, copy=False)


@rule("convolution_result")
def _result(params: Params, ins: Avals, outs: Avals) -> Run:
    taps = _Taps(params, ins, outs[0])
    n, groups, _ = taps.image

    def by_elements(x: np.ndarray, w: np.ndarray) -> Any:
        w = taps.weights(w)
        y: Any = 0
        for k, part in enumerate(taps.per_element(taps.images(x))):
            y = y + part * w[:, :, 0, k, None]
        return taps.finish(y)

    def by_windows(x: np.ndarray, w: np.ndarray) -> Any:
        _, outputs, inputs = taps.weight
        columns = taps.windows(taps.images(x)).reshape(groups, inputs * taps.elements, -1)
        rows = taps.weights(w).reshape(groups, outputs, -1)
        y = matmul(rows, columns).reshape(groups, outputs, n, -1)
        return taps.finish(y.transpose(2, 0, 1, 3))

    if taps.is_elementwise:
        return by_elements
    return by_windows


@rule("convolution_image")
def _image(params: Params, ins: Avals, outs: Avals) -> Run:
    taps = _Taps(params, ins, outs[0])

    def contributions(g: np.ndarray, w: np.ndarray) -> Any:
        """The contribution of each element of the kernel to the image."""
        if taps.is_elementwise:
            return (g * w[:, :, 0, k, None] for k in range(taps.elements))
        groups, outputs, inputs = taps.weight
        n, *_, positions = g.shape
        if outputs > n * positions:
            # a copy of the weights with their axes in another order takes longer than the product
            columns = g.transpose(1, 2, 0, 3).reshape(groups, outputs, -1)
            products = matmul(w.reshape(groups, outputs, -1).swapaxes(1, 2), columns)
            products = products.reshape(groups, inputs, taps.elements, n, positions).transpose(3, 0, 2, 1, 4)
            return (products[:, :, k] for k in range(taps.elements))
        transposed = w.transpose(0, 3, 2, 1).reshape(groups, -1, outputs)
        if positions > _FEW_POSITIONS:
            products = matmul(transposed, g)
            products = products.reshape(*taps.image[:2], taps.elements, inputs, positions)
        else:  # the weights would be read once more for each example
            columns = g.transpose(1, 2, 0, 3).reshape(groups, outputs, -1)
            products = matmul(transposed, columns).reshape(groups, taps.elements, inputs, n, positions)
            products = products.transpose(3, 0, 1, 2, 4)
        return (products[:, :, k] for k in range(taps.elements))

    def run(g: np.ndarray, w: np.ndarray) -> Any:
        g = taps.results(g)
        image = np.zeros((*taps.image, *taps.padded), g.dtype)
        for place, part in zip(taps.slices, contributions(g, taps.weights(w)), strict=True):
            image[(..., *place)] += part.reshape(*taps.image, *taps.plan.out)
        return taps.finish(image[(..., *taps.inside)])

    return run


@rule("convolution_kernel")
def _kernel(params: Params, ins: Avals, outs: Avals) -> Run:
    taps = _Taps(params, ins, outs[0])
    n, groups, channels = taps.image

    def by_elements(g: np.ndarray, x: np.ndarray) -> Any:
        g = taps.results(g)
        parts = taps.per_element(taps.images(x))
        sums = [np.einsum("ngrp,ngcp->gr", g, part) for part in parts]
        return taps.finish(np.stack(sums, -1))

    def by_windows(g: np.ndarray, x: np.ndarray) -> Any:
        columns = taps.windows(taps.images(x)).reshape(groups, channels * taps.elements, -1)
        rows = taps.results(g).transpose(1, 2, 0, 3).reshape(groups, taps.weight[1], -1)
        return taps.finish(matmul(rows, columns.swapaxes(1, 2)))

    # One channel needs no product of matrices.
    if channels == 1:
        return by_elements
    return by_windows
