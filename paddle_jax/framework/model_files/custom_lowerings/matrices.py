"""Linear algebra and Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.builder_helpers import binary, cast
from paddle_jax.framework.model_files.custom_lowerings.spectra import has_lengths_of, resized_transform
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.records import Lowering

if TYPE_CHECKING:
    from paddle_jax.framework.model_files.builder import Builder, Value
    from paddle_jax.onnx.graph import Graph


def _outer(w: Builder, a: Any, out: Sequence[Any], x: Value, y: Value) -> Value:
    return binary(
        w,
        "multiply",
        w.op("reshape", [x, w.ints([-1, 1])], (x.dtype, [*out[0][1][:1], 1])),
        w.op("reshape", [y, w.ints([1, -1])], (y.dtype, [1, *out[0][1][1:]])),
        out[0],
    )


def _linear(w: Builder, a: Any, out: Sequence[Any], x: Value, weight: Value, bias: Value) -> Any:
    done = w.op("matmul", [cast(w, x, out[0][0]), cast(w, weight, out[0][0])], out[0])
    if bias is None:
        return done
    return w.op("add", [done, cast(w, bias, out[0][0])], out[0])


def _onnx_matmul(g: Graph, op: Any, x: str, y: str) -> str:
    for at, flip in enumerate((op.transpose_x, op.transpose_y)):
        if flip and op.ndim(at) > 1:
            # The last two axes are swapped.
            perm = [*range(op.ndim(at) - 2), op.ndim(at) - 1, op.ndim(at) - 2]
            if at == 0:
                x = g.node("Transpose", [x], perm=perm)
            else:
                y = g.node("Transpose", [y], perm=perm)
    return g.node("MatMul", [x, y])


# Fourier transforms -----------------------------------------------------------------------------------------


def _write_fft(name: str) -> Callable[..., Any]:
    def write(w: Any, a: Any, out: Any, x: Any) -> Any:
        if name == "fft_r2c":
            extra = {"onesided": True}
        elif name == "fft_c2r":
            extra = {"last_dim_size": out[0][1][a.axes[-1]]}
        else:
            extra = {}
        if not has_lengths_of(a, x, name == "fft_c2r"):
            raise NotWritable("a Fourier transform of nothing has no form in PIR")
        if name == "fft_c2r" and not x.dtype.startswith("complex"):
            # A transform to real numbers wants complex ones.
            x = cast(w, x, {"float64": "complex128"}.get(x.dtype, "complex64"))
        if name == "fft_c2c" and not x.dtype.startswith("complex"):
            return w.op(
                "fft_r2c", [x], out[0], axes=a.axes, normalization=a.norm, forward=a.forward, onesided=False
            )
        return w.op(name, [x], out[0], axes=a.axes, normalization=a.norm, forward=a.forward, **extra)

    return write


def _directed(a: Any, forward: Any, inverse: Any) -> Any:
    """The transform in the direction that an operation has as an attribute."""
    if a.forward:
        return forward
    return inverse


def _read_c2c(a: Any, x: Any) -> Any:
    return _directed(a, P.fftn, P.ifftn)(x, axes=a.axes, norm=a.normalization)


def _read_r2c(a: Any, x: Any) -> Any:
    if a.onesided:
        return _directed(a, P.rfftn, P.ihfftn)(x, axes=a.axes, norm=a.normalization)
    return _read_c2c(a, x)


def _read_c2r(a: Any, x: Any) -> Any:
    # The last length of a real result is not known from its half: even unless it is given.
    sizes = [x.shape[axis] for axis in a.axes[:-1]] + [a.last_dim_size or 2 * (x.shape[a.axes[-1]] - 1)]
    return _directed(a, P.hfftn, P.irfftn)(x, s=sizes, axes=a.axes, norm=a.normalization)


outer: Lowering = Lowering(_outer)
linear: Lowering = Lowering(_linear)
matmul: Lowering = Lowering(onnx=_onnx_matmul)
fft_c2c: Lowering = Lowering(_write_fft("fft_c2c"), _read_c2c, decompose=resized_transform("c2c"))
fft_r2c: Lowering = Lowering(_write_fft("fft_r2c"), _read_r2c, decompose=resized_transform("r2c"))
fft_c2r: Lowering = Lowering(_write_fft("fft_c2r"), _read_c2r, decompose=resized_transform("c2r", True))
