"""Activation layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from paddle_jax._core.base.dtype import get_default_dtype
from paddle_jax.nn import functional as F
from paddle_jax.nn.initializer import Constant
from paddle_jax.nn.layer.helpers import alias, linked, show
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.nn.layer.shrinking import Hardshrink, Softshrink, ThresholdedReLU

if TYPE_CHECKING:
    from paddle_jax._annotations import ParamAttrLike
    from paddle_jax._core.tensors.tensor import Tensor


class _Named(Layer):
    """An activation without settings."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def extra_repr(self) -> str:
        return show(self._name)


class CELU(Layer):
    """Computes max(0, x) + min(0, alpha (exp(x / alpha) - 1)).

    Args:
        alpha: float, must not be 0.
    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.CELU()(x) == paddle.nn.functional.celu(x)).all())
        True
    See: Barron, Continuously Differentiable Exponential Linear Units, 2017.
    """

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        super().__init__()
        self._alpha = alpha
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.celu(x, self._alpha)

    def extra_repr(self) -> str:
        return show(self._name, alpha=self._alpha)


class ELU(Layer):
    """Computes x where x > 0, alpha (exp(x) - 1) elsewhere.

    Args:
        alpha: float.
    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5]); bool((paddle.nn.ELU()(x) == paddle.nn.functional.elu(x)).all())
        True
    See: Clevert et al., Fast and Accurate Deep Network Learning by Exponential Linear Units, 2015.
    """

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        super().__init__()
        self._alpha = alpha
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.elu(x, self._alpha)

    def extra_repr(self) -> str:
        return show(self._name, alpha=self._alpha)


class GELU(Layer):
    """Computes x times the normal distribution function of x.

    Args:
        approximate: bool, or "tanh" / "none": use the tanh approximation.
    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.GELU()(x) == paddle.nn.functional.gelu(x)).all())
        True
    See: Hendrycks and Gimpel, Gaussian Error Linear Units, 2016.
    """

    def __init__(self, approximate: bool | Literal["tanh", "none"] = False, name: str | None = None) -> None:
        super().__init__()
        self._approximate = approximate
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.gelu(x, self._approximate)

    def extra_repr(self) -> str:
        return show(self._name, approximate=self._approximate)


class Hardswish(_Named):
    """Computes x min(max(x + 3, 0), 6) / 6.

    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.Hardswish()(x) == paddle.nn.functional.hardswish(x)).all())
        True
    See: Howard et al., Searching for MobileNetV3, 2019.
    """

    def forward(self, x: Tensor) -> Tensor:
        return F.hardswish(x)


class Hardsigmoid(Layer):
    """Computes min(max(x / 6 + 1/2, 0), 1).

    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.Hardsigmoid()(x) == paddle.nn.functional.hardsigmoid(x)).all())
        True
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self.name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.hardsigmoid(x)

    def extra_repr(self) -> str:
        return show(self.name)


class Hardtanh(Layer):
    """Computes x, cut off at min and max.

    Args:
        min: float.
        max: float.
    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.Hardtanh()(x) == paddle.nn.functional.hardtanh(x)).all())
        True
    """

    def __init__(self, min: float = -1.0, max: float = 1.0, name: str | None = None) -> None:
        super().__init__()
        self._min = min
        self._max = max
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.hardtanh(x, self._min, self._max)

    def extra_repr(self) -> str:
        return show(self._name, min=self._min, max=self._max)


class LeakyReLU(Layer):
    """Computes x where x >= 0, negative_slope x elsewhere.

    Args:
        negative_slope: float.
    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.LeakyReLU()(x) == paddle.nn.functional.leaky_relu(x)).all())
        True
    """

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__()
        self._negative_slope = negative_slope
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.leaky_relu(x, self._negative_slope)

    def extra_repr(self) -> str:
        return show(self._name, negative_slope=self._negative_slope)


class LogSigmoid(_Named):
    """Computes log(1 / (1 + exp(-x))).

    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.LogSigmoid()(x) == paddle.nn.functional.log_sigmoid(x)).all())
        True
    """

    def forward(self, x: Tensor) -> Tensor:
        return F.log_sigmoid(x)


class LogSoftmax(Layer):
    """Computes the logarithm of softmax along an axis.

    Args:
        axis: int.
    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.LogSoftmax()(x) == paddle.nn.functional.log_softmax(x)).all())
        True
    """

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis = axis
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.log_softmax(x, self._axis)

    def extra_repr(self) -> str:
        return show(self._name, axis=self._axis)


class Maxout(Layer):
    """Computes the maximum over each run of `groups` channels.

    Args:
        groups: int, a divisor of the number of channels.
        axis: int, the axis of channels.
    Example:
        >>> paddle.nn.Maxout(2)(paddle.ones([1, 4, 2, 2])).shape
        paddle.Size([1, 2, 2, 2])
    See: Goodfellow et al., Maxout Networks, 2013.
    """

    def __init__(self, groups: int, axis: int = 1, name: str | None = None) -> None:
        super().__init__()
        self._groups = groups
        self._axis = axis
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.maxout(x, self._groups, self._axis)

    def extra_repr(self) -> str:
        return show(self._name, groups=self._groups, axis=self._axis)


class Mish(_Named):
    """Computes x tanh(log(1 + exp(x))).

    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.Mish()(x) == paddle.nn.functional.mish(x)).all())
        True
    See: Misra, Mish: A Self Regularized Non-Monotonic Activation Function, 2019.
    """

    def forward(self, x: Tensor) -> Tensor:
        return F.mish(x)


class ReLU(_Named):
    """Computes max(0, x).

    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.ReLU()(x) == paddle.nn.functional.relu(x)).all())
        True
    """

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x)


class ReLU6(_Named):
    """Computes min(max(0, x), 6).

    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.ReLU6()(x) == paddle.nn.functional.relu6(x)).all())
        True
    """

    def forward(self, x: Tensor) -> Tensor:
        return F.relu6(x)


class SELU(Layer):
    """Computes scale (x where x > 0, alpha (exp(x) - 1) elsewhere).

    Args:
        scale: float, above 1.
        alpha: float.
    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.SELU()(x) == paddle.nn.functional.selu(x)).all())
        True
    See: Klambauer et al., Self-Normalizing Neural Networks, 2017.
    """

    def __init__(
        self, scale: float = 1.0507009873554805, alpha: float = 1.6732632423543772, name: str | None = None
    ) -> None:
        super().__init__()
        self._scale = scale
        self._alpha = alpha
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.selu(x, self._scale, self._alpha)

    def extra_repr(self) -> str:
        return show(self._name, scale=self._scale, alpha=self._alpha)


class Sigmoid(Layer):
    """Computes 1 / (1 + exp(-x)).

    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.Sigmoid()(x) == paddle.nn.functional.sigmoid(x)).all())
        True
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self.name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.sigmoid(x)

    def extra_repr(self) -> str:
        return show(self.name)


class Softmax(Layer):
    """Computes exp(x) divided by its sum along an axis.

    Args:
        axis: int.
    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.Softmax()(x) == paddle.nn.functional.softmax(x)).all())
        True
    """

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis = axis
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.softmax(x, self._axis)

    def extra_repr(self) -> str:
        return show(self._name, axis=self._axis)


class Softplus(Layer):
    """Computes log(1 + exp(beta x)) / beta, and x where beta x > threshold.

    Args:
        beta: float.
        threshold: float.
    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.Softplus()(x) == paddle.nn.functional.softplus(x)).all())
        True
    """

    def __init__(self, beta: float = 1, threshold: float = 20, name: str | None = None) -> None:
        super().__init__()
        self._beta = beta
        self._threshold = threshold
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        return F.softplus(x, self._beta, self._threshold)

    def extra_repr(self) -> str:
        return show(self._name, beta=self._beta, threshold=self._threshold)


class Softsign(_Named):
    """Computes x / (1 + |x|).

    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.Softsign()(x) == paddle.nn.functional.softsign(x)).all())
        True
    """

    def forward(self, x: Tensor) -> Tensor:
        return F.softsign(x)


class Swish(_Named):
    """Computes x / (1 + exp(-x)).

    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.Swish()(x) == paddle.nn.functional.swish(x)).all())
        True
    See: Ramachandran et al., Searching for Activation Functions, 2017.
    """

    def forward(self, x: Tensor) -> Tensor:
        return F.swish(x)


class Tanh(_Named):
    """Computes tanh(x).

    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.Tanh()(x) == paddle.nn.functional.tanh(x)).all())
        True
    """

    def forward(self, x: Tensor) -> Tensor:
        return F.tanh(x)


class Tanhshrink(_Named):
    """Computes x - tanh(x).

    Example:
        >>> x = paddle.to_tensor([-2.0, 0.5])
        >>> bool((paddle.nn.Tanhshrink()(x) == paddle.nn.functional.tanhshrink(x)).all())
        True
    """

    def forward(self, x: Tensor) -> Tensor:
        return F.tanhshrink(x)


class GLU(Layer):
    """Halves the input along an axis and multiplies the first half by the sigmoid of the second.

    Args:
        axis: int, an axis of even length; `dim` is accepted as a name.
    Example:
        >>> paddle.nn.GLU()(paddle.ones([2, 4])).shape
        paddle.Size([2, 2])
    See: Dauphin et al., Language Modeling with Gated Convolutional Networks, 2016.
    """

    @alias(dim="axis")
    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis = axis
        self._name = name

    # torch's name of the attribute, which shares its value.
    dim: property = linked("_axis", "The axis, under its other name.")

    @alias(input="x")
    def forward(self, x: Tensor) -> Tensor:
        return F.glu(x, self._axis)

    def extra_repr(self) -> str:
        return show(self._name, axis=self._axis)


class PReLU(Layer):
    """Computes x where x >= 0, weight x elsewhere, with a slope that is learnt.

    Args:
        num_parameters: int, 1 for one slope or the number of channels for one each.
        init: float, what the slopes start from.
        weight_attr: ParamAttr of the slopes.
        data_format: "NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC" or "NDHWC".
    Attributes:
        _num_parameters, _init, _weight_attr, _name, _data_format: as given.
        _weight: Parameter [num_parameters], the slope below zero.
    Example:
        >>> paddle.nn.PReLU()(paddle.to_tensor([-4.0, 2.0])).tolist()
        [-1.0, 2.0]
    See: He et al., Delving Deep into Rectifiers, 2015.
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        weight_attr: ParamAttrLike | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_parameters = num_parameters
        self._init = init
        self._weight_attr = weight_attr
        self._name = name
        self._data_format = data_format
        self._weight = self.create_parameter(
            [num_parameters],
            attr=weight_attr,
            dtype=get_default_dtype(),
            # Parametric ReLU starts with this slope everywhere (He and others, 2015).
            default_initializer=Constant(float(init)),
        )

    def forward(self, x: Tensor) -> Tensor:
        return F.prelu(x, self._weight, self._data_format)

    def extra_repr(self) -> str:
        return show(
            self._name,
            num_parameters=self._num_parameters,
            data_format=self._data_format,
            init=self._init,
            dtype=self._dtype,
        )


class RReLU(Layer):
    """Computes x where x >= 0, a x elsewhere; in training a is drawn evenly between lower and upper, else
    it is their mean.

    Args:
        lower: float between 0 and 1.
        upper: float between 0 and 1.
    Example:
        >>> layer = paddle.nn.RReLU(0.25, 0.75).eval(); layer(paddle.to_tensor([-2.0])).tolist()
        [-1.0]
    See: Xu et al., Empirical Evaluation of Rectified Activations in Convolutional Network, 2015.
    """

    def __init__(self, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, name: str | None = None) -> None:
        super().__init__()
        self._lower = lower
        self._upper = upper
        self._name = name

    def forward(self, x: Tensor) -> Tensor:
        # Slopes are random in training alone.
        return F.rrelu(x, self._lower, self._upper, self.training)

    def extra_repr(self) -> str:
        return show(
            self._name, lower=self._lower, upper=self._upper, training=self.training, dtype=self._dtype
        )


class Silu(Layer):
    """Computes x / (1 + exp(-x)).

    Args:
        inplace: bool, put the result into the input.
    Example:
        >>> x = paddle.to_tensor([1.0]); bool((paddle.nn.Silu()(x) == paddle.nn.functional.silu(x)).all())
        True
    """

    def __init__(self, inplace: bool = False, name: str | None = None) -> None:
        super().__init__()
        self._name = name
        self._inplace = inplace

    def forward(self, x: Tensor) -> Tensor:
        return F.silu(x, self._inplace)

    def extra_repr(self) -> str:
        return show(self._name, inplace=self._inplace)


class Softmax2D(_Named):
    """Computes softmax over the channels of [N, C, H, W] or [C, H, W].

    Raises:
        AssertionError: the input has neither 3 nor 4 axes.
    Example:
        >>> paddle.nn.Softmax2D()(paddle.ones([1, 2, 1, 1])).reshape([-1]).tolist()
        [0.5, 0.5]
    """

    def forward(self, x: Tensor) -> Tensor:
        if x.ndim not in (3, 4):
            raise AssertionError(f"Softmax2D: x: got {x.ndim} axes; it must have 3 or 4")
        # The channels are the third axis from the end, with or without a batch.
        return F.softmax(x, axis=-3)


SiLU = Silu

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Maxout",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SELU",
    "SiLU",
    "Sigmoid",
    "Silu",
    "Softmax",
    "Softmax2D",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Swish",
    "Tanh",
    "Tanhshrink",
    "ThresholdedReLU",
]
