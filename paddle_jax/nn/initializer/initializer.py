"""The base of all initializers: something that fills a parameter, given its shape and dtype."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.param_defaults import ParameterDefaults
from paddle_jax._core.lazy.lazy_array import persistent_from_numpy
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.random import default_generator
from paddle_jax._core.tensors.tensor import Tensor

_GAINS = {"linear": 1, "sigmoid": 1, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
_GAINS |= {form.format(d): 1 for d in "123" for form in ("conv{}d", "conv{}d_transpose", "conv_transpose{}d")}


class Initializer:
    """Fills parameters. Call one on a Tensor to fill it in place, or hand one to a layer in a ParamAttr.

    A subclass gives `_values(shape, dtype)`, an array; or overrides `forward(param, block)`, which fills a
    Tensor in place.
    """

    def __call__(self, param: Tensor, block: Any = None) -> Any:
        """Fills `param` in place.

        Args:
            param: Tensor or Parameter.
            block: accepted for compatibility; not used.
        Raises:
            AssertionError: param is not a Tensor.
        """
        if not isinstance(param, Tensor):
            raise AssertionError(
                f"{type(self).__name__}: param: got {type(param).__name__}; it must be a Tensor"
            )
        return self.forward(param, block)

    def forward(self, var: Tensor, block: Any = None) -> Any:
        """Fills `var` in place; what calling the initializer does."""
        # By NumPy on the host: no program is compiled for the shape of each parameter.
        array = np.asarray(self._values(tuple(var.shape), np.dtype(numpy_dtype(var))))
        var._rebind(persistent_from_numpy(array.astype(numpy_dtype(var))))


def generator() -> np.random.Generator:
    """A NumPy generator for one draw from Paddle's random state. Filling on the host costs no
    compilation per shape."""
    # A draw of the generator is the key, so that each call has other numbers.
    words, offset = default_generator().draw_on_host()
    # Seed and offset are the key of the generator, so a draw depends on nothing else.
    seed = (int(words[0]) << 32) | int(words[1])
    return np.random.Generator(np.random.Philox(key=[seed, int(offset)]))


def normal(shape: tuple[int, ...], dtype: np.dtype, mean: float = 0.0, std: float = 1.0) -> np.ndarray:
    """Normally distributed values; for complex dtypes the variance is shared by the real and
    the imaginary part."""
    kind = check_inexact("Normal", dtype)
    draw = generator()
    if kind == "c":
        # Both parts share the variance.
        half = np.float64(std / math.sqrt(2.0))
        return (mean + half * (draw.standard_normal(shape) + 1j * draw.standard_normal(shape))).astype(dtype)
    work = np.float64 if dtype == np.float64 else np.float32
    return (draw.standard_normal(shape, work) * work(std) + work(mean)).astype(dtype)


def uniform(shape: tuple[int, ...], dtype: np.dtype, low: float, high: float) -> np.ndarray:
    """Values distributed evenly between low and high; for complex dtypes both parts are."""
    if check_inexact("Uniform", dtype) == "c":
        parts = generator().random((2, *shape)) * (high - low) + low
        return (parts[0] + 1j * parts[1]).astype(dtype)
    # Half precision is drawn in float32 and rounded.
    work = np.float64 if dtype == np.float64 else np.float32
    return (generator().random(shape, work) * work(high - low) + work(low)).astype(dtype)


def check_inexact(name: str, dtype: np.dtype) -> str:
    """The kind of the dtype, "c" or "f".

    Raises:
        RuntimeError: it is an integer or bool.
    """
    paddle_dtype = dtypes.convert(dtype)
    if not (paddle_dtype.is_floating or paddle_dtype.is_complex):
        raise RuntimeError(
            f"{name}: dtype: got {paddle_dtype._key}; random values need a floating or complex dtype"
        )
    if paddle_dtype.is_complex:
        return "c"
    return "f"


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """How many inputs an output is computed from, and how many outputs an input goes to: (fan_in, fan_out).

    A matrix is [in, out]; a convolution weight is [out, in, *kernel].
    """
    if len(shape) < 2:
        length = math.prod(shape)
        return length, length
    if len(shape) == 2:
        return shape[0], shape[1]
    # The elements of the kernel belong to each channel.
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Returns the factor that keeps the variance of activations through a nonlinearity.

    Args:
        nonlinearity: "linear", "sigmoid", "tanh", "relu", "leaky_relu", "selu", or the name of a convolution
            such as "conv2d".
        param: float, the negative slope of "leaky_relu". Default: 0.01.
    Returns:
        float.
    Raises:
        ValueError: there is no gain for this name.
        AssertionError: param is not a number.
    Example:
        >>> paddle.nn.initializer.calculate_gain("tanh")
        1.6666666666666667
    See: He et al., Delving Deep into Rectifiers, 2015, section 2.2; for selu, Klambauer et al., 2017.
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        # A bool is an int for Python, but no slope.
        if isinstance(slope, bool) or not isinstance(slope, int | float):
            raise AssertionError(
                f"calculate_gain: param: got {type(slope).__name__}; the negative slope must be a number"
            )
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(
            f"calculate_gain: nonlinearity: got {nonlinearity!r}; allowed are leaky_relu, {', '.join(_GAINS)}"
        )
    return _GAINS[nonlinearity]


def set_global_initializer(weight_init: Initializer | None, bias_init: Initializer | None = None) -> None:
    """Sets what layers created from now on fill their parameters with, unless a ParamAttr says otherwise.

    Args:
        weight_init: initializer for weights, or None for each layer's own.
        bias_init: initializer for biases, or None for each layer's own.
    Raises:
        TypeError: an argument is neither an Initializer nor None.
    Example:
        >>> paddle.nn.initializer.set_global_initializer(paddle.nn.initializer.Constant(3.0))
        >>> paddle.nn.Linear(1, 2).weight.tolist()
        [[3.0, 3.0]]
        >>> paddle.nn.initializer.set_global_initializer(None)
    """
    for value in (weight_init, bias_init):
        if value is not None and not isinstance(value, Initializer):
            raise TypeError(
                f"set_global_initializer: got {type(value).__name__}; "
                "use an initializer from paddle.nn.initializer, or None"
            )
    ParameterDefaults.weight = weight_init
    ParameterDefaults.bias = bias_init
