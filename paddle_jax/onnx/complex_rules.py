"""ONNX forms of operations on complex numbers, and of Fourier transforms.

Runtimes have no complex numbers, so a complex tensor is a Pair of two real ones.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.framework.model_files.records import NotInOnnx, lowering_of
from paddle_jax.onnx.element_rules import RULES as ELEMENT_RULES
from paddle_jax.onnx.moving_rules import length

if TYPE_CHECKING:
    from paddle_jax.onnx.graph import Graph

_REAL = {"complex64": "float32", "complex128": "float64"}
# The same operation on both parts. Zeros that fill up are zero in both.
_BY_PARTS = {
    *("add", "subtract", "sum", "mean", "cumsum", "assign", "transpose", "reshape", "flatten", "squeeze"),
    *("unsqueeze", "slice", "strided_slice", "concat", "stack", "split", "split_with_num", "unstack"),
    *("unbind", "expand", "expand_as", "tile", "flip", "roll", "gather", "gather_nd", "index_select"),
    *("take_along_axis", "frame", "overlap_add", "tril", "triu", "where", "set_value_with_tensor"),
    *("set_value_with_tensor_", "masked_select", "repeat_interleave", "diagonal", "scatter", "index_put"),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Pair:
    """A complex tensor.

    Attributes:
        real: name of the tensor of its real parts.
        imag: that of its imaginary parts.
    """

    real: str
    imag: str


def is_complex(kind: Any) -> bool:
    """Whether an operand or result, or one of a list, is complex."""
    if isinstance(kind, list):
        return any(map(is_complex, kind))
    return kind is not None and kind[0] in _REAL


def run_complex(rule: Callable[..., Any] | None, g: Graph, op: Any, name: str, operands: Any) -> Any:
    """The results of an operation that has complex operands or results.

    Args:
        rule: that for real numbers, if there is one.
        g: graph.
        op: the operation.
        name: that of the operation.
        operands: names, Pairs, lists of them, or None.
    """
    own = COMPLEX_RULES.get(name)
    if own is not None:
        return own(g, op, *operands)
    if name.startswith("builtin."):
        # Lists of tensors are put together and taken apart as they are.
        return rule(g, op, *operands)
    if rule is None or name not in _BY_PARTS:
        raise NotInOnnx("complex numbers; compute with paddle.real(x) and paddle.imag(x)")
    # A real number among complex ones has the imaginary part 0. Whole numbers are positions and lengths.
    operands = [
        _as_pair(g, op, position, one) if _is_floating(kind) else one
        for position, (one, kind) in enumerate(zip(operands, op.kinds, strict=True))
    ]
    op = _of_real_numbers(op)
    real = rule(g, op, *[_component(one, True) for one in operands])
    imag = rule(g, op, *[_component(one, False) for one in operands])
    if isinstance(real, list):
        # Results of a list may be names of lists again, or missing.
        return [one and Pair(one, other) for one, other in zip(real, imag, strict=True)]
    return Pair(real, imag)


def pair_of(g: Graph, array: Any, name: str | None = None) -> Pair:
    """A constant."""
    real, imag = (name and f"{name}.{part}" for part in ("real", "imag"))
    return Pair(g.constant(np.real(array), real), g.constant(np.imag(array), imag))


def real_parts(kinds: Any) -> list[tuple[str, tuple[int, ...]]]:
    """The dtypes and shapes of the real tensors that stand for tensors."""
    found = []
    for kind in kinds:
        found.append(_real_kind(kind))
        if is_complex(kind):
            found.append(_real_kind(kind))
    return found


def names_of(values: Any) -> list[str]:
    """The names of the real tensors that stand for tensors."""
    found = []
    for value in values:
        if isinstance(value, Pair):
            found += [value.real, value.imag]
        else:
            found.append(value)
    return found


def paired(names: Any, kinds: Any) -> list[Any]:
    """The reverse of `names_of`."""
    left = iter(names)
    return [Pair(next(left), next(left)) if is_complex(kind) else next(left) for kind in kinds]


def _of_real_numbers(op: Any) -> Any:
    """An operation as it is for each part."""
    found = copy.copy(op)
    found.kinds = [_real_kind(kind) for kind in op.kinds]
    found.out = _real_kind(op.out)
    return found


def _real_kind(kind: Any) -> Any:
    if isinstance(kind, list):
        return list(map(_real_kind, kind))
    if kind is None:
        return None
    return _REAL.get(kind[0], kind[0]), kind[1]


def _is_floating(kind: Any) -> bool:
    return isinstance(kind, tuple) and kind[0].startswith(("float", "bfloat"))


def _component(value: Any, is_real: bool) -> Any:
    if isinstance(value, list):
        return [_component(one, is_real) for one in value]
    if isinstance(value, Pair):
        return value.real if is_real else value.imag
    return value


def _as_pair(g: Graph, op: Any, position: int, value: Any) -> Pair:
    """An operand, which may be real."""
    if isinstance(value, Pair):
        return value
    dtype = _real_kind(op.out)[0]
    if op.kind(position) != dtype:
        value = g.cast(value, dtype)
    return Pair(value, g.node("Expand", [g.number(0, dtype), g.node("Shape", [value])]))


def _by_parts(name: str) -> Callable[..., Any]:
    """Sums, whose operands may be real."""

    def rule(g: Graph, op: Any, x: Any, y: Any) -> Pair:
        one, other = _as_pair(g, op, 0, x), _as_pair(g, op, 1, y)
        return Pair(g.node(name, [one.real, other.real]), g.node(name, [one.imag, other.imag]))

    return rule


def _multiplied(g: Graph, x: Pair, y: Pair, multiply: Callable[[str, str], str]) -> Pair:
    real = g.node("Sub", [multiply(x.real, y.real), multiply(x.imag, y.imag)])
    imag = g.node("Add", [multiply(x.real, y.imag), multiply(x.imag, y.real)])
    return Pair(real, imag)


def _product(g: Graph, op: Any, x: Any, y: Any) -> Pair:
    x, y = _as_pair(g, op, 0, x), _as_pair(g, op, 1, y)
    return _multiplied(g, x, y, lambda one, other: g.node("Mul", [one, other]))


def _matrix_product(g: Graph, op: Any, x: Any, y: Any) -> Pair:
    x, y = _as_pair(g, op, 0, x), _as_pair(g, op, 1, y)
    rule = lowering_of("matrices:matmul").onnx
    return _multiplied(g, x, y, lambda one, other: rule(g, op, one, other))


def _quotient(g: Graph, op: Any, x: Any, y: Any) -> Pair:
    one = _as_pair(g, op, 0, x)
    if not isinstance(y, Pair):
        y = _as_pair(g, op, 1, y).real
        return Pair(g.node("Div", [one.real, y]), g.node("Div", [one.imag, y]))
    # Divided by the size of y first, so that its square does not leave the range of the dtype.
    size = _size(g, op, y)
    unit = Pair(g.node("Div", [y.real, size]), g.node("Neg", [g.node("Div", [y.imag, size])]))
    found = _product(g, op, one, unit)
    return Pair(g.node("Div", [found.real, size]), g.node("Div", [found.imag, size]))


def _size(g: Graph, op: Any, x: Pair) -> str:
    """The absolute value, without squares of large numbers."""
    dtype = _REAL[op.kind(0)] if op.kind(0) in _REAL else _REAL[op.kind(1)]
    parts = [g.node("Abs", [part]) for part in (x.real, x.imag)]
    larger, smaller = g.node("Max", parts), g.node("Min", parts)
    # 0 / 0 and infinity / infinity have no meaning here.
    zero = g.number(0, dtype)
    is_plain = g.node("And", [g.node("Less", [zero, larger]), g.node("Not", [g.node("IsInf", [larger])])])
    ratio = g.node("Where", [is_plain, g.node("Div", [smaller, larger]), zero])
    root = g.node("Sqrt", [g.node("Add", [g.node("Mul", [ratio, ratio]), g.number(1, dtype)])])
    return g.node("Mul", [larger, root])


def _angle(g: Graph, op: Any, x: Pair) -> str:
    return ELEMENT_RULES["atan2"](g, _of_real_numbers(op), x.imag, x.real)


def _conjugate(g: Graph, op: Any, x: Pair) -> Pair:
    return Pair(x.real, g.node("Neg", [x.imag]))


def _scale(g: Graph, op: Any, x: Pair, factor: str) -> Pair:
    dtype = _REAL[op.kind()]
    factor = g.cast(factor, dtype)
    bias = g.number(op.bias, dtype)
    if op.bias_after_scale:
        return Pair(g.node("Add", [g.node("Mul", [x.real, factor]), bias]), g.node("Mul", [x.imag, factor]))
    return Pair(g.node("Mul", [g.node("Add", [x.real, bias]), factor]), g.node("Mul", [x.imag, factor]))


def _cast(g: Graph, op: Any, x: Any) -> Any:
    if op.dtype not in _REAL:
        # The real part alone, as in Paddle.
        return g.cast(x.real, op.dtype)
    if isinstance(x, Pair):
        return Pair(g.cast(x.real, _REAL[op.dtype]), g.cast(x.imag, _REAL[op.dtype]))
    return _as_pair(g, op, 0, x)


def _complex(g: Graph, op: Any, real: str, imag: str) -> Pair:
    # Both parts get their common shape.
    return Pair(
        g.node("Expand", [real, g.node("Shape", [imag])]), g.node("Expand", [imag, g.node("Shape", [real])])
    )


def _filled(g: Graph, op: Any, value: Any, shape: Any) -> Pair:
    value = _as_pair(g, op, 0, value)
    sizes = g.int_list(shape)
    parts = [g.node("Reshape", [part, g.ints([1])]) for part in (value.real, value.imag)]
    return Pair(*[g.node("Expand", [part, sizes]) for part in parts])


def _exponential(g: Graph, op: Any, x: Pair) -> Pair:
    size = g.node("Exp", [x.real])
    return Pair(*[g.node("Mul", [size, g.node(kind, [x.imag])]) for kind in ("Cos", "Sin")])


def _halves(g: Graph, x: str, axis: int) -> Pair:
    """Both parts, which are on the last axis."""
    return Pair(*[g.node("Gather", [x, g.number(place, "int64")], axis=axis) for place in (0, 1)])


def _joined(g: Graph, x: Pair) -> str:
    """A real tensor whose last axis has both parts."""
    parts = [g.node("Unsqueeze", [part, g.ints([-1])]) for part in (x.real, x.imag)]
    return g.node("Concat", parts, axis=-1)


# Fourier transforms -----------------------------------------------------------------------------------------


def _scaled(g: Graph, op: Any, x: str, found: Pair, is_forward: bool) -> Pair:
    """The result with the factor of its norm. x: what the length comes from."""
    if op.normalization != "ortho" and (op.normalization == "forward") != is_forward:
        return found
    dtype = _real_kind(op.out)[0]
    sizes = g.node("Gather", [g.node("Shape", [x]), g.ints(list(op.axes))])
    count = g.cast(g.node("ReduceProd", [sizes], keepdims=0), dtype)
    if op.normalization == "ortho":
        count = g.node("Sqrt", [count])
    return Pair(g.node("Div", [found.real, count]), g.node("Div", [found.imag, count]))


def _all_transformed(g: Graph, op: Any, x: str, axes: list[int], is_onesided: bool) -> Pair:
    """The sum over axes, without a factor. x has both parts on its last axis, or the real one."""
    # The last axis first, which may be of real numbers.
    for axis in reversed(axes):
        x = g.node("DFT", [x], axis=axis, onesided=int(is_onesided))
        is_onesided = False
    return _halves(g, x, op.ndim())


def _axes(op: Any) -> list[int]:
    return [axis % op.ndim() for axis in op.axes]


def _of_real(g: Graph, op: Any, x: str) -> Pair:
    parts = g.node("Unsqueeze", [x, g.ints([-1])])
    found = _all_transformed(g, op, parts, _axes(op), op.onesided)
    if not op.forward:
        # The inverse transform of real numbers has the conjugate numbers.
        found = _conjugate(g, op, found)
    return _scaled(g, op, x, found, op.forward)


def _of_complex(g: Graph, op: Any, x: Pair) -> Pair:
    # The inverse transform is the conjugate one of conjugate numbers.
    if not op.forward:
        x = _conjugate(g, op, x)
    found = _all_transformed(g, op, _joined(g, x), _axes(op), False)
    if not op.forward:
        found = _conjugate(g, op, found)
    return _scaled(g, op, x.real, found, op.forward)


def _to_real(g: Graph, op: Any, x: Pair) -> str:
    *others, last = _axes(op)
    inner = copy.copy(op)
    if others:
        inner.axes = others
        x = _of_complex(g, inner, x)
    # The other half has the conjugate numbers, backwards.
    if op.last_dim_size > 0:
        start = g.ints([op.last_dim_size - op.last_dim_size // 2 - 1])
    else:
        start = g.node("Sub", [length(g, x.real, last), g.ints([2])])
    back = [start, g.ints([0]), g.ints([last]), g.ints([-1])]
    mirrored = [g.node("Slice", [part, *back]) for part in (x.real, g.node("Neg", [x.imag]))]
    parts = [
        g.node("Concat", [part, other], axis=last)
        for part, other in zip((x.real, x.imag), mirrored, strict=True)
    ]
    inner.axes = [last]
    return _of_complex(g, inner, Pair(*parts)).real


COMPLEX_RULES = {
    "add": _by_parts("Add"),
    "subtract": _by_parts("Sub"),
    "multiply": _product,
    "divide": _quotient,
    "matmul": _matrix_product,
    "square": lambda g, op, x: _product(g, op, x, x),
    "abs": _size,
    "angle": _angle,
    "conj": _conjugate,
    "real": lambda g, op, x: x.real,
    "imag": lambda g, op, x: x.imag,
    "scale": _scale,
    "cast": _cast,
    "complex": _complex,
    "as_complex": lambda g, op, x: _halves(g, x, op.ndim() - 1),
    "as_real": lambda g, op, x: _joined(g, x),
    "full": lambda g, op: pair_of(g, np.full(op.shape, op.value, op.dtype)),
    "full_with_tensor": _filled,
    "exp": _exponential,
    "shape64": lambda g, op, x: g.node("Shape", [x.real]),
    "fft_r2c": _of_real,
    "fft_c2c": _of_complex,
    "fft_c2r": _to_real,
}
