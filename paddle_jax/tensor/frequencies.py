"""The frequencies of Fourier terms, and moving the zero frequency to the middle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import _into, composite, op
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.axes import ints
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.math import multiply

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import DTypeLike


DIM = {"input": "x", "dim": "axes"}
GRID = [
    "5",
    "4, 0.5",
    "4, dtype='float64'",
    "4, dtype='int32'",
    "0",
    "-3",
    "4, 0",
    "const(4)",
    "5, const(0.5, 'float32')",
    "4, 'a'",
    "'4'",
    "None",
    "4, requires_grad=True",
    "3, dtype='x'",
    "2.5",
]


def _frequencies(
    name: str,
    terms: np.ndarray,
    n: float,
    d: Tensor | float,
    dtype: str | None,
    out: Any,
    device: Any,
    requires_grad: bool,
) -> Tensor:
    """The whole numbers `terms` divided by n d."""
    if dtype is None:
        dtype = dtypes.default().np
    else:
        dtype = dtypes.convert(dtype).np
    if dtype.kind in "bc":
        raise RuntimeError(f"{name}: dtype: got {dtype.name}; it must be floating")
    if dtype.kind in "iu":
        # Integers cannot hold the fractions that are asked for.
        dtype = "float32"
    made = to_tensor(terms, dtype, device)
    step = 1.0 / (n * d)
    if isinstance(step, Tensor):
        step = step.astype(made.dtype)
    else:
        step = to_tensor(np.asarray(step), made.dtype, device)
    made = multiply(made, step)
    if requires_grad:
        made.stop_gradient = False
    if out is None:
        return made
    return _into(out, made)


def _points(name: str, n: Any, d: Any) -> float:
    """n as a number; refuses a grid of no points or no spacing."""
    for given, value in (("n", n), ("d", d)):
        if not isinstance(value, Tensor | int | float | np.number):
            raise TypeError(f"{name}: {given}: got {value!r}; it must be a number or a Tensor")
    if isinstance(n, Tensor):
        n = n.item()
    if n == 0 or (not isinstance(d, Tensor) and d == 0):
        raise ValueError(f"{name}: got n={n} and d={d}; both must not be 0")
    return n


@composite(method=False, cases=GRID)
def fftfreq(
    n: Any,
    d: Any = 1.0,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of the terms of `fft`: 0, 1, ..., -2, -1 (n of them, from the middle on
    negative) divided by n d.

    Args:
        n: int, the length of the transform.
        d: number or 0-d Tensor, the distance of two samples.
        dtype: floating dtype. Default: the default one; integer dtypes give float32.
        out, device, requires_grad: as for `zeros`.
    Returns:
        Tensor [n], empty for a negative n.
    Raises:
        ValueError: n or d is 0.
        TypeError: n or d is not a number.
    Example:
        >>> paddle.fft.fftfreq(4, 0.5).tolist()
        [0.0, 0.5, -1.0, -0.5]
    """
    n = _points("fftfreq", n, d)
    if n != int(n):
        raise TypeError(f"(InvalidType) fftfreq: n: got {n}; it must be an int")
    n = int(n)
    terms = np.concatenate([np.arange((n + 1) // 2), np.arange(-(n // 2), 0)])
    return _frequencies("fftfreq", terms, n, d, dtype, out, device, requires_grad)


@composite(method=False, cases=GRID)
def rfftfreq(
    n: Any,
    d: Any = 1.0,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of the terms of `rfft`: 0, 1, ..., n // 2 divided by n d.

    Args:
        n: int, the length of the transform.
        d: number or 0-d Tensor, the distance of two samples.
        dtype: floating dtype. Default: the default one; integer dtypes give float32.
        device, requires_grad: as for `zeros`.
        out: Tensor that receives the result.
    Returns:
        Tensor [n // 2 + 1].
    Example:
        >>> paddle.fft.rfftfreq(4, 0.5).tolist()
        [0.0, 0.5, 1.0]
    """
    n = _points("rfftfreq", n, d)
    return _frequencies("rfftfreq", np.arange(int(n // 2) + 1), n, d, dtype, out, device, requires_grad)


def _rolled(name: str, x: jax.Array, axes: Sequence[int] | float | None, sign: int) -> jax.Array:
    """x rolled by half the length of each axis."""
    if isinstance(axes, int) and not -x.ndim <= axes < x.ndim:
        raise IndexError(
            f"{name}: axes={axes} is out of range for a tensor of {x.ndim} axes; use {-x.ndim}..{x.ndim - 1}"
        )
    if axes is None:
        axes = tuple(range(x.ndim))
    else:
        axes = ints(name, axes, "axes")
    if not axes or not all(-x.ndim <= a < x.ndim for a in axes):
        raise ValueError(
            f"{name}: axes: got {list(axes)} for a tensor of {x.ndim} axes; "
            f"name one or more in {-x.ndim}..{x.ndim - 1}"
        )
    for axis in axes:
        # Of an odd length the two directions differ by one, so each undoes the other.
        x = jnp.roll(x, sign * (x.shape[axis] // 2), axis)
    return x


@known_as(code="element_moves:fftshift")
@op(
    method=False,
    alias=DIM,
    cases=[
        "f(4)",
        "f(2,5)",
        "f(2,3), 1",
        "f(2,3), [0, 1]",
        "d(3,3), [0, 0]",
        "f(2,3), (0,)",
        "f(2,3), []",
        "f(2,3), [2]",
        "f(2,3), -3",
        "i(4)",
        "b(4)",
        "c(4)",
        "f()",
        "f(0,3)",
        "input=f(5), dim=-1",
        "f(2,3), 0.5",
        "f(2,3), const([0])",
        "[1, 2]",
    ],
)
def fftshift(x: jax.Array, axes: Any = None, name: str | None = None) -> jax.Array:
    """Moves the zero frequency, which `fft` puts first, to the middle: rolls each axis by half its length.

    Args:
        x: Tensor [...]. `input` is accepted as a name.
        axes: int or list of ints, rolled one after the other. Default: all axes. `dim` is accepted as a name.
    Returns:
        Tensor of the shape and dtype of x.
    Raises:
        IndexError: axes is an int out of range.
        ValueError: axes is an empty list or holds what is out of range, or x has no axes.
    Example:
        >>> paddle.fft.fftshift(paddle.to_tensor([0.0, 1.0, 2.0, -2.0, -1.0])).tolist()
        [-2.0, -1.0, 0.0, 1.0, 2.0]
    """
    return _rolled("fftshift", x, axes, 1)


@known_as(code="element_moves:ifftshift")
@op(
    method=False,
    alias=DIM,
    cases=[
        "f(5)",
        "f(2,3)",
        "f(2,3), -1",
        "f(2,3), [0, 1]",
        "d(3,3), [0, 0]",
        "f(2,3), []",
        "f(3), 1",
        "i(4)",
        "c(4)",
        "f()",
    ],
)
def ifftshift(x: jax.Array, axes: Any = None, name: str | None = None) -> jax.Array:
    """The inverse of `fftshift`. Arguments as there.

    Args:
        x: Tensor [...].
        axes: int, list of ints, or None for all axes.
    Returns:
        Tensor of the shape and dtype of x.
    Example:
        >>> paddle.fft.ifftshift(paddle.to_tensor([-2.0, -1.0, 0.0, 1.0, 2.0])).tolist()
        [0.0, 1.0, 2.0, -2.0, -1.0]
    """
    return _rolled("ifftshift", x, axes, -1)
