"""Window functions for spectra."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.ops.op import composite
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.creation import as_numpy_dtype, to_tensor

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike


def _window(
    name: str,
    function: Callable[..., Any],
    length: Any,
    periodic: bool,
    dtype: str,
    device: Any,
    requires_grad: bool,
) -> Tensor:
    """The symmetric window of NumPy, or the periodic one: a symmetric one of one more point
    without its last."""
    if isinstance(length, Tensor | np.ndarray) and math.prod(length.shape) == 1:
        length = length.item()
    if not isinstance(length, int | np.integer):
        raise TypeError(f"{name}: window_length: got {length!r}; it must be an int")
    if length < 0:
        raise ValueError(f"{name}: window_length: got {length}; it must not be negative")
    kind = as_numpy_dtype(dtype)
    if kind.kind not in "fV":
        raise TypeError(f"{name}: dtype: got {dtype}; allowed are floating dtypes")
    # A periodic window is a symmetric one without its last value.
    if periodic and length > 1:
        values = function(length + 1)[:-1]
    else:
        values = function(length)
    return to_tensor(values.astype(kind), place=device, stop_gradient=not requires_grad)


@composite(
    method=False,
    cases=["5", "6, False", "1", "0", "4, dtype='float64'", "-1", "const(4)", "[4]"],
)
def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DTypeLike = "float32",
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The triangular window.

    Args:
        window_length: int >= 0, or a Tensor or array of one.
        periodic: leave out the last point of a symmetric window of one more point.
        dtype: floating dtype.
        layout, pin_memory: accepted for compatibility.
        device: where the result is put. Default: the current device.
        requires_grad: the opposite of stop_gradient.
    Returns:
        Tensor [window_length].
    Raises:
        ValueError: window_length is negative.
        TypeError: window_length is no int, or dtype not floating.
    Example:
        >>> paddle.bartlett_window(4).tolist()
        [0.0, 0.5, 1.0, 0.5]
    """
    return _window("bartlett_window", np.bartlett, window_length, periodic, dtype, device, requires_grad)


@composite(method=False, cases=["5", "6, False", "1", "0", "4, dtype='float64'", "-1"])
def blackman_window(
    window_length: Any,
    periodic: bool = True,
    *,
    dtype: DTypeLike = "float32",
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N).

    Args:
        window_length: int >= 0, or a Tensor or array of one.
        periodic: leave out the last point of a symmetric window of one more point.
        dtype: floating dtype.
        layout, pin_memory: accepted for compatibility.
        device: where the result is put. Default: the current device.
        requires_grad: the opposite of stop_gradient.
    Returns:
        Tensor [window_length].
    Example:
        >>> round(paddle.blackman_window(4)[1].item(), 2)
        0.34
    """
    return _window("blackman_window", np.blackman, window_length, periodic, dtype, device, requires_grad)


@composite(
    method=False,
    cases=[
        "5",
        "6, False",
        "1",
        "0",
        "4, dtype='float64'",
        "-1",
        "5, True, 0.5, 0.4",
        "2.0",
        "1, True, 0.6, 2.0",
    ],
)
def hamming_window(
    window_length: Any,
    periodic: bool = True,
    alpha: Any = 0.54,
    beta: Any = 0.46,
    *,
    dtype: DTypeLike = "float32",
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """alpha - beta cos(2 pi n / N). Other arguments as for `bartlett_window`.

    Args:
        window_length, periodic, dtype, layout, device, pin_memory, requires_grad: as for `bartlett_window`.
        alpha, beta: numbers, the constant and the factor of the cosine.
    Returns:
        Tensor [window_length].
    Example:
        >>> round(paddle.hamming_window(4)[0].item(), 2)
        0.08
    """

    def general(count: Any) -> np.ndarray:
        # One point is the top of the window.
        if count != 1:
            return alpha - beta * np.cos(2 * np.pi * np.arange(count) / max(count - 1, 1))
        return np.array([alpha + beta])

    return _window("hamming_window", general, window_length, periodic, dtype, device, requires_grad)


@composite(method=False, cases=["5", "6, False", "1", "0", "4, dtype='float64'", "-1", "5, dtype='int64'"])
def hann_window(
    window_length: Any,
    periodic: bool = True,
    *,
    dtype: DTypeLike = "float32",
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """0.5 - 0.5 cos(2 pi n / N).

    Args:
        window_length: int >= 0, or a Tensor or array of one.
        periodic: leave out the last point of a symmetric window of one more point.
        dtype: floating dtype.
        layout, pin_memory: accepted for compatibility.
        device: where the result is put. Default: the current device.
        requires_grad: the opposite of stop_gradient.
    Returns:
        Tensor [window_length].
    Example:
        >>> paddle.hann_window(4).tolist()
        [0.0, 0.5, 1.0, 0.5]
    """
    return _window("hann_window", np.hanning, window_length, periodic, dtype, device, requires_grad)


@composite(method=False, cases=["5", "6, False", "1", "0", "4, dtype='float64'", "-1", "5, True, 5.0"])
def kaiser_window(
    window_length: Any,
    periodic: bool = True,
    beta: Any = 12.0,
    *,
    dtype: DTypeLike = "float32",
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """I0(beta sqrt(1 - x^2)) / I0(beta) for x from -1 to 1 (Kaiser and Schafer, 1980). Other arguments as for
    `bartlett_window`.

    Args:
        window_length, periodic, dtype, layout, device, pin_memory, requires_grad: as for `bartlett_window`.
        beta: number; a larger one makes the window narrower.
    Returns:
        Tensor [window_length].
    Example:
        >>> round(paddle.kaiser_window(4, beta=5.0)[2].item(), 4)
        1.0
    """
    return _window(
        "kaiser_window",
        lambda count: np.kaiser(count, beta),
        window_length,
        periodic,
        dtype,
        device,
        requires_grad,
    )
