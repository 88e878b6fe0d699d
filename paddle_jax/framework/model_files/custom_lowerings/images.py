"""Resizing, padding and windows of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.lazy.lengths import expression_of, has_lengths, is_length, to_int
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.builder_helpers import cast, pair, squeeze, unsqueeze
from paddle_jax.framework.model_files.plain_values import image_format
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.records import Lowering, NotInOnnx
from paddle_jax.nn.functional.common import unfold
from paddle_jax.nn.functional.resize import resize_to

if TYPE_CHECKING:
    from paddle_jax.framework.model_files.builder import Builder, Value
    from paddle_jax.onnx.graph import Graph


def _resize(w: Builder, a: Any, out: Sequence[Any], x: Value) -> Any:
    n = x.ndim - 2
    if has_lengths(a.size):
        spatial = pair(a.size, n)
    elif a.last:
        spatial = out[0][1][1:-1]
    else:
        spatial = out[0][1][2:]
    form = image_format(a.last)
    # -1: the lengths come from the operand or from the factors.
    size = [-1] * 3
    factors = []
    operand = None
    scale = None
    has_factors = a.scale_factor is not None and not a.recompute
    if has_lengths(a.scale_factor):
        factors = pair(a.scale_factor, n)
        if len(factors) == 1:
            factors = factors * n
        first = 1 if a.last else 2
        # Paddle multiplies in double precision. Its operation would do so in single precision.
        spatial = [to_int(length * f) for length, f in zip(x.shape[first:], factors, strict=False)]
        if has_factors:
            items = w.combine([w.number(f, "float32") for f in factors])
            scale = w.op("stack", [items], ("float32", [n]), axis=0)
        factors = []
        has_factors = False
    # Factors, which the file applies to the lengths of its inputs.
    if has_factors:
        factors = [float(f) for f in pair(a.scale_factor, n)]
        if len(factors) == 1:
            factors = factors * n
    elif has_lengths(spatial):
        operand = w.op(
            "concat",
            # Several sizes as one int32 operand.
            [w.combine([w.number(v, "int64", (1,)) for v in spatial]), w.full(0, "int32")],
            ("int64", [n]),
        )
        operand = cast(w, operand, "int32")
    else:
        size[3 - n :] = spatial
    name = a.mode + "_interp"
    if a.antialias:
        name = "interp_antialias"
    return w.op(
        name,
        [x, operand, None, scale],
        out[0],
        data_format=form,
        out_d=size[0],
        out_h=size[1],
        out_w=size[2],
        scale=factors,
        interp_method=a.mode,
        align_corners=a.align_corners,
        align_mode=a.align_mode,
    )


def read_antialias(a: Any, x: Any, n_size: Any = None, sizes: Any = None, n_scale: Any = None) -> Any:
    """`interp_antialias` by our operations."""
    return _read_resize(a, x, n_size, sizes, n_scale, antialias=True)


def _read_resize(
    a: Any, x: Any, n_size: Any = None, sizes: Any = None, n_scale: Any = None, antialias: bool = False
) -> Any:
    dims = x.ndim - 2
    form = {1: {"NCHW": "NCW"}, 3: {"NCHW": "NCDHW"}}.get(dims, {}).get(a.data_format, a.data_format)
    size = [n for n in (a.out_d, a.out_h, a.out_w)[3 - dims :]]
    if sizes is not None:
        size = [one.reshape([]) for one in sizes]
    elif n_size is not None:
        size = n_size
    if n_scale is None:
        scale = a.scale
    elif isinstance(n_scale, float | list):
        scale = n_scale
    else:
        scale = n_scale.reshape([-1]).tolist()
    if n_size is not None and n_scale is not None:
        # The size says the lengths, and the factors say the positions.
        return resize_to(
            x, size, scale, a.interp_method, bool(a.align_corners), int(a.align_mode), form[-1] == "C"
        )
    if sizes is not None or n_size is not None or (all(n > 0 for n in size) and not scale):
        chosen = {"size": size}
    else:
        chosen = {"scale_factor": scale}
    return P.interpolate(
        x,
        mode=a.interp_method,
        align_corners=a.align_corners,
        align_mode=a.align_mode,
        data_format=form,
        antialias=antialias,
        **chosen,
    )


def _onnx_resize(
    g: Graph, op: Any, x: str, size: str | None = None, sizes: Any = None, scale: Any = None
) -> str:
    op.channels_first()
    n = op.ndim() - 2
    given = [op.out_d, op.out_h, op.out_w][3 - n :]
    mode = {"nearest": "nearest", "bicubic": "cubic"}.get(op.interp_method, "linear")
    # ONNX's names for how positions of the result are mapped to the input.
    if op.align_corners:
        how = "align_corners"
    elif op.align_mode == 1 or mode == "nearest":
        how = "asymmetric"
    # The one place of a result of length 1 is the beginning in Paddle's bilinear resize.
    elif op.interp_method == "bilinear":
        how = "pytorch_half_pixel"
    else:
        how = "half_pixel"
    if op.interp_method == "bicubic" and how == "half_pixel" and 1 in given:
        raise NotInOnnx("a bicubic resize to the length 1")
    attrs = {
        "mode": mode,
        "coordinate_transformation_mode": how,
        "cubic_coeff_a": -0.75,
        "nearest_mode": "floor",
    }
    if size is not None and scale is not None:
        raise NotInOnnx("a resize by factors that depend on lengths")
    # By sizes; otherwise by factors.
    if size is not None or (all(m > 0 for m in given) and not op.scale):
        tail = g.ints(given) if size is None else g.cast(size, "int64")
        if (
            mode == "nearest"
            and how == "asymmetric"
            and (size is not None or not _picks_alike(op.lengths()[2:], given))
        ):
            return _onnx_nearest(g, x, tail, n)
        # ONNX wants the lengths of all axes, batch and channels included.
        head = g.node("Slice", [g.node("Shape", [x]), g.ints([0]), g.ints([2])])
        return g.node("Resize", [x, None, None, g.node("Concat", [head, tail], axis=0)], **attrs)
    if not op.scale:
        raise NotInOnnx("sizes as tensors")
    return g.node("Resize", [x, None, g.constant(np.array([1, 1, *op.scale], np.float32))], **attrs)


def _picks_alike(lengths: Any, sizes: Any) -> bool:
    """Whether ONNX runtimes, which divide by a rounded scale, pick the elements that Paddle picks."""
    # ONNX runtimes divide by a scale in float32, Paddle multiplies by one.
    for length, size in zip(lengths, sizes, strict=True):
        if length < 0:
            return False
        places = np.arange(size, dtype=np.float32)
        by_runtime = np.floor(places / np.float32(np.float32(size) / np.float32(length)))
        by_paddle = np.floor(places * np.float32(np.float32(length) / np.float32(size)))
        if not np.array_equal(by_runtime, by_paddle):
            return False
    return True


def _onnx_nearest(g: Graph, x: str, sizes: str, spatial: int) -> str:
    """The nearest elements, picked axis by axis in Paddle's arithmetic."""
    for at in range(spatial):
        axis = 2 + at
        size = g.node("Gather", [sizes, g.number(at, "int64")])
        length = g.node("Gather", [g.node("Shape", [x]), g.number(axis, "int64")])
        ratio = g.node("Div", [g.cast(length, "float32"), g.cast(size, "float32")])
        places = g.cast(g.node("Range", [g.number(0, "int64"), size, g.number(1, "int64")]), "float32")
        picked = g.cast(g.node("Floor", [g.node("Mul", [places, ratio])]), "int64")
        x = g.node("Gather", [x, picked], axis=axis)
    return x


def _pad(w: Builder, a: Any, out: Sequence[Any], x: Value) -> Any:
    pads = list(a.pad)
    n = x.ndim
    spatial = n - 2
    if a.mode == "constant" and (not 3 <= n <= 5 or len(pads) != 2 * spatial):
        if len(pads) % 2:
            pads = [*pads, 0]
        if len(pads) < 2 * n or not a.pad_from_left_axis:  # the last axis comes first
            pads = [p for i in range(len(pads) // 2)[::-1] for p in pads[2 * i : 2 * i + 2]]
        # `pad` takes all axes from the first one on.
        ordered = [0] * (2 * n - len(pads)) + pads
        if has_lengths(ordered):
            return _joined(w, x, ordered, a.value)
        return w.op("pad", [x, w.full(a.value, x.dtype)], out[0], paddings=ordered)
    if not 3 <= n <= 5 or len(pads) != 2 * spatial or any(not is_length(p) and p < 0 for p in pads):
        raise NotWritable("this form of pad has no form in PIR")
    last = (a.data_format or "NCW")[-1] == "C"
    axis = 2 - last
    done = x
    # Paddle pads images of three axes alone, so missing ones are added.
    for _ in range(3 - spatial):
        done = unsqueeze(w, done, axis)
        pads = [*pads, 0, 0]
    kind = out[0][0], [*out[0][1][:axis], *[1] * (3 - spatial), *out[0][1][axis:]]
    done = w.op(
        "pad3d",
        [done, w.ints(pads)],
        kind,
        mode=a.mode,
        pad_value=float(a.value),
        data_format="NDHWC" if last else "NCDHW",
    )
    if spatial < 3:
        return squeeze(w, done, list(range(axis, axis + 3 - spatial)))
    return done


def _joined(w: Any, x: Any, pads: Any, value: Any) -> Any:
    """x between blocks of a number, whose lengths depend on the inputs."""
    for axis in range(x.ndim):
        before, after = pads[2 * axis : 2 * axis + 2]
        parts = []
        for length in (before, None, after):
            shape = [*x.shape[:axis], length, *x.shape[axis + 1 :]]
            if length is None:
                parts.append(x)
            elif expression_of(length) != 0:
                parts.append(
                    w.op(
                        "full_with_tensor",
                        [w.full(value, x.dtype), w.ints(shape)],
                        (x.dtype, shape),
                        dtype=x.dtype,
                    )
                )
        if len(parts) > 1:
            shape = [*x.shape[:axis], x.shape[axis] + before + after, *x.shape[axis + 1 :]]
            x = w.op("concat", [w.combine(parts), w.full(axis, "int32")], (x.dtype, shape))
    return x


def _read_pad(a: Any, x: Any, n_pads: Any) -> Any:
    return P.pad(x, n_pads, a.mode, a.pad_value, a.data_format)


def _onnx_pad(g: Graph, op: Any, x: str, pads: str) -> str:
    if op.mode == "circular":
        raise NotInOnnx("circular padding")
    pads = g.int_list(pads)
    # Paddle has pairs from the last axis on, ONNX all begins and then all ends.
    zero = g.ints([0])
    rows = []
    for order in ((4, 2, 0), (5, 3, 1)):
        spatial = g.node("Gather", [pads, g.ints(order)])
        # The batch and the channels, which may be last, stay.
        rows += [zero, spatial, zero] if op.data_format[-1] == "C" else [zero, zero, spatial]
    pads = g.node("Concat", rows, axis=0)
    mode = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}[op.mode]
    return g.node("Pad", [x, pads, g.number(op.pad_value, op.kind())], mode=mode)


def _unfold(w: Any, a: Any, out: Any, x: Any) -> Any:
    if not isinstance(a.paddings, int):
        pads = pair(a.paddings, 2)
    else:
        pads = [a.paddings] * 2
    # Both sides of each axis.
    if not (len(pads) == 4):
        pads = [*pads, *pads]
    sizes, strides, dilations = (pair(v, 2) for v in (a.kernel_sizes, a.strides, a.dilations))
    return w.op(
        "unfold", [x], out[0], kernel_sizes=sizes, strides=strides, paddings=pads, dilations=dilations
    )


def _read_unfold(a: Any, x: Any) -> Any:
    return unfold(x, a.kernel_sizes, a.strides, a.paddings, a.dilations)


def _fold(w: Any, a: Any, out: Any, x: Any) -> Any:
    pads = pair(a.paddings, 2)
    sizes, kernel, strides, dilations = (
        pair(v, 2) for v in (a.output_sizes, a.kernel_sizes, a.strides, a.dilations)
    )
    return w.op(
        "fold",
        [x],
        out[0],
        output_sizes=sizes,
        kernel_sizes=kernel,
        strides=strides,
        paddings=pads if len(pads) == 4 else [*pads, *pads],
        dilations=dilations,
    )


fold: Lowering = Lowering(_fold)
resize: Lowering = Lowering(_resize, _read_resize, _onnx_resize)
pad: Lowering = Lowering(_pad, _read_pad, _onnx_pad)
windows: Lowering = Lowering(_unfold, _read_unfold)
