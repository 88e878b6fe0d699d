"""Initializers with random values."""

from __future__ import annotations

import math
from typing import Literal

import jax
import numpy as np

from paddle_jax.nn.initializer.initializer import (
    Initializer,
    calculate_gain,
    check_inexact,
    fans,
    generator,
    normal,
    uniform,
)


class Normal(Initializer):
    """Fills with normally distributed values.

    Args:
        mean: float.
        std: float, the standard deviation.
    Raises:
        AssertionError: an argument is None.
    Example:
        >>> x = paddle.zeros([1000]); paddle.nn.initializer.Normal(5.0, 0.1)(x); 4.9 < float(x.mean()) < 5.1
        True
    """

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        if mean is None or std is None:
            raise AssertionError(f"Normal: got mean={mean}, std={std}; both must be numbers")
        self._mean = mean
        self._std_dev = std

    def _values(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        return normal(shape, dtype, self._mean, self._std_dev)


class TruncatedNormal(Initializer):
    """Fills with normally distributed values that all lie between two bounds.

    Args:
        mean: float, of the distribution before values outside the bounds are excluded.
        std: float, likewise.
        a: float, the lower bound of the values.
        b: float, the upper bound.
    Raises:
        AssertionError: an argument is None.
        ValueError: a is above b.
    Example:
        >>> x = paddle.zeros([1000])
        >>> paddle.nn.initializer.TruncatedNormal(a=-1.0, b=1.0)(x)
        >>> float(x.abs().max()) <= 1.0
        True
    """

    def __init__(
        self, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, name: str | None = None
    ) -> None:
        if any(v is None for v in (mean, std, a, b)):
            raise AssertionError(
                f"TruncatedNormal: got mean={mean}, std={std}, a={a}, b={b}; all must be numbers"
            )
        if a > b:
            raise ValueError(
                f"TruncatedNormal: got a={a} above b={b}; the lower bound a must not be above "
                "the upper bound b"
            )
        self._mean = mean
        self._std_dev = std
        self._a = a
        self._b = b

    def _values(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        if check_inexact("TruncatedNormal", dtype) == "c":
            raise RuntimeError(f"TruncatedNormal: dtype: got {dtype}; it must be floating")
        if self._std_dev == 0:
            # No deviation: all are the mean.
            return np.full(shape, np.clip(self._mean, self._a, self._b)).astype(dtype)
        low, high = sorted(((self._a - self._mean) / self._std_dev, (self._b - self._mean) / self._std_dev))
        values = _truncated(generator(), math.prod(shape), low, high) * self._std_dev + self._mean
        return np.clip(values, self._a, self._b).astype(dtype).reshape(shape)


def _cdf(x: float) -> float:
    """The standard normal distribution function."""
    return 0.5 * math.erfc(-x / math.sqrt(2))


def _truncated(draw: np.random.Generator, count: int, low: float, high: float) -> np.ndarray:
    """Standard normal values between low and high: drawn again while outside, or through the inverse CDF
    where that would take long."""
    below = _cdf(low)
    above = _cdf(high)
    # Few draws would fall between the bounds, so these come from the inverse.
    if above - below < 0.05:
        return _by_inverse(draw, count, low, high)
    values = draw.standard_normal(count)
    outside = np.flatnonzero((values < low) | (values > high))
    # Numbers outside are drawn again.
    while outside.size:
        values[outside] = draw.standard_normal(outside.size)
        outside = outside[(values[outside] < low) | (values[outside] > high)]
    return values


def _by_inverse(draw: np.random.Generator, count: int, low: float, high: float) -> np.ndarray:
    flip = low > 0  # the left tail has the finer float grid
    low, high = (-high, -low) if flip else (low, high)
    chance = draw.uniform(_cdf(low), _cdf(high), count)
    values = np.clip(np.asarray(jax.scipy.special.ndtri(chance)), low, high)
    if flip:
        return -values
    return values


class Uniform(Initializer):
    """Fills with values distributed evenly between two bounds.

    Args:
        low: float.
        high: float.
    Raises:
        AssertionError: an argument is None, or low is above high.
    Example:
        >>> x = paddle.zeros([1000])
        >>> paddle.nn.initializer.Uniform(2.0, 3.0)(x)
        >>> 2.0 <= float(x.min()) <= float(x.max()) <= 3.0
        True
    """

    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None) -> None:
        if low is None or high is None or high < low:
            raise AssertionError(
                f"Uniform: got low={low}, high={high}; both must be numbers and low not above high"
            )
        self._low = low
        self._high = high

    def _values(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        return uniform(shape, dtype, self._low, self._high)


class XavierInitializer(Initializer):
    """`XavierUniform` or `XavierNormal`, under their older name.

    Args:
        uniform: bool, evenly distributed values; else normally distributed ones.
        fan_in: float, the number of inputs. Default: from the shape.
        fan_out: float, the number of outputs. Default: from the shape.
        seed: int, accepted for compatibility; values come from the state that `paddle.seed` sets.
        gain: float, see `calculate_gain`.
    Raises:
        AssertionError: `uniform` or `seed` is None.
    Example:
        >>> x = paddle.zeros([3, 3]); paddle.nn.initializer.XavierInitializer()(x)
        >>> float(x.abs().max()) <= 1.0
        True
    """

    def __init__(
        self,
        uniform: bool = True,
        fan_in: float | None = None,
        fan_out: float | None = None,
        seed: int = 0,
        gain: float = 1.0,
    ) -> None:
        if uniform is None or seed is None:
            raise AssertionError(
                f"{type(self).__name__}: got uniform={uniform}, seed={seed}; neither may be None"
            )
        self._uniform = uniform
        self._fan_in = fan_in
        self._fan_out = fan_out
        self._gain = gain

    def _scale(self, shape: tuple[int, ...]) -> float:
        fan_in, fan_out = fans(shape)
        # Glorot and Bengio, 2010: the mean of both fans.
        total = (fan_in if self._fan_in is None else self._fan_in) + (
            fan_out if self._fan_out is None else self._fan_out
        )
        if total:
            return self._gain * math.sqrt(2.0 / total)
        return 0.0

    def _values(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        return _with_std(self._uniform, shape, dtype, self._scale(shape))


class XavierUniform(XavierInitializer):
    """Fills evenly between -x and x, x = gain sqrt(6 / (fan_in + fan_out)): the default for weights.

    Args:
        fan_in: float, the number of inputs. Default: from the shape.
        fan_out: float, the number of outputs. Default: from the shape.
        gain: float, see `calculate_gain`.
    Example:
        >>> linear = paddle.nn.Linear(3, 3, weight_attr=paddle.nn.initializer.XavierUniform())
        >>> float(linear.weight.abs().max()) <= 1.0
        True
    See: Glorot and Bengio, Understanding the difficulty of training deep feedforward neural
        networks, 2010, eq. 16.
    """

    def __init__(
        self,
        fan_in: float | None = None,
        fan_out: float | None = None,
        gain: float = 1.0,
        name: str | None = None,
    ) -> None:
        super().__init__(True, fan_in, fan_out, 0, gain)


class XavierNormal(XavierInitializer):
    """Fills with normally distributed values of standard deviation gain sqrt(2 / (fan_in + fan_out)).

    Args:
        fan_in: float, the number of inputs. Default: from the shape.
        fan_out: float, the number of outputs. Default: from the shape.
        gain: float, see `calculate_gain`.
    Example:
        >>> x = paddle.zeros([200, 200])
        >>> paddle.nn.initializer.XavierNormal()(x)
        >>> 0.06 < float(x.std()) < 0.08
        True
    See: Glorot and Bengio, 2010.
    """

    def __init__(
        self,
        fan_in: float | None = None,
        fan_out: float | None = None,
        gain: float = 1.0,
        name: str | None = None,
    ) -> None:
        super().__init__(False, fan_in, fan_out, 0, gain)


class MSRAInitializer(Initializer):
    """`KaimingUniform` or `KaimingNormal`, under their older name.

    Args:
        uniform: bool, evenly distributed values; else normally distributed ones.
        fan_in: float, replaces the number of inputs found from the shape.
        seed: int, accepted for compatibility; values come from the state that `paddle.seed` sets.
        negative_slope: float, of leaky_relu.
        nonlinearity: str, what follows; see `calculate_gain`.
        mode: "fan_in" or "fan_out", which of the two the variance is kept for.
    Raises:
        AssertionError: `uniform` or `seed` is None.
        ValueError: mode or nonlinearity is not known (when filling).
    Example:
        >>> x = paddle.zeros([600, 2]); paddle.nn.initializer.MSRAInitializer()(x)
        >>> float(x.abs().max()) <= 0.1
        True
    """

    def __init__(
        self,
        uniform: bool = True,
        fan_in: float | None = None,
        seed: int = 0,
        negative_slope: float = 0,
        nonlinearity: str = "relu",
        mode: Literal["fan_in", "fan_out"] = "fan_in",
    ) -> None:
        if uniform is None or seed is None:
            raise AssertionError(
                f"{type(self).__name__}: got uniform={uniform}, seed={seed}; neither may be None"
            )
        self._uniform = uniform
        self._fan_in = fan_in
        self._negative_slope = negative_slope
        self._nonlinearity = nonlinearity
        self._mode = mode

    def _scale(self, shape: tuple[int, ...]) -> float:
        if self._mode not in ("fan_in", "fan_out"):
            raise ValueError(
                f"{type(self).__name__}: mode: got {self._mode!r}; allowed are 'fan_in' and 'fan_out'"
            )
        fan_in, fan_out = fans(shape)
        if self._mode == "fan_out":
            fan = fan_out
        elif self._fan_in is None:
            fan = fan_in
        else:
            fan = self._fan_in
        # He and others, 2015.
        gain = calculate_gain(self._nonlinearity, self._negative_slope)
        # A fan of zero would divide by zero.
        if fan:
            return gain / math.sqrt(fan)
        return 0.0

    def _values(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        return _with_std(self._uniform, shape, dtype, self._scale(shape))


class KaimingUniform(MSRAInitializer):
    """Fills evenly between -x and x, x = gain sqrt(3 / fan).

    Args:
        fan_in: float, replaces the number of inputs found from the shape.
        negative_slope: float, of leaky_relu.
        nonlinearity: str, what follows; see `calculate_gain`.
        mode: "fan_in" or "fan_out", which of the two the variance is kept for.
    Raises:
        ValueError: mode or nonlinearity is not known (when filling).
    Example:
        >>> x = paddle.zeros([600, 2]); paddle.nn.initializer.KaimingUniform()(x); float(x.abs().max()) <= 0.1
        True
    See: He et al., Delving Deep into Rectifiers, 2015, eq. 14.
    """

    def __init__(
        self,
        fan_in: float | None = None,
        negative_slope: float = 0.0,
        nonlinearity: str = "relu",
        mode: Literal["fan_in", "fan_out"] = "fan_in",
    ) -> None:
        super().__init__(True, fan_in, 0, negative_slope, nonlinearity, mode)


class KaimingNormal(MSRAInitializer):
    """Fills with normally distributed values of standard deviation gain / sqrt(fan).

    Args:
        fan_in: float, replaces the number of inputs found from the shape.
        negative_slope: float, of leaky_relu.
        nonlinearity: str, what follows; see `calculate_gain`.
        mode: "fan_in" or "fan_out", which of the two the variance is kept for.
    Raises:
        ValueError: mode or nonlinearity is not known (when filling).
    Example:
        >>> x = paddle.zeros([200, 300])
        >>> paddle.nn.initializer.KaimingNormal()(x)
        >>> 0.09 < float(x.std()) < 0.11
        True
    See: He et al., 2015.
    """

    def __init__(
        self,
        fan_in: float | None = None,
        negative_slope: float = 0.0,
        nonlinearity: str = "relu",
        mode: Literal["fan_in", "fan_out"] = "fan_in",
    ) -> None:
        super().__init__(False, fan_in, 0, negative_slope, nonlinearity, mode)


def _with_std(evenly: bool, shape: tuple[int, ...], dtype: np.dtype, std: float) -> np.ndarray:
    """Values of mean 0 and a standard deviation, evenly or normally distributed."""
    # A uniform distribution with this bound has the deviation `std`.
    bound = math.sqrt(3.0) * std
    if evenly:
        return uniform(shape, dtype, -bound, bound)
    return normal(shape, dtype, 0.0, std)


class Orthogonal(Initializer):
    """Fills with a matrix whose rows (or columns, whichever are fewer) are orthonormal; axes after the first
    are seen as one.

    Args:
        gain: float, multiplies the matrix.
    Raises:
        AssertionError: the tensor has fewer than 2 axes.
    Example:
        >>> x = paddle.zeros([3, 3])
        >>> paddle.nn.initializer.Orthogonal()(x)
        >>> bool(paddle.allclose(x @ x.T, paddle.eye(3), atol=1e-5))
        True
    See: Saxe et al., Exact solutions to the nonlinear dynamics of learning in deep linear
        neural networks, 2013.
    """

    def __init__(self, gain: float = 1.0, name: str | None = None) -> None:
        if gain is None:
            raise AssertionError("Orthogonal: gain: got None; it must be a number")
        self._gain = gain

    def _values(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        if len(shape) < 2:
            raise AssertionError(
                f"Orthogonal: got a tensor of shape {list(shape)}; it must have 2 axes or more"
            )
        check_inexact("Orthogonal", dtype)
        rows = shape[0]
        columns = math.prod(shape[1:])
        # Q of a random matrix is orthogonal.
        q, r = np.linalg.qr(generator().standard_normal((max(rows, columns), min(rows, columns))))
        q = q * np.sign(np.diagonal(r))  # makes the distribution uniform over orthogonal matrices
        return (self._gain * (q.T if rows < columns else q)).reshape(shape).astype(dtype)


__all__ = [
    "KaimingNormal",
    "KaimingUniform",
    "Normal",
    "Orthogonal",
    "TruncatedNormal",
    "Uniform",
    "XavierNormal",
    "XavierUniform",
]
