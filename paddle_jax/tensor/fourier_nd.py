"""Discrete Fourier transforms over several axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle_jax._core.ops.op import composite
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.fourier import c2c, c2r, many, r2c, whole

DIM = {"input": "x", "dim": "axes"}
BAD = [
    "f(2,3), [2]",
    "f(2,3), [4, 2], norm='ortho'",
    "d(2,3), axes=[-1, 0], norm='forward'",
    "f(2,3), [4, 0]",
    "f(2,3), [4, None]",
    "f(2,3), [4, 2, 3]",
    "f(2,3), 3",
    "f(2,3), axes=0",
    "f(2,3), axes=[2]",
    "f(2,3), [2], [0, 1]",
    "f(2,3), norm='x'",
    "f(2,3), axes=[]",
]
TWO = [
    "f(2,3)",
    "d(2,3,2), [3, 2], norm='ortho'",
    "f(2,3,2), [2, 5], (1, 0), 'forward'",
    "f(2,3,2), axes=None",
    "f(3)",
    "f(2,3), [2]",
    "f(2,3), [2, 2, 2]",
    "f(2,3), axes=[0]",
    "f(2,3), axes=(0, 5)",
    "f(2,3), [2, -1]",
]


def _two(name: str, x: Tensor, s: Sequence[int] | None, axes: Sequence[int] | None) -> None:
    """Refuses what is no plane: a tensor of one axis, or not two lengths or axes."""
    if isinstance(x, Tensor) and x.ndim < 2:
        raise ValueError(f"{name}: x: got {x.ndim} axes; it needs at least 2")
    for given, value in (("s", s), ("axes", axes)):
        if value is not None and (not isinstance(value, list | tuple | range) or len(value) != 2):
            raise ValueError(f"{name}: {given}: got {value!r}; it must be a list or a tuple of 2 ints")


@composite(
    method=False,
    out=True,
    alias=DIM,
    cases=[
        *BAD,
        "f(2,3)",
        "c(2,3)",
        "c128(2,3,2), [3, 2], [2, 0]",
        "i(2,3)",
        "f(0,3)",
        "f(0,3), [2, 2]",
        "c(2,3,2,2,3)",
        "f(2,3), [True, 2]",
    ],
)
def fftn(
    x: Tensor,
    s: Any = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    name: str | None = None,
) -> Tensor:
    """The discrete Fourier transform over several axes: `fft` along one after the other.

    Args:
        x: Tensor [...], real or complex; integers are taken in the default floating dtype. `input` is
            accepted as a name.
        s: list of lengths, one for each axis; x is cut or filled up with zeros to them. Default: the
            lengths of the axes.
        axes: list of ints. Default: the last len(s) axes, or all. `dim` is accepted as a name.
        norm: "backward", "forward" or "ortho" as for `fft`, with the product of the lengths as n.
        out: Tensor that receives the result.
    Returns:
        Tensor, complex128 for a float64 or complex128 x, else complex64.
    Raises:
        ValueError: a length is not a positive int, an axis is out of range or named twice, the numbers of
            lengths and axes differ, x has no axis, or norm is something else.
        IndexError: axes is empty.
    Example:
        >>> paddle.fft.fftn(paddle.ones([2, 2])).real().tolist()
        [[4.0, 0.0], [0.0, 0.0]]
    """
    return c2c(*many("fftn", x, s, axes, norm), True, norm)


@composite(method=False, out=True, alias=DIM, cases=[*BAD, "c(2,3)", "c128(2,3,2), [3, 2], [2, 0]"])
def ifftn(x: Any, s: Any = None, axes: Any = None, norm: str = "backward", name: str | None = None) -> Tensor:
    """The inverse of `fftn`. Arguments as there.

    Args:
        x: Tensor [...], real or complex.
        s, axes, norm: as for `fftn`.
        out: Tensor that receives the result.
    Returns:
        Tensor, complex128 for a float64 or complex128 x, else complex64.
    Example:
        >>> paddle.fft.ifftn(paddle.ones([2, 2])).real().tolist()
        [[1.0, 0.0], [0.0, 0.0]]
    """
    return c2c(*many("ifftn", x, s, axes, norm), False, norm)


@composite(
    method=False,
    out=True,
    alias=DIM,
    cases=[*BAD, "f(2,3)", "d(2,3,4), [3, 2], [2, 0]", "i(2,3)", "f(2,0)", "c(2,3)", "f(2,3,2,2,3)"],
)
def rfftn(x: Any, s: Any = None, axes: Any = None, norm: str = "backward", name: str | None = None) -> Tensor:
    """`fftn` of a real tensor, of which the last of the axes keeps n // 2 + 1 terms.

    Args:
        x: Tensor [...], real or complex; integers are taken in the default floating dtype. `input` is
            accepted as a name.
        s: list of lengths, one for each axis; x is cut or filled up with zeros to them. Default: the
            lengths of the axes.
        axes: list of ints. Default: the last len(s) axes, or all. `dim` is accepted as a name.
        norm: "backward", "forward" or "ortho" as for `fft`, with the product of the lengths as n.
        out: Tensor that receives the result.
    Returns:
        Tensor, complex128 for a float64 or complex128 x, else complex64.
    Raises:
        RuntimeError: x is complex.
        ValueError: as for `fftn`.
    Example:
        >>> paddle.fft.rfftn(paddle.ones([2, 2])).real().tolist()
        [[4.0, 0.0], [0.0, 0.0]]
    """
    return r2c(*many("rfftn", x, s, axes, norm, True), True, norm)


@composite(
    method=False,
    out=True,
    alias=DIM,
    cases=[*BAD, "c(2,3)", "c128(2,3,4), [3, 5], [2, 0]", "c(2,1)", "c(0,3)", "c(2,3,2,2,3)"],
)
def irfftn(
    x: Tensor, s: Any = None, axes: Any = None, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The inverse of `rfftn`: a real tensor.

    Args:
        x: Tensor [...]; of the last of the axes it holds n // 2 + 1 terms, see `irfft`. `input` is
            accepted as a name.
        s: list of the lengths of the result. Default: those of x, and 2 (m - 1) for the last
            axis of length m.
        axes, norm, out: as for `fftn`.
    Returns:
        Real Tensor.
    Raises:
        ValueError: as for `fftn`, or the last axis is empty.
    Example:
        >>> paddle.fft.irfftn(paddle.ones([2, 2])).tolist()
        [[1.0, 0.0], [0.0, 0.0]]
    """
    x, lengths, axes = many("irfftn", x, s, axes, norm)
    return c2r(x, whole("irfftn", x, lengths, axes), axes, False, norm)


@composite(method=False, out=True, alias=DIM, cases=[*BAD, "c(2,3)", "c128(2,3,4), [3, 5], [2, 0]", "c(2,1)"])
def hfftn(x: Any, s: Any = None, axes: Any = None, norm: str = "backward", name: str | None = None) -> Tensor:
    """`hfft` along the last of the axes after `fft` along the others: a real tensor. Arguments
    as for `irfftn`.

    Args:
        x: Tensor [...], real or complex.
        s, axes, norm: as for `irfftn`.
        out: Tensor that receives the result.
    Returns:
        Real Tensor.
    Example:
        >>> paddle.fft.hfftn(paddle.ones([2, 2])).tolist()
        [[4.0, 0.0], [0.0, 0.0]]
    """
    x, lengths, axes = many("hfftn", x, s, axes, norm)
    return c2r(x, whole("hfftn", x, lengths, axes), axes, True, norm)


@composite(
    method=False, out=True, alias=DIM, cases=[*BAD, "f(2,3)", "d(2,3,4), [3, 2], [2, 0]", "i(2,4)", "c(2,3)"]
)
def ihfftn(
    x: Any, s: Any = None, axes: Any = None, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The inverse of `hfftn`: `ihfft` along the last of the axes, `ifft` along the others.
    Arguments as for `rfftn`.

    Args:
        x: real Tensor [...].
        s, axes, norm: as for `rfftn`.
        out: Tensor that receives the result.
    Returns:
        Complex Tensor; the last of the axes has length n // 2 + 1.
    Example:
        >>> paddle.fft.ihfftn(paddle.ones([2, 2])).real().tolist()
        [[1.0, 0.0], [0.0, 0.0]]
    """
    return r2c(*many("ihfftn", x, s, axes, norm, True), False, norm)


@composite(method=False, out=True, alias=DIM, cases=[*TWO, "c(2,3)"])
def fft2(
    x: Tensor, s: Any = None, axes: Any = (-2, -1), norm: str = "backward", name: str | None = None
) -> Tensor:
    """`fftn` over two axes.

    Args:
        x: Tensor of at least 2 axes. `input` is accepted as a name.
        s: list of two lengths.
        axes: list of two ints, or None for all axes. `dim` is accepted as a name.
        norm, out: as for `fftn`.
    Returns:
        Tensor, complex128 for a float64 or complex128 x, else complex64.
    Raises:
        ValueError: as for `fftn`, x has fewer than 2 axes, or s or axes are not two.
    Example:
        >>> paddle.fft.fft2(paddle.ones([2, 2])).real().tolist()
        [[4.0, 0.0], [0.0, 0.0]]
    """
    _two("fft2", x, s, axes)
    return fftn(x, s, axes, norm)


@composite(method=False, out=True, alias=DIM, cases=[*TWO, "c(2,3)"])
def ifft2(
    x: Tensor, s: Any = None, axes: Any = (-2, -1), norm: str = "backward", name: str | None = None
) -> Tensor:
    """`ifftn` over two axes.

    Args:
        x: Tensor of at least 2 axes. `input` is accepted as a name.
        s: list of two lengths.
        axes: list of two ints, or None for all axes. `dim` is accepted as a name.
        norm: as for `fftn`.
        out: Tensor that receives the result.
    Returns:
        Tensor, complex128 for a float64 or complex128 x, else complex64.
    Example:
        >>> paddle.fft.ifft2(paddle.ones([2, 2])).real().tolist()
        [[1.0, 0.0], [0.0, 0.0]]
    """
    _two("ifft2", x, s, axes)
    return ifftn(x, s, axes, norm)


@composite(method=False, out=True, alias=DIM, cases=TWO)
def rfft2(
    x: Tensor, s: Any = None, axes: Any = (-2, -1), norm: str = "backward", name: str | None = None
) -> Tensor:
    """`rfftn` over two axes.

    Args:
        x: Tensor of at least 2 axes. `input` is accepted as a name.
        s: list of two lengths.
        axes: list of two ints, or None for all axes. `dim` is accepted as a name.
        norm: as for `fftn`.
        out: Tensor that receives the result.
    Returns:
        Complex Tensor; the last of the axes has length n // 2 + 1.
    Example:
        >>> paddle.fft.rfft2(paddle.ones([2, 2])).real().tolist()
        [[4.0, 0.0], [0.0, 0.0]]
    """
    _two("rfft2", x, s, axes)
    return rfftn(x, s, axes, norm)


@composite(method=False, out=True, alias=DIM, cases=[*TWO, "c(2,3)"])
def irfft2(
    x: Tensor, s: Any = None, axes: Any = (-2, -1), norm: str = "backward", name: str | None = None
) -> Tensor:
    """`irfftn` over two axes.

    Args:
        x: Tensor of at least 2 axes. `input` is accepted as a name.
        s: list of two lengths.
        axes: list of two ints, or None for all axes. `dim` is accepted as a name.
        norm: as for `fftn`.
        out: Tensor that receives the result.
    Returns:
        Real Tensor.
    Example:
        >>> paddle.fft.irfft2(paddle.ones([2, 2])).tolist()
        [[1.0, 0.0], [0.0, 0.0]]
    """
    _two("irfft2", x, s, axes)
    return irfftn(x, s, axes, norm)


@composite(method=False, out=True, alias=DIM, cases=[*TWO, "c(2,3)"])
def hfft2(
    x: Tensor, s: Any = None, axes: Any = (-2, -1), norm: str = "backward", name: str | None = None
) -> Tensor:
    """`hfftn` over two axes.

    Args:
        x: Tensor of at least 2 axes. `input` is accepted as a name.
        s: list of two lengths.
        axes: list of two ints, or None for all axes. `dim` is accepted as a name.
        norm: as for `fftn`.
        out: Tensor that receives the result.
    Returns:
        Real Tensor.
    Example:
        >>> paddle.fft.hfft2(paddle.ones([2, 2])).tolist()
        [[4.0, 0.0], [0.0, 0.0]]
    """
    _two("hfft2", x, s, axes)
    return hfftn(x, s, axes, norm)


@composite(method=False, out=True, alias=DIM, cases=TWO)
def ihfft2(
    x: Tensor, s: Any = None, axes: Any = (-2, -1), norm: str = "backward", name: str | None = None
) -> Tensor:
    """`ihfftn` over two axes.

    Args:
        x: Tensor of at least 2 axes. `input` is accepted as a name.
        s: list of two lengths.
        axes: list of two ints, or None for all axes. `dim` is accepted as a name.
        norm: as for `fftn`.
        out: Tensor that receives the result.
    Returns:
        Complex Tensor; the last of the axes has length n // 2 + 1.
    Example:
        >>> paddle.fft.ihfft2(paddle.ones([2, 2])).real().tolist()
        [[1.0, 0.0], [0.0, 0.0]]
    """
    _two("ihfft2", x, s, axes)
    return ihfftn(x, s, axes, norm)
