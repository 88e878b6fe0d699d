"""Activation functions that act on each element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import jax
import jax.numpy as jnp
from jax import lax

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import check_inplace, composite, op
from paddle_jax.nn.functional.softmaxes import gumbel_softmax, log_softmax, softmax  # noqa: F401
from paddle_jax.tensor.inner import log_one_plus_exp, magnitude, named
from paddle_jax.tensor.ops import sigmoid, tanh  # noqa: F401

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


SHAPES = ["f(2,3)", "d(2,3)", "f()", "f(0,3)"]
SOFT_X = {"input": "x", "lambd": "threshold"}


def _between(x: jax.Array, low: float, high: float) -> jax.Array:
    """x limited to [low, high], with zero gradient at and beyond the bounds."""
    raised = lax.select(x <= low, _filled(x, low), x)
    # The gradient at a bound is 0 in Paddle, so `jnp.clip`, which shares it there, does not do.
    return lax.select(raised >= high, _filled(x, high), raised)


def _filled(x: jax.Array, number: float) -> jax.Array:
    return lax.broadcast_in_dim(jnp.asarray(number, x.dtype), x.shape, ())


def _below(x: jax.Array) -> jax.Array:
    """min(x, 0) whose gradient at 0 is 1; keeps exp out of overflow on the branch that is not taken."""
    # A select, as `jnp.minimum` gives half of the gradient at 0.
    return lax.select(x > 0, lax.full_like(x, 0), x)


@known_as(pir="relu", onnx="Relu")
@op(
    method=False,
    inplace=True,
    cases=[*SHAPES, "~const([-1.0, 0.0, float('nan'), 2.0], 'float32')", "i(3)", "h(3)"],
)
def relu(x: jax.Array, name: str | None = None) -> jax.Array:
    """Keeps positive elements and sets the others to 0; the gradient at 0 is 0.

    Differs from Paddle: NaN stays NaN and passes its gradient on; Paddle makes both 0.

    Args:
        x: Tensor [...], real.
    Returns:
        Tensor of the shape and dtype of x.
    Example:
        >>> paddle.nn.functional.relu(paddle.to_tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """
    # NaN is not below 0, so it passes through; `jnp.maximum` would share the gradient at 0.
    return lax.select(lax.le(x, lax.full_like(x, 0)), lax.full_like(x, 0), x)


@known_as(pir="relu6", onnx="Clip(x, 0, 6)")
@op(method=False, cases=[*SHAPES, "u(-8, 8, 10)"])
def relu6(x: jax.Array, name: str | None = None) -> jax.Array:
    """Limits elements to the range from 0 to 6.

    Args:
        x: Tensor [...], floating.
    Returns:
        Tensor of the same shape.
    Example:
        >>> paddle.nn.functional.relu6(paddle.to_tensor([-1.0, 2.0, 8.0])).tolist()
        [0.0, 2.0, 6.0]
    """
    return _between(x, 0, 6)


@known_as(pir="leaky_relu negative_slope:f64", onnx="LeakyRelu alpha=negative_slope")
@op(
    method=False,
    inplace=True,
    cases=[*SHAPES, "f(2,3), 0.5", "f(2,3), negative_slope=-1.0", "const([0.0], 'float32')"],
)
def leaky_relu(x: jax.Array, negative_slope: float = 0.01, name: str | None = None) -> jax.Array:
    """Keeps elements from 0 on and multiplies the others by negative_slope.

    Args:
        x: Tensor [...], floating.
        negative_slope: number.
    Returns:
        Tensor of the same shape.
    Example:
        >>> paddle.nn.functional.leaky_relu(paddle.to_tensor([-2.0, 2.0]), 0.5).tolist()
        [-1.0, 2.0]
    """
    return jnp.where(x < 0, x * negative_slope, x)  # slope 1 at 0, as in Paddle


@known_as(pir="elu alpha:f32", onnx="Elu alpha")
@op(
    method=False, inplace=True, cases=[*SHAPES, "f(2,3), 0.5", "f(3), -1.0", "const([0.0, 100.0], 'float32')"]
)
def elu(x: jax.Array, alpha: float = 1.0, name: str | None = None) -> jax.Array:
    """Computes x where x > 0 and alpha (exp(x) - 1) elsewhere.

    Args:
        x: Tensor [...], floating.
        alpha: number.
    Returns:
        Tensor of the same shape.
    Example:
        >>> paddle.nn.functional.elu(paddle.to_tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]

    See: Clevert et al., Fast and Accurate Deep Network Learning by Exponential Linear Units, 2015.
    """
    # Of exp the negative part alone is computed, where expm1 keeps small numbers exact.
    return jnp.where(x > 0, x, alpha * jnp.expm1(_below(x)))


@known_as(pir="celu alpha:f32", onnx="Celu alpha")
@op(method=False, cases=[*SHAPES, "f(2,3), 0.5", "f(3), -2.0", "f(3), 0.0", "const([0.0, 50.0], 'float32')"])
def celu(x: jax.Array, alpha: float = 1.0, name: str | None = None) -> jax.Array:
    """Computes max(0, x) + min(0, alpha (exp(x / alpha) - 1)).

    Args:
        x: Tensor [...], floating.
        alpha: number other than 0.
    Returns:
        Tensor of the same shape.
    Raises:
        ZeroDivisionError: alpha is 0.
    Example:
        >>> paddle.nn.functional.celu(paddle.to_tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]

    See: Barron, Continuously Differentiable Exponential Linear Units, 2017.
    """
    if alpha == 0:
        raise ZeroDivisionError("celu: alpha: got 0; x is divided by it, so use another number")
    # Continuous slope at 0: both pieces have 1 there.
    return jnp.where(x > 0, x, alpha * jnp.expm1(_below(x) / alpha))


@known_as(pir="selu scale:f32 alpha:f32", onnx="Selu alpha gamma=scale")
@op(
    method=False,
    cases=[*SHAPES, "f(3), 2.0, 0.5", "f(3), 1.0", "f(3), 1.5, -1.0", "const([0.0, 100.0], 'float32')"],
)
def selu(
    x: jax.Array,
    scale: float = 1.0507009873554804934193349852946,
    alpha: float = 1.6732632423543772848170429916717,
    name: str | None = None,
) -> jax.Array:
    """Computes scale * x where x > 0 and scale * alpha (exp(x) - 1) elsewhere.

    Args:
        x: Tensor [...], floating.
        scale: number above 1.
        alpha: number, not negative.
    Returns:
        Tensor of the same shape.
    Raises:
        ValueError: scale or alpha is out of range.
    Example:
        >>> paddle.nn.functional.selu(paddle.to_tensor([0.0, 2.0]), scale=1.5).tolist()
        [0.0, 3.0]

    See: Klambauer et al., Self-Normalizing Neural Networks, 2017.
    """
    if scale <= 1.0:
        # The slope must exceed 1 to raise small variances (Klambauer and others, 2017).
        raise ValueError(f"selu: scale: got {scale}; it must be greater than 1")
    if alpha < 0:
        raise ValueError(f"selu: alpha: got {alpha}; it must not be negative")
    return scale * jnp.where(x > 0, x, alpha * jnp.expm1(_below(x)))


@known_as(pir="gelu approximate:bool", code="activations:gelu")
@op(
    alias={"input": "x"},
    out="unlisted",
    method=False,
    cases=[
        *SHAPES,
        "f(2,3), True",
        "d(2,3), approximate=True",
        "u(-30, 30, 10)",
        "f(3), 'tanh'",
        "f(3), 'none'",
        "f(3), None",
        "f(3), 'x'",
        "f(3), 1",
    ],
)
def gelu(
    x: jax.Array, approximate: bool | Literal["tanh", "none"] = False, name: str | None = None
) -> jax.Array:
    """Multiplies x by the probability that a standard normal variable is below x.

    Args:
        x: Tensor [...], floating. `input` is accepted as a name.
        approximate: True or "tanh" uses the formula 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))); False,
            "none" or None the exact one.
    Returns:
        Tensor of the same shape.
    Raises:
        ValueError: approximate is another text.
        TypeError: approximate is neither a bool nor a text.
    Example:
        >>> paddle.nn.functional.gelu(paddle.to_tensor([0.0])).tolist()
        [0.0]

    See: Hendrycks and Gimpel, Gaussian Error Linear Units, 2016.
    """
    if not isinstance(approximate, bool | str | None):
        raise TypeError(
            f"gelu: approximate: got {type(approximate).__name__}; allowed are bools, 'tanh' and 'none'"
        )
    if isinstance(approximate, str) and approximate not in ("tanh", "none"):
        raise ValueError(f"gelu: approximate: got {approximate!r}; allowed are 'tanh' and 'none'")
    # True means the form with tanh, which is cheaper than that with erf.
    return jax.nn.gelu(x, approximate=approximate in (True, "tanh"))


@known_as(pir="swish", onnx="Mul(x, Sigmoid(x))")
@op(method=False, cases=[*SHAPES, "u(-30, 30, 10)"])
def swish(x: jax.Array, name: str | None = None) -> jax.Array:
    """Computes x * sigmoid(x). Same as `silu`.

    Args:
        x: Tensor [...], floating.
    Returns:
        Tensor of the shape and dtype of x.
    Example:
        >>> paddle.nn.functional.swish(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    return jax.nn.silu(x)


@known_as(pir="silu", onnx="Mul(x, Sigmoid(x))")
@op(register=False, method=False)
@named("silu")
def _silu(x: jax.Array) -> jax.Array:
    return x * jax.nn.sigmoid(x)


@composite(
    method=False,
    alias={"input": "x"},
    cases=[*SHAPES, "u(-30, 30, 10)", "c(3)", "f(3).detach(), True", "f(3), True", "f(3) * 1, True"],
)
def silu(x: Tensor, inplace: bool = False, name: str | None = None) -> Tensor:
    """Computes x * sigmoid(x).

    Args:
        x: Tensor [...], floating or complex. `input` is accepted as a name.
        inplace: put the result into x.
    Returns:
        Tensor of the same shape.
    Example:
        >>> paddle.nn.functional.silu(paddle.to_tensor([0.0])).tolist()
        [0.0]

    See: Elfwing et al., Sigmoid-Weighted Linear Units, 2017.
    """
    if inplace:
        # The leaf must not change while a gradient is wanted.
        check_inplace("silu", x)
        return x._adopt(_silu(x))
    return _silu(x)


@known_as(pir="mish lambda:f32=20.0", onnx="Mul(x, Tanh(Softplus(x)))")
@op(method=False, cases=[*SHAPES, "u(-30, 30, 10)", "const([30.0], 'float32')"])
def mish(x: jax.Array, name: str | None = None) -> jax.Array:
    """Computes x * tanh(softplus(x)).

    Args:
        x: Tensor [...], floating.
    Returns:
        Tensor of the shape and dtype of x.
    Example:
        >>> paddle.nn.functional.mish(paddle.to_tensor([0.0])).tolist()
        [0.0]

    See: Misra, Mish: A Self Regularized Non-Monotonic Activation Function, 2019.
    """
    return x * jnp.tanh(log_one_plus_exp(x))


@known_as(pir="swiglu")
@op(
    "x y",
    same_dtype=True,
    method=False,
    promote=True,
    cases=["f(2,4)", "f(2,3), f(2,3)", "f(4)", "f(2,3)", "f(2,3), f(2,4)", "d(2,3), d(2,3)", "f(0,4)"],
)
def swiglu(x: jax.Array, y: jax.Array | None = None, name: str | None = None) -> jax.Array:
    """Computes silu(x) * y; without y, x is cut in two halves along the last axis.

    Args:
        x: Tensor [..., n].
        y: Tensor of the same shape, or None (n is then even).
    Returns:
        Tensor [..., n], or [..., n / 2] without y.
    Raises:
        ValueError: n is odd, or the shapes differ.
    Example:
        >>> paddle.nn.functional.swiglu(paddle.to_tensor([0.0, 3.0])).tolist()
        [0.0]

    See: Shazeer, GLU Variants Improve Transformer, 2020.
    """
    if y is None:
        if x.ndim == 0 or x.shape[-1] % 2:
            raise ValueError(
                f"swiglu: x: got shape {list(x.shape)}; without y the last axis is halved, "
                "so its length must be even"
            )
        # Gate and value in one Tensor, as one product with a joined weight gives them.
        x, y = jnp.split(x, 2, -1)
    elif x.shape != y.shape:
        raise ValueError(
            f"swiglu: y: got shape {list(y.shape)}; it must have the shape of x, {list(x.shape)}"
        )
    return x * jax.nn.sigmoid(x) * y


@known_as(code="activations:glu")
@op(
    method=False,
    alias={"input": "x", "dim": "axis"},
    cases=["f(2,4)", "f(4,3), 0", "f(2,4), -2", "f(2,3)", "f(2,4), 2", "d(4)", "f(0,4)"],
)
def glu(x: jax.Array, axis: int = -1, name: str | None = None) -> jax.Array:
    """Cuts x in two halves along an axis and computes first * sigmoid(second).

    Args:
        x: Tensor; its length along axis is even.
        axis: int.
    Returns:
        Tensor; the axis has half the length.
    Raises:
        ValueError: axis is out of range or the length is odd.
    Example:
        >>> paddle.nn.functional.glu(paddle.to_tensor([4.0, 0.0])).tolist()
        [2.0]

    See: Dauphin et al., Language Modeling with Gated Convolutional Networks, 2016.
    """
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(
            f"glu: axis={axis} is out of range for x of shape {list(x.shape)}; use {-x.ndim}..{x.ndim - 1}"
        )
    if x.shape[axis] % 2:
        raise ValueError(
            f"glu: x: got length {x.shape[axis]} along axis {axis}; it must be even to be halved"
        )
    # Gated linear units: Dauphin and others, 2017.
    a, b = jnp.split(x, 2, axis)
    return a * jax.nn.sigmoid(b)


@known_as(pir="hardsigmoid slope:f32 offset:f32", onnx="HardSigmoid alpha=slope beta=offset")
@op(method=False, cases=[*SHAPES, "u(-8, 8, 10)", "f(3), 0.5, 0.1", "const([-3.0, 3.0], 'float32')"])
def hardsigmoid(
    x: jax.Array, slope: float = 0.1666667, offset: float = 0.5, name: str | None = None
) -> jax.Array:
    """Limits slope * x + offset to the range from 0 to 1.

    Args:
        x: Tensor [...], floating.
        slope, offset: numbers.
    Returns:
        Tensor of the same shape.
    Example:
        >>> paddle.nn.functional.hardsigmoid(paddle.to_tensor([-5.0, 0.0, 5.0])).tolist()
        [0.0, 0.5, 1.0]
    """
    return _between(x * slope + offset, 0, 1)


@known_as(pir="hardswish", onnx="HardSwish")
@op(method=False, cases=[*SHAPES, "u(-8, 8, 10)", "const([-3.0, 3.0, 0.0], 'float32')"])
def hardswish(x: jax.Array, name: str | None = None) -> jax.Array:
    """Computes x * min(max(x + 3, 0), 6) / 6.

    Args:
        x: Tensor [...], floating.
    Returns:
        Tensor of the shape and dtype of x.
    Example:
        >>> paddle.nn.functional.hardswish(paddle.to_tensor([-5.0, 0.0, 5.0])).tolist()
        [0.0, 0.0, 5.0]

    See: Howard et al., Searching for MobileNetV3, 2019.
    """
    # Three pieces instead of the formula: at the ends the slopes are 0 and 1, as in Paddle.
    return lax.select(x <= -3, lax.full_like(x, 0), lax.select(x >= 3, x, x * (x + 3) / 6))


@known_as(pir="hardtanh min>t_min:f32 max>t_max:f32", onnx="Clip(x, t_min, t_max)")
@op(
    method=False,
    inplace=True,
    cases=[*SHAPES, "f(3), -0.5, 0.5", "const([-1.0, 1.0], 'float32')", "f(3), 1.0, -1.0"],
)
def hardtanh(x: jax.Array, min: float = -1.0, max: float = 1.0, name: str | None = None) -> jax.Array:
    """Limits elements to the range from min to max.

    Args:
        x: Tensor [...], floating.
        min, max: numbers.
    Returns:
        Tensor of the same shape.
    Example:
        >>> paddle.nn.functional.hardtanh(paddle.to_tensor([-2.0, 0.5, 2.0])).tolist()
        [-1.0, 0.5, 1.0]
    """
    return _between(x, min, max)


def _nan_stays(x: jax.Array, y: jax.Array) -> jax.Array:
    """y, and NaN where x is NaN, which gets no gradient."""
    # The comparison of NaN is False, so the pieces alone would turn it into 0.
    return jnp.where(jnp.isnan(x), lax.stop_gradient(x), y)


@known_as(pir="hardshrink threshold:f32", onnx="Shrink(x, lambd=threshold, bias=0.0)")
@op(
    method=False,
    alias=SOFT_X,
    cases=[
        *SHAPES,
        "f(3), 0.1",
        "f(3), -0.1",
        "const([-0.5, 0.5], 'float32')",
        "const([float('nan'), 1.0], 'float32')",
    ],
)
def hardshrink(x: jax.Array, threshold: float = 0.5, name: str | None = None) -> jax.Array:
    """Sets elements between -threshold and threshold to 0.

    Args:
        x: Tensor [...], floating. `input` is accepted as a name.
        threshold: number. `lambd` is accepted as a name.
    Returns:
        Tensor of the same shape.
    Example:
        >>> paddle.nn.functional.hardshrink(paddle.to_tensor([-1.0, 0.3, 1.0])).tolist()
        [-1.0, 0.0, 1.0]
    """
    return _nan_stays(x, jnp.where((x <= -threshold) | (x >= threshold), x, 0))


@known_as(pir="softshrink threshold:f32", onnx="Shrink(x, lambd=threshold, bias=threshold)")
@op(
    method=False,
    alias=SOFT_X,
    cases=[
        *SHAPES,
        "f(3), 0.1",
        "f(3), -0.1",
        "const([-0.5, 0.5], 'float32')",
        "const([float('nan'), 1.0], 'float32')",
    ],
)
def softshrink(x: jax.Array, threshold: float = 0.5, name: str | None = None) -> jax.Array:
    """Moves elements towards 0 by threshold; what is closer becomes 0.

    Args:
        x: Tensor [...], floating. `input` is accepted as a name.
        threshold: number, not negative. `lambd` is accepted as a name.
    Returns:
        Tensor of the same shape.
    Raises:
        ValueError: threshold is negative.
    Example:
        >>> paddle.nn.functional.softshrink(paddle.to_tensor([-1.0, 0.3, 1.0])).tolist()
        [-0.5, 0.0, 0.5]
    """
    if threshold < 0:
        raise ValueError(f"softshrink: threshold: got {threshold}; it must not be negative")
    return _nan_stays(x, jnp.where(x > threshold, x - threshold, jnp.where(x < -threshold, x + threshold, 0)))


@known_as(amp="tanh_shrink", pir="tanh_shrink|tanhshrink", onnx="Sub(x, Tanh(x))")
@op(method=False, cases=SHAPES)
def tanhshrink(x: jax.Array, name: str | None = None) -> jax.Array:
    """Computes x - tanh(x).

    Args:
        x: Tensor [...], floating.
    Returns:
        Tensor of the shape and dtype of x.
    Example:
        >>> paddle.nn.functional.tanhshrink(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    return x - jnp.tanh(x)


@known_as(pir="softplus beta:f64 threshold:f64", onnx="Div(Softplus(Mul(x, beta)), beta)")
@op(
    alias={"input": "x"},
    out="unlisted",
    method=False,
    cases=[*SHAPES, "u(-30, 30, 10)", "f(3), 2", "f(3), 0.5, 1.0", "const([25.0, 19.0], 'float32'), 2, 30"],
)
def softplus(x: jax.Array, beta: float = 1, threshold: float = 20, name: str | None = None) -> jax.Array:
    """Computes log(1 + exp(beta x)) / beta, and x where beta x exceeds threshold.

    Args:
        x: Tensor [...], floating. `input` is accepted as a name.
        beta, threshold: numbers.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.nn.functional.softplus(paddle.to_tensor([0.0])).item(), 4)
        0.6931
    """
    scaled = x * beta
    # Beyond the threshold log(1 + exp(z)) equals z in float32.
    return jnp.where(scaled > threshold, x, log_one_plus_exp(scaled) / beta)


@known_as(pir="softsign", onnx="Softsign")
@op(method=False, cases=[*SHAPES, "u(-30, 30, 10)"])
def softsign(x: jax.Array, name: str | None = None) -> jax.Array:
    """Computes x / (1 + |x|).

    Args:
        x: Tensor [...], floating.
    Returns:
        Tensor of the shape and dtype of x.
    Example:
        >>> paddle.nn.functional.softsign(paddle.to_tensor([-1.0, 3.0])).tolist()
        [-0.5, 0.75]
    """
    return x / (1 + magnitude(x))


@known_as(pir="logsigmoid", onnx="Neg(Softplus(Neg(x)))")
@op(method=False, alias={"input": "x"}, cases=[*SHAPES, "u(-90, 90, 10)", "c(3)"])
def log_sigmoid(x: jax.Array, name: str | None = None) -> jax.Array:
    """Computes log(1 / (1 + exp(-x))) without overflow.

    Args:
        x: Tensor [...], floating. `input` is accepted as a name.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.nn.functional.log_sigmoid(paddle.to_tensor([0.0])).item(), 4)
        -0.6931
    """
    # The stable form compares numbers, which complex ones do not allow.
    if jnp.iscomplexobj(x):
        return -jnp.log(1 + jnp.exp(-x))
    return -log_one_plus_exp(-x)


logsigmoid = log_sigmoid


@known_as(pir="thresholded_relu threshold:f32 value:f32", onnx="Where(Greater(x, threshold), x, value)")
@op(
    method=False,
    inplace=True,
    cases=[
        *SHAPES,
        "f(3), 0.1",
        "f(3), 0.5, -2.0",
        "const([1.0], 'float32')",
        "const([float('nan'), 2.0], 'float32')",
    ],
)
def thresholded_relu(
    x: jax.Array, threshold: float = 1.0, value: float = 0.0, name: str | None = None
) -> jax.Array:
    """Keeps elements above threshold and sets the others to value.

    Args:
        x: Tensor [...], floating.
        threshold, value: numbers.
    Returns:
        Tensor of the same shape.
    Example:
        >>> paddle.nn.functional.thresholded_relu(paddle.to_tensor([0.5, 2.0])).tolist()
        [0.0, 2.0]
    """
    return _nan_stays(x, jnp.where(x > threshold, x, jnp.asarray(value, x.dtype)))


@known_as(pir="prelu data_format:str='NCHW' mode:str", code="activations:prelu")
@op(
    "x weight",
    same_dtype=True,
    method=False,
    cases=[
        "f(2,3,4), f(1)",
        "f(2,3,4), f(3)",
        "f(2,4,3), f(3), 'NHWC'",
        "f(2,3), f(3), data_format='NC'",
        "f(2,3), f(2)",
        "f(2,3), f(1,3)",
        "f(4), f(1)",
        "f(2,3), f(3), 'XY'",
        "d(0,3), d(3)",
    ],
)
def prelu(x: jax.Array, weight: jax.Array, data_format: str = "NCHW", name: str | None = None) -> jax.Array:
    """Keeps positive elements and multiplies the others by a learned slope.

    Args:
        x: Tensor; channels are on axis 1, or on the last axis with a channels-last data_format.
        weight: Tensor [1] or [channels].
        data_format: "NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC" or "NDHWC".
    Returns:
        Tensor of the same shape.
    Raises:
        AssertionError: weight does not fit the channels.
        ValueError: data_format is something else or x has no channel axis.
    Example:
        >>> paddle.nn.functional.prelu(paddle.to_tensor([[-2.0, 2.0]]), paddle.to_tensor([0.5])).tolist()
        [[-1.0, 2.0]]

    See: He et al., Delving Deep into Rectifiers, 2015.
    """
    if weight.ndim > 1:
        raise AssertionError(f"prelu: weight: got shape {list(weight.shape)}; it must have one axis")
    if weight.size == 1:
        # A single slope needs no axis of channels.
        return jnp.where(x > 0, x, x * weight.reshape(()))
    if data_format not in ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC"):
        raise ValueError(
            f"prelu: data_format: got {data_format!r}; allowed are NC, NCL, NCHW, NCDHW, NLC, NHWC, NDHWC"
        )
    if x.ndim < 2:
        raise AssertionError(
            f"prelu: x: got shape {list(x.shape)}; a slope per channel needs at least two axes"
        )
    axis = 1 if data_format[1] == "C" else x.ndim - 1
    if x.shape[axis] != weight.shape[0]:
        raise AssertionError(f"prelu: weight: got {weight.shape[0]} slopes; x has {x.shape[axis]} channels")
    # The slopes broadcast along the axis of channels.
    return jnp.where(x > 0, x, x * weight.reshape([-1 if a == axis else 1 for a in range(x.ndim)]))


@op(random=True, register=False, method=False)
def _rrelu(x: jax.Array, lower: float, upper: float, *, key: jax.Array) -> jax.Array:
    # A slope for each element, not one for each channel.
    slope = jax.random.uniform(
        key, x.shape, x.dtype, jnp.asarray(lower, x.dtype), jnp.asarray(upper, x.dtype)
    )
    return jnp.where(x < 0, x * slope, x)


def rrelu(
    x: Tensor,
    lower: float = 1.0 / 8.0,
    upper: float = 1.0 / 3.0,
    training: bool = True,
    name: str | None = None,
) -> Tensor:
    """Multiplies negative elements by slopes drawn uniformly from [lower, upper]; by their mean
    when not training.

    Args:
        x: Tensor [...], floating.
        lower, upper: floats in [0, 1], lower <= upper.
        training: whether slopes are drawn.
    Returns:
        Tensor of the same shape.
    Raises:
        ValueError: lower or upper is out of range.
        TypeError: lower or upper is not a float.
    Example:
        >>> paddle.nn.functional.rrelu(paddle.to_tensor([-4.0, 2.0]), 0.5, 0.5).tolist()
        [-2.0, 2.0]

    See: Xu et al., Empirical Evaluation of Rectified Activations, 2015.
    """
    if not isinstance(lower, float) or not isinstance(upper, float):
        raise TypeError(
            f"rrelu: lower, upper: got {type(lower).__name__} and {type(upper).__name__}; both must be floats"
        )
    if not 0 <= lower <= upper <= 1:
        raise ValueError(
            f"rrelu: lower, upper: got {lower} and {upper}; they must satisfy 0 <= lower <= upper <= 1"
        )
    if training:
        return _rrelu(x, lower, upper)
    # In evaluation the mean of the slopes, as dropout takes the mean of its masks.
    return leaky_relu(x, (lower + upper) / 2)


@known_as(pir="maxout groups:i32=1 axis:i32")
@op(
    method=False,
    cases=[
        "f(2,4,3), 2",
        "f(2,3,4), 2, -1",
        "f(1,4,2,2), 4",
        "f(2,4), 2",
        "f(2,3), 2",
        "f(2,4), 1",
        "f(2,4), 2, 5",
        "d(2,6,1,1), 3",
        "f(0,4,2,2), 2",
    ],
)
def maxout(x: jax.Array, groups: int, axis: int = 1, name: str | None = None) -> jax.Array:
    """Takes the maximum over groups of neighbouring channels.

    Args:
        x: Tensor [N, C, H, W] or [N, H, W, C]; its length along axis is a multiple of groups.
        groups: int, how many neighbouring channels make one.
        axis: the channel axis.
    Returns:
        Tensor with length / groups along axis.
    Raises:
        ValueError: axis is not a channel axis, groups is below 2 or does not divide the channels.
    Example:
        >>> paddle.nn.functional.maxout(paddle.to_tensor([[[[1.0]], [[3.0]]]]), 2).tolist()
        [[[[3.0]]]]

    See: Goodfellow et al., Maxout Networks, 2013.
    """
    if axis not in (1, -1, 3):
        raise ValueError(f"maxout: axis: got {axis}; the channels are on axis 1, 3 or -1")
    if x.ndim != 4:
        raise ValueError(f"maxout: x: got shape {list(x.shape)}; it must have 4 axes")
    axis = axis % x.ndim
    if groups <= 1 or axis >= x.ndim or x.shape[axis] % groups:
        raise ValueError(
            f"maxout: groups: got {groups} for shape {list(x.shape)}; "
            f"it must be at least 2 and divide the channels on axis {axis}"
        )
    # Channels of a group lie side by side, so a reshape puts them on an axis.
    x = x.reshape(*x.shape[:axis], x.shape[axis] // groups, groups, *x.shape[axis + 1 :])
    # of equals the first gets the gradient
    first = jnp.argmax(jax.lax.stop_gradient(x), axis + 1, keepdims=True)
    return jnp.squeeze(jnp.take_along_axis(x, first, axis + 1), axis + 1)
