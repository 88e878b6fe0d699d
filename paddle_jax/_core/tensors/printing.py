"""Text of a Tensor, in Paddle's layout."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.core
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.state import local
from paddle_jax._core.base.uninitialized import Uninitialized
from paddle_jax._core.kernels.value_checks import after_checks
from paddle_jax._core.lazy.multi_device import is_here
from paddle_jax._core.lazy.transfer import materialize, to_numpy
from paddle_jax._core.tensors.tensor import Tensor, read_raw, tensor_method


@dataclasses.dataclass
class _Options:
    precision: int = 8
    threshold: int = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool = False


_options = _Options()


def set_printoptions(
    precision: Any = None,
    threshold: float | None = None,
    edgeitems: Any = None,
    sci_mode: bool | None = None,
    linewidth: Any = None,
) -> None:
    """Sets how tensors are printed; None leaves a setting as it is.

    Args:
        precision: digits after the point (8 at start).
        threshold: number of elements above which the middle is left out (1000).
        edgeitems: elements shown at each end of an axis when the middle is left out (3).
        sci_mode: use exponents (False).
        linewidth: characters on a line (80).
    Raises:
        TypeError: a value is not of the right type.
    Example:
        >>> paddle.set_printoptions(precision=3); str(paddle.to_tensor(0.12345))[-6:-1]
        '0.123'
        >>> paddle.set_printoptions(precision=8)
    """
    settings = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "sci_mode": sci_mode,
        "linewidth": linewidth,
    }
    for name, value in settings.items():
        if value is None:
            continue
        kind = bool if name == "sci_mode" else int
        if not isinstance(value, kind):
            raise TypeError(
                f"set_printoptions: {name}: got {type(value).__name__}; it must be {kind.__name__}"
            )
        setattr(_options, name, value)


def to_string(tensor: Tensor) -> str:
    """The text that `print(tensor)` shows."""
    value = after_checks(materialize(read_raw(tensor)))
    if isinstance(value, jax.core.Tracer):
        local.ctx.frame.on_print(tensor)
        return (
            f"Tensor(shape={list(value.shape)}, dtype={str(tensor.dtype)[7:]}, "
            f"stop_gradient={tensor.stop_gradient}, traced)"
        )
    placements = tensor._placements_str()
    if not is_here(value):  # a stage of a pipeline prints the loss, which another one has
        head = _head(value, tensor.place, tensor.stop_gradient)
        return f"{head},{placements.removesuffix('=')} Not initialized)"
    return text_of(to_numpy(value), tensor.place, tensor.stop_gradient, placements)


def text_of(array: np.ndarray, place: Any, stop_gradient: bool, placements: str = "") -> str:
    """The text of a Tensor with the values of a NumPy array.

    Args:
        array: the values.
        place: Place of the Tensor.
        stop_gradient: that of the Tensor.
        placements: text about its layout on several devices.
    """
    indent = 7
    head = _head(array, place, stop_gradient)
    return f"{head},{placements}\n{' ' * indent}{_format(array, indent)})"


def _head(array: np.ndarray | jax.Array, place: Any, stop_gradient: bool) -> str:
    return (
        f"Tensor(shape={list(array.shape)}, dtype={str(dtypes.of(array))[7:]}, place={place}, "
        f"stop_gradient={stop_gradient}"
    )


def _format(array: np.ndarray, indent: int) -> str:
    """The values in brackets."""
    # NumPy has no format of its own for these dtypes.
    if array.dtype.kind == "V" or array.dtype.name.startswith(("bfloat", "float8")):
        array = array.astype(np.float32)
    shortened = array.size > _options.threshold
    if array.ndim == 0:
        return _item(array[()])
    shown = _edges(array).ravel()
    width = max((len(_item(v)) for v in shown), default=0)
    with np.errstate(invalid="ignore"):  # complex numbers with NaN
        signed = bool((shown < 0).any())  # complex numbers by their real part, then the imaginary one
    return _axis(array, indent, shortened, width, signed)


def _edges(array: np.ndarray) -> np.ndarray:
    """The elements at the ends of each axis, which give the width of all.

    As in Paddle this holds also where the middle is printed.
    """
    edge = _options.edgeitems
    for axis, length in enumerate(array.shape):
        if length > 2 * edge:
            array = np.take(array, [*range(edge), *range(length - edge, length)], axis)
    return array


def _item(v: Any) -> str:
    """The text of one number."""
    kind = v.dtype.kind
    if kind == "c":
        # also before -0; none before NaN
        if v.imag >= 0:
            sign = "+"
        else:
            sign = ""
        number = "{:." + str(_options.precision) + ("e}" if _options.sci_mode else "f}")
        return f"({number.format(v.real)}{sign}{number.format(v.imag)}j)"
    if kind != "f":
        return str(v)
    if _options.sci_mode:
        return f"{v:.{_options.precision}e}"
    # Whole numbers end in a point, as in Paddle.
    if np.ceil(v) == v:
        return f"{v:.0f}."
    return f"{v:.{_options.precision}f}"


def _padded(v: Any, width: int, signed: bool) -> str:
    """The text of one number in a field; positive numbers among negative ones get a space in front."""
    text = _item(v)
    if signed and len(text) < width and not v < 0:
        text = " " + text
    return text.ljust(width)


def _axis(array: np.ndarray, indent: int, shortened: bool, width: int, signed: bool) -> str:
    """The text of an array with one or more axes."""
    edge = _options.edgeitems
    length = array.shape[0]
    indices: list[int | None] = [*range(length)]
    if shortened and length > 2 * edge:
        # None stands for what is left out; it becomes the dots.
        indices = [*range(edge), None, *range(length - edge, length)]
    if array.ndim == 1:
        items = ["..." if i is None else _padded(array[i], width, signed) for i in indices]
        per_line = max(1, (_options.linewidth - indent) // (width + 2))
        lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    rows = ["..." if i is None else _axis(array[i], indent + 1, shortened, width, signed) for i in indices]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(rows) + "]"


def _tensor_repr(self: Tensor) -> str:
    if type(self._raw) is Uninitialized:
        return "Tensor(Not initialized)"
    return to_string(self)


_tensor_repr.__name__ = "__repr__"
tensor_method(_tensor_repr)
Tensor.__str__ = Tensor.__repr__
