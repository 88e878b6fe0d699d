"""Pooling."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.builder_helpers import pair, squeeze, unsqueeze
from paddle_jax.framework.model_files.custom_lowerings.convolution import (
    flat,
    layout,
    onnx_pads,
    padding,
    read_padding,
)
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.records import Lowering

_FORMS = {2: "NCHW", 3: "NCDHW"}  # data formats, by the axes of space


def _pool(n: int, kind: str) -> Callable[..., Any]:
    def rule(w: Any, a: Any, out: Any, x: Any) -> Any:
        form = getattr(a, "data_format", _FORMS[n])
        if getattr(a, "divisor_override", None) is not None:
            raise NotWritable("avg_pool with divisor_override has no form in PIR")
        pads, how = padding(a, n, form[-1] == "C")
        size = pair(a.kernel_size, n)
        # Windows lie side by side unless the stride is given.
        stride = pair(a.stride or a.kernel_size, n)
        if getattr(a, "return_mask", False):
            return w.op(
                f"max_pool{n}d_with_index",
                [x],
                # Pads of one side: the operation has equal ones.
                out,
                kernel_size=size,
                strides=stride,
                paddings=pads[:n],
                ceil_mode=a.ceil_mode,
            )
        attrs = {
            "strides": stride,
            "paddings": pads,
            "padding_algorithm": how,
            "ceil_mode": a.ceil_mode,
            "data_format": form,
            "pooling_type": kind,
        }
        return _pooled(w, n, x, size, out[0], exclusive=getattr(a, "exclusive", True), **attrs)

    return rule


def _pooled(w: Any, n: Any, x: Any, size: Any, out: Any, **attrs: Any) -> Any:
    if n == 2:
        return w.op("pool2d", [x, w.ints(size)], out, **attrs)
    return w.op("pool3d", [x], out, kernel_size=size, **attrs)


def _adaptive(n: int, kind: str) -> Callable[..., Any]:
    def rule(w: Any, a: Any, out: Any, x: Any) -> Any:
        form = getattr(a, "data_format", _FORMS[n])
        if form not in ("NCHW", "NHWC", "NCDHW", "NDHWC"):
            form = _FORMS[n]
        sizes = [out[0][1][i] for i, c in enumerate(form) if c not in "NC"]
        if kind == "max":
            both = [out[0], ("int32", out[0][1])]
            found = w.op(
                f"max_pool{n}d_with_index",
                [x],
                both,
                kernel_size=sizes,
                strides=[1] * n,
                paddings=[0] * n,
                adaptive=True,
            )
            if a.return_mask:
                return found
            return found[0]
        return _pooled(
            w,
            n,
            x,
            sizes,
            out[0],
            strides=[1] * n,
            paddings=[0] * n,
            data_format=form,
            pooling_type=kind,
            adaptive=True,
        )

    return rule


def _scatter_back(w: Any, a: Any, out: Any, x: Any, indices: Any) -> Any:
    """The reverse of a pooling. Paddle computes with the lengths of the result alone; windows that give them
    are written beside."""
    sizes = list(a.sizes)
    n = len(a.sizes)
    if n == 1:
        x = unsqueeze(w, x, 2)
        indices = unsqueeze(w, indices, 2)
        sizes, out = [1, *sizes], [(x.dtype, [*x.shape[:2], 1, *sizes])]
    kernel, strides, pads = zip(*map(_window, x.shape[2:], sizes), strict=True)
    if n == 3:
        return w.op(
            "unpool3d", [x, indices], out[0], ksize=kernel, strides=strides, paddings=pads, output_size=sizes
        )
    found = w.op("unpool", [x, indices, w.ints(sizes)], out[0], ksize=kernel, strides=strides, padding=pads)
    if n == 1:
        return squeeze(w, found, [2])
    return found


def _window(length: Any, size: Any) -> tuple[int, int, int] | tuple[Any, int, int]:
    """(kernel, stride, padding) of windows that make `length` places of `size`."""
    if is_length(length) or is_length(size):
        return 1, 1, 0
    stride = max(1, size // length)
    # The window that is left for the last place.
    rest = size - (length - 1) * stride
    padding = max(0, (2 - rest) // 2)
    return rest + 2 * padding, stride, padding


def _fractional(w: Any, a: Any, out: Any, x: Any, tables: Any = None) -> Any:
    """Drawn again in each run where no share is given, which 0 stands for."""
    n = x.ndim - 2
    sizes = a.sizes if hasattr(a, "sizes") else a.output_size
    if sizes is None:
        raise NotWritable("a fractional pooling without its sizes has no form in PIR")
    found = w.op(
        f"fractional_max_pool{n}d",
        [x],
        [out[0], ("int32", out[0][1])],
        output_size=list(sizes),
        kernel_size=list(a.kernel or [0] * n),
        random_u=a.share or 0.0,
        return_mask=a.return_mask,
    )
    if a.return_mask:
        return found
    return found[0]


def _divided_pool(n: int) -> Callable[..., Any]:
    """Parts of an average over a given number."""

    def decompose(a: Any, x: Any) -> Any:
        if a.divisor_override is None:
            return None
        size = pair(a.kernel_size, n)
        found = getattr(P, f"avg_pool{n}d")(
            x, size, a.stride, a.padding, a.ceil_mode, a.exclusive, data_format=a.data_format
        )
        # The mean times the number of elements is the sum.
        return found * (math.prod(size) / a.divisor_override)

    return decompose


def _lp_pool(w: Any, a: Any, out: Any, x: Any) -> Any:
    pads, how = padding(a, 2, a.data_format[-1] == "C")
    size = pair(a.kernel_size, 2)
    stride = size
    if a.stride is not None:
        stride = pair(a.stride, 2)
    return w.op(
        "lp_pool2d",
        [x],
        out[0],
        kernel_size=size,
        strides=stride,
        paddings=pads,
        padding_algorithm=how,
        ceil_mode=a.ceil_mode,
        data_format=a.data_format,
        pooling_type="lp",
        norm_type=float(a.norm_type),
    )


def _read_pool(dims: int) -> Callable[..., Any]:
    def rule(a: Any, x: Any, n_size: Any = None) -> Any:
        if n_size is None:
            size = list(a.kernel_size)
        else:
            size = list(n_size)
        form = layout(a, f"{dims}d")
        kind = a.pooling_type
        if a.adaptive:
            if kind == "max":
                return getattr(P, f"adaptive_max_pool{dims}d")(x, size)
            return getattr(P, f"adaptive_avg_pool{dims}d")(x, size, data_format=form)
        padding = read_padding(a)
        if a.global_pooling:
            size = [n for n, c in zip(x.shape, form, strict=True) if c not in "NC"]
            padding = 0
        if kind == "max":
            return getattr(P, f"max_pool{dims}d")(
                x, size, a.strides, padding, ceil_mode=a.ceil_mode, data_format=form
            )
        return getattr(P, f"avg_pool{dims}d")(
            x, size, a.strides, padding, a.ceil_mode, a.exclusive, data_format=form
        )

    return rule


def _read_max(dims: int) -> Callable[..., Any]:
    def rule(a: Any, x: Any) -> Any:
        if a.adaptive:
            return getattr(P, f"adaptive_max_pool{dims}d")(x, a.kernel_size, True)
        size, pads = a.kernel_size, a.paddings
        # One window over the whole image.
        if a.global_pooling:
            size, pads = list(x.shape[2:]), 0
        return getattr(P, f"max_pool{dims}d")(x, size, a.strides, pads, True, a.ceil_mode)

    return rule


def _read_lp(a: Any, x: Any) -> Any:
    return P.lp_pool2d(x, a.norm_type, a.kernel_size, a.strides, read_padding(a), a.ceil_mode, a.data_format)


def _onnx_pool(g: Any, op: Any, x: Any, size: Any = None) -> Any:
    op.channels_first()
    if size is None:
        size = list(op.kernel_size)
    else:
        size = [int(s) for s in g.numbers(size)]
    n = op.ndim() - 2
    kind = {"avg": "Average"}.get(op.pooling_type, "Max")
    if op.global_pooling or (op.adaptive and all(s == 1 for s in size)):
        return g.node(f"Global{kind}Pool", [x])
    strides = op.strides
    if op.adaptive:
        lengths = op.lengths()[2:]
        # Windows of one size exist only where the lengths divide.
        if any(m < 0 or m % s for m, s in zip(lengths, size, strict=True)):
            return _onnx_adaptive(g, op, x, size, kind)
        size = strides = [m // s for m, s in zip(lengths, size, strict=True)]
        return g.node(f"{kind}Pool", [x], kernel_shape=size, strides=strides)
    if kind == "Average":
        extra = {"count_include_pad": int(not op.exclusive)}
    else:
        extra = {}
    return g.node(
        f"{kind}Pool",
        [x],
        kernel_shape=size,
        strides=strides,
        ceil_mode=int(op.ceil_mode),
        **extra,
        **onnx_pads(op, n),
    )


def _onnx_adaptive(g: Any, op: Any, x: str, sizes: Sequence[int], kind: str) -> str:
    """Adaptive pooling to some lengths, one axis after the other. kind: "Average" or "Max"."""
    for axis, size in enumerate(sizes, 2):
        x = _pooled_along(g, op, x, axis, size, kind)
    return x


def _pooled_along(g: Any, op: Any, x: str, axis: int, size: int, kind: str) -> str:
    count = g.node("Gather", [g.node("Shape", [x]), g.ints([axis])])
    # Window k takes what is between k * n / size and (k + 1) * n / size, rounded outwards.
    places = np.arange(size, dtype=np.int64)[:, None]
    starts = g.node("Div", [g.node("Mul", [g.constant(places), count]), g.ints([size])])
    ends = g.node("Mul", [g.constant(places + 1), count])
    ends = g.node("Div", [g.node("Add", [ends, g.ints([size - 1])]), g.ints([size])])
    widths = g.node("Sub", [ends, starts])
    widest = g.node("ReduceMax", [widths], keepdims=0)
    steps = g.node("Range", [g.number(0, "int64"), widest, g.number(1, "int64")])
    taken = g.node("Add", [starts, steps])
    is_inside = g.node("Less", [taken, ends])
    windows = g.node("Gather", [x, g.node("Min", [taken, g.node("Sub", [ends, g.ints([1])])])], axis=axis)
    # An element that is there twice changes no maximum.
    if kind == "Max":
        return g.node("ReduceMax", [windows], axes=[axis + 1], keepdims=0)
    behind = op.ndim() - axis - 1
    inside = g.node("Unsqueeze", [is_inside, g.ints(list(range(2, 2 + behind)))]) if behind else is_inside
    parts = g.node("Where", [inside, windows, g.number(0, op.kind())])
    total = g.node("ReduceSum", [parts, g.ints([axis + 1])], keepdims=0)
    divisors = g.node("Reshape", [g.cast(widths, op.kind()), g.ints([-1, *[1] * behind])])
    return g.node("Div", [total, divisors])


def _onnx_max(g: Any, op: Any, x: Any) -> list[Any]:
    op.pooling_type = "max"
    op.padding_algorithm = "EXPLICIT"
    op.data_format = "NCHW"
    op.exclusive = True
    found = _onnx_pool(g, op, x)
    pool = g.nodes[-1]
    if pool.op_type != "MaxPool":
        return [found, None]
    # ONNX counts over the whole tensor, Paddle in each image.
    places = g.name()
    pool.output.append(places)
    sizes = g.node("Slice", [g.node("Shape", [x]), g.ints([2]), g.ints([op.ndim()])])
    image = g.node("ReduceProd", [sizes], keepdims=1)
    return [found, g.cast(g.node("Mod", [places, image]), "int32")]


avg_pool1d: Lowering = Lowering(flat(_pool(2, "avg"), False))
max_pool1d: Lowering = Lowering(flat(_pool(2, "max"), False))
avg_pool2d: Lowering = Lowering(_pool(2, "avg"), _read_pool(2), _onnx_pool, _divided_pool(2))
avg_pool3d: Lowering = Lowering(_pool(3, "avg"), _read_pool(3), _onnx_pool, _divided_pool(3))
scatter_back: Lowering = Lowering(_scatter_back)
fractional: Lowering = Lowering(_fractional)
max_pool2d: Lowering = Lowering(_pool(2, "max"), _read_max(2), _onnx_max)
max_pool3d: Lowering = Lowering(_pool(3, "max"), _read_max(3), _onnx_max)
adaptive_avg_pool1d: Lowering = Lowering(flat(_adaptive(2, "avg"), False))
adaptive_max_pool1d: Lowering = Lowering(flat(_adaptive(2, "max"), False))
adaptive_avg_pool2d: Lowering = Lowering(_adaptive(2, "avg"))
adaptive_avg_pool3d: Lowering = Lowering(_adaptive(3, "avg"))
adaptive_max_pool2d: Lowering = Lowering(_adaptive(2, "max"))
adaptive_max_pool3d: Lowering = Lowering(_adaptive(3, "max"))
lp_pool2d: Lowering = Lowering(_lp_pool, _read_lp)
lp_pool1d: Lowering = Lowering(flat(_lp_pool, False))
