"""Windows for signals, from SciPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.tensors.tensor import Tensor

_NAMES = (
    "hamming",
    "hann",
    "gaussian",
    "general_gaussian",
    "exponential",
    "triang",
    "bohman",
    "blackman",
    "cosine",
    "tukey",
    "taylor",
    "kaiser",
    "nuttall",
    "bartlett",
    "general_cosine",
    "general_hamming",
)
_NEED = {
    "gaussian": 1,
    "general_gaussian": 2,
    "general_cosine": 1,
    "general_hamming": 1,
    "exponential": 0,
    "kaiser": 1,
}  # parameters that must be given

_COSINES = {
    "hann": (0.5, 0.5),
    "hamming": (0.54, 0.46),
    "blackman": (0.42, 0.50, 0.08),
    "nuttall": (0.3635819, 0.4891775, 0.1365995, 0.0106411),
}  # the factors of cosines of multiples of the angle


def get_window(
    window: str | tuple[str, float], win_length: int, fftbins: bool = True, dtype: DTypeLike = "float64"
) -> Tensor:
    """A window by name.

    Args:
        window: str, one of 'hamming', 'hann', 'gaussian', 'general_gaussian', 'exponential', 'triang',
            'bohman', 'blackman', 'cosine', 'tukey', 'taylor', 'kaiser', 'nuttall', 'bartlett',
            'general_cosine', 'general_hamming'; or a tuple of a name and its parameters, as in
            `scipy.signal.windows`.
        win_length: int, length.
        fftbins: a periodic window, for Fourier transforms; False gives a symmetric one. Default True.
        dtype: floating-point dtype of the result. Default "float64".
    Returns:
        Tensor [win_length].
    Raises:
        ValueError: the name is unknown, or the window needs parameters.
        TypeError: the number of parameters is wrong, or the dtype is no floating-point one.
    Example:
        >>> paddle.audio.functional.get_window("hann", 4).tolist()
        [0.0, 0.5, 1.0, 0.5]
    """
    name, *parameters = window if isinstance(window, tuple) else (window,)
    if not isinstance(name, str):
        raise ValueError(
            f"get_window: window: got {type(window).__name__}; it must be a name, or a tuple of "
            "a name and parameters"
        )
    if name not in _NAMES:
        raise ValueError(f"get_window: window: got {name!r}; allowed are {', '.join(_NAMES)}")
    if isinstance(window, str) and name in _NEED and not name.startswith("general"):
        raise ValueError(
            f"get_window: window: {name!r} needs parameters; pass a tuple such as ('{name}', 1.0)"
        )
    if len(parameters) < _NEED.get(name, 0):
        raise TypeError(f"get_window: window: {name!r} needs {_NEED[name]} parameters; got {len(parameters)}")
    if not jnp.issubdtype(dtypes.convert(dtype).np, jnp.floating):
        raise TypeError(f"get_window: dtype: got {dtype}; it must be a floating-point dtype")
    if name in _COSINES and not parameters and isinstance(win_length, int) and win_length > 1:
        values = _sum_of_cosines(_COSINES[name], win_length, fftbins)
        return to_tensor(values.astype(dtypes.convert(dtype).np))
    from scipy.signal import windows  # a second that most programs need not wait

    try:
        # For spectra a window is periodic: its last value would be the first of the next.
        values = getattr(windows, name)(win_length, *parameters, sym=not fftbins)
    except TypeError as error:
        raise TypeError(
            f"get_window: window: {name!r} does not take the parameters {tuple(parameters)}: {error}"
        ) from None
    return to_tensor(np.asarray(values).astype(dtypes.convert(dtype).np))


def _sum_of_cosines(factors: Sequence[float], length: int, periodic: bool) -> np.ndarray:
    # A periodic window leaves out its last value, which is the first of the next.
    angles = np.linspace(-np.pi, np.pi, length + periodic)
    values = sum(factor * np.cos(k * angles) for k, factor in enumerate(factors))
    return values[:length]
