"""Normalisation layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from paddle_jax._core.base.dtype import get_default_dtype
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax.base.param_attr import ParamAttr
from paddle_jax.nn import functional as F
from paddle_jax.nn.initializer import Constant, Normal
from paddle_jax.nn.layer.batch_norm import (  # noqa: F401
    BatchNorm,
    BatchNorm1D,
    BatchNorm2D,
    BatchNorm3D,
    SyncBatchNorm,
    _BatchNormBase,
)
from paddle_jax.nn.layer.helpers import alias, show
from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._annotations import DeviceLike, DTypeLike, ParamAttrLike, Size
    from paddle_jax._core.tensors.tensor import Parameter, Tensor


class LayerNorm(Layer):
    """Normalises each sample by the mean and variance over its last axes, then scales and shifts it.

    Args:
        normalized_shape: int or list of ints, the lengths of these axes.
        epsilon: float, added to the variance; `eps` is accepted as a name.
        elementwise_affine: bool, whether there are scale and shift.
        bias: bool, whether there is a shift.
        device: where the parameters are put.
        dtype: of the parameters. Default: paddle.get_default_dtype().
        weight_attr: ParamAttr of the scale `weight`, one flat axis; False for none.
        bias_attr: ParamAttr of the shift `bias`; False for none.
    Attributes:
        _epsilon, _device: as given.
        _normalized_shape: list of ints, lengths of the last axes, over which it normalizes.
        _weight_attr, _bias_attr: as given; False without elementwise_affine.
        _dtype: str, dtype of the parameters.
        weight, bias: Parameter, or None where its attr is False.
    Raises:
        ValueError: the input ends in other lengths (when called).
    Example:
        >>> y = paddle.nn.LayerNorm(4)(paddle.rand([2, 4])); bool(y.mean(-1).abs().max() < 1e-5)
        True
    See: Ba et al., Layer Normalization, 2016.
    """

    @alias(eps="epsilon")
    def __init__(
        self,
        normalized_shape: Size,
        epsilon: float = 1e-5,
        *,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if isinstance(normalized_shape, int):
            self._normalized_shape = [normalized_shape]
        else:
            self._normalized_shape = list(normalized_shape)
        self._epsilon = epsilon
        self._device = device
        # An attr of False makes no parameter.
        if elementwise_affine:
            self._weight_attr = weight_attr
        else:
            self._weight_attr = False
        if elementwise_affine and bias:
            self._bias_attr = bias_attr
        else:
            self._bias_attr = False
        self._dtype = get_default_dtype() if dtype is None else dtype
        shape = [math.prod(self._normalized_shape)]
        self.weight: Parameter = self.create_parameter(
            shape, self._weight_attr, self._dtype, default_initializer=Constant(1.0), device=device
        )
        self.bias: Parameter = self.create_parameter(
            shape, self._bias_attr, self._dtype, is_bias=True, device=device
        )

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(
            input,
            normalized_shape=self._normalized_shape,
            weight=self.weight,
            bias=self.bias,
            epsilon=self._epsilon,
        )

    def extra_repr(self) -> str:
        return show(normalized_shape=self._normalized_shape, epsilon=self._epsilon)


class GroupNorm(Layer):
    """Normalises groups of channels of each sample by their mean and variance, then scales and
    shifts each channel.

    Args:
        num_groups: int, a divisor of the number of channels.
        num_channels: int, the number of channels C.
        epsilon: float, added to the variance; `eps` is accepted as a name.
        affine: bool, whether there are scale and shift.
        device: where the parameters are put.
        dtype: of the parameters. Default: paddle.get_default_dtype().
        weight_attr: ParamAttr of the scale `weight`, shape [C]; False for none.
        bias_attr: ParamAttr of the shift `bias`, shape [C]; False for none.
        data_format: "NCL", "NCHW", "NCDHW", "NLC", "NHWC" or "NDHWC".
    Attributes:
        _epsilon, _num_channels, _num_groups, _device, _data_format: as given.
        _weight_attr, _bias_attr: as given; False without affine.
        _dtype: str, dtype of the parameters.
        weight, bias: Parameter [num_channels], or None where its attr is False.
    Raises:
        ValueError: data_format is not allowed; num_groups does not divide the channels (when called).
    Example:
        >>> paddle.nn.GroupNorm(2, 4)(paddle.rand([2, 4, 3, 3])).shape
        paddle.Size([2, 4, 3, 3])
    See: Wu and He, Group Normalization, 2018.
    """

    @alias(eps="epsilon")
    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        epsilon: float = 1e-5,
        *,
        affine: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        if data_format not in ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC"):
            raise ValueError(
                f"GroupNorm: data_format: got {data_format!r}; allowed are NCL, NCHW, NCDHW, NLC, NHWC, NDHWC"
            )
        self._epsilon = epsilon
        self._num_channels = num_channels
        self._num_groups = num_groups
        self._device = device
        self._data_format = data_format
        # False: no parameter is made.
        self._weight_attr = weight_attr if affine else False
        self._bias_attr = bias_attr if affine else False
        self._dtype = get_default_dtype() if dtype is None else dtype
        self.weight: Parameter = self.create_parameter(
            [num_channels], self._weight_attr, self._dtype, default_initializer=Constant(1.0), device=device
        )
        self.bias: Parameter = self.create_parameter(
            [num_channels], self._bias_attr, self._dtype, is_bias=True, device=device
        )

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(
            input,
            self._num_groups,
            epsilon=self._epsilon,
            weight=self.weight,
            bias=self.bias,
            data_format=self._data_format,
        )

    def extra_repr(self) -> str:
        return show(num_groups=self._num_groups, num_channels=self._num_channels, epsilon=self._epsilon)


class _InstanceNormBase(Layer):
    """What the instance normalisation layers share.

    Attributes:
        _momentum, _epsilon, _weight_attr, _bias_attr, _num_features, _data_format: as given.
        scale, bias: Parameter [num_features], or None where its attr is False.
    """

    _ndims = (4,)
    _format = "NCHW"

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        if (weight_attr is False) != (bias_attr is False):
            raise AssertionError(
                f"{type(self).__name__}: got weight_attr={weight_attr}, "
                f"bias_attr={bias_attr}; set both to False or none"
            )
        self._momentum = momentum
        self._epsilon = epsilon
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self._num_features = num_features
        self._data_format = data_format
        self.scale: Parameter = self.create_parameter(
            [num_features], attr=weight_attr, default_initializer=Constant(1.0)
        )
        self.bias: Parameter = self.create_parameter([num_features], attr=bias_attr, is_bias=True)

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in self._ndims:
            raise ValueError(
                f"{type(self).__name__}: input: got {input.ndim} axes; "
                f"it must have {' or '.join(map(str, self._ndims))}"
            )
        return F.instance_norm(
            input,
            weight=self.scale,
            bias=self.bias,
            momentum=self._momentum,
            eps=self._epsilon,
            data_format=self._data_format,
        )

    def extra_repr(self) -> str:
        return show(num_features=self._num_features, epsilon=self._epsilon)


class InstanceNorm1D(_InstanceNormBase):
    """Normalises each channel of each sample of [N, C, L] by its mean and variance, then
    scales and shifts it.

    Args:
        num_features: int, C.
        epsilon: float, added to the variance.
        momentum: accepted for compatibility; there are no running statistics.
        weight_attr: ParamAttr of the scale `scale`, shape [C]; False, together with bias_attr, for none.
        bias_attr: ParamAttr of the shift `bias`, shape [C].
        data_format: "NCL".
    Raises:
        AssertionError: only one of weight_attr and bias_attr is False.
        ValueError: the input has another number of axes (when called).
    Example:
        >>> paddle.nn.InstanceNorm1D(3)(paddle.rand([2, 3, 5])).shape
        paddle.Size([2, 3, 5])
    See: Ulyanov et al., Instance Normalization, 2016.
    """

    _ndims = (2, 3)

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format, name)


class InstanceNorm2D(_InstanceNormBase):
    """Normalises each channel of each image by its mean and variance, then scales and shifts it;
    see InstanceNorm1D.

    Args:
        num_features: int, the number of channels C.
        epsilon: float, added to the variance.
        momentum: accepted for compatibility; there are no running statistics.
        weight_attr: ParamAttr of the scale `scale`, shape [C]; False, together with bias_attr, for none.
        bias_attr: ParamAttr of the shift `bias`, shape [C].
        data_format: "NCHW".
    Example:
        >>> paddle.nn.InstanceNorm2D(3)(paddle.rand([2, 3, 5, 5])).shape
        paddle.Size([2, 3, 5, 5])
    """


class InstanceNorm3D(_InstanceNormBase):
    """Normalises each channel of each volume by its mean and variance, then scales and shifts it;
    see InstanceNorm1D.

    Args:
        num_features: int, the number of channels C.
        epsilon: float, added to the variance.
        momentum: accepted for compatibility; there are no running statistics.
        weight_attr: ParamAttr of the scale `scale`, shape [C]; False, together with bias_attr, for none.
        bias_attr: ParamAttr of the shift `bias`, shape [C].
        data_format: "NCDHW".
    Example:
        >>> paddle.nn.InstanceNorm3D(3)(paddle.rand([2, 3, 4, 4, 4])).shape
        paddle.Size([2, 3, 4, 4, 4])
    """

    _ndims = (5,)

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format, name)


class LocalResponseNorm(Layer):
    """Divides each element by (k + alpha * mean of squares over neighbouring channels) ** beta.

    Args:
        size: int, how many channels are neighbours.
        alpha: float.
        beta: float.
        k: float.
        data_format: "NCL", "NCHW", "NCDHW", "NLC", "NHWC" or "NDHWC".
    Attributes:
        size, alpha, beta, k, data_format, name: as given.
    Raises:
        ValueError: the input has fewer than 3 axes (when called).
    Example:
        >>> paddle.nn.LocalResponseNorm(5)(paddle.rand([2, 6, 4, 4])).shape
        paddle.Size([2, 6, 4, 4])
    See: Krizhevsky et al., ImageNet Classification with Deep Convolutional Neural Networks,
        2012, section 3.3.
    """

    def __init__(
        self,
        size: int,
        alpha: float = 0.0001,
        beta: float = 0.75,
        k: float = 1.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k
        self.data_format = data_format
        self.name = name

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k, self.data_format)

    def extra_repr(self) -> str:
        if self.data_format == "NCHW":
            form = {}
        else:
            form = {"data_format": self.data_format}
        return show(self.name, size=self.size, alpha=self.alpha, beta=self.beta, k=self.k, **form)


class SpectralNorm(Layer):
    """Divides a weight by its largest singular value, found by power iteration.

    Args:
        weight_shape: list of ints, the shape of the weight.
        dim: int, the axis that becomes the rows of a matrix; the others become its columns.
        power_iters: int, how many iterations.
        eps: float, keeps norms above zero.
        dtype: of the start vectors `weight_u` and `weight_v`, which are random and stay as they are.
    Attributes:
        _power_iters, _eps, _dim, _dtype: as given.
        _weight_shape: list of ints, the shape of the weights to normalize.
        weight_u: Parameter [rows], the left singular vector found so far.
        weight_v: Parameter [columns], the right singular vector found so far.
    Raises:
        AssertionError: a length is 0 or dim is out of range.
    Example:
        >>> paddle.nn.SpectralNorm([3, 4], power_iters=20)(paddle.rand([3, 4])).shape
        paddle.Size([3, 4])
    See: Miyato et al., Spectral Normalization for Generative Adversarial Networks, 2018, algorithm 1.
    """

    def __init__(
        self,
        weight_shape: Sequence[int],
        dim: int = 0,
        power_iters: int = 1,
        eps: float = 1e-12,
        dtype: DTypeLike = "float32",
    ) -> None:
        super().__init__()
        if 0 in list(weight_shape):
            raise AssertionError(f"SpectralNorm: weight_shape: got {list(weight_shape)}; no length may be 0")
        if not 0 <= dim < len(weight_shape):
            raise AssertionError(f"SpectralNorm: dim: got {dim}; it must be in 0..{len(weight_shape) - 1}")
        self._power_iters = power_iters
        self._eps = eps
        self._dim = dim
        self._weight_shape = list(weight_shape)
        self._dtype = dtype
        rows = self._weight_shape[dim]
        # The vectors that each power iteration begins with.
        self.weight_u: Parameter = self._start([rows])
        self.weight_v: Parameter = self._start([math.prod(self._weight_shape) // rows])

    def _start(self, shape: Sequence[int]) -> Parameter:
        vector = self.create_parameter(
            shape, attr=ParamAttr(), dtype=self._dtype, default_initializer=Normal(0.0, 1.0)
        )
        # Parameters for `state_dict`; neither the optimizer nor a call changes them.
        vector.stop_gradient = True
        return vector

    def forward(self, x: Tensor) -> Tensor:
        if list(x.shape) != self._weight_shape:
            raise ValueError(f"SpectralNorm: x: got shape {list(x.shape)}; it must be {self._weight_shape}")
        return normalised_weight(x, self.weight_u, self.weight_v, self._dim, self._power_iters, self._eps)


def normalised_weight(weight: Tensor, u: Tensor, v: Tensor, dim: int, power_iters: int, eps: float) -> Tensor:
    """A weight divided by an estimate of its largest singular value.

    Args:
        weight: Tensor, seen as a matrix whose rows are the slices of the axis `dim`.
        u: Tensor [rows], v: Tensor [columns], the vectors that the power iteration begins with.
        dim: int.
        power_iters: int, how often the vectors are improved.
        eps: float, added to their lengths.
    """
    # The axis `dim` comes first, so that each of its slices is a row.
    order = [dim, *(i for i in range(weight.ndim) if i != dim)]
    matrix = weight.transpose(order).reshape([weight.shape[dim], -1])
    # Without gradients: the iteration estimates, the last product differentiates.
    u = u.detach()
    v = v.detach()
    with no_grad():
        for _ in range(power_iters):
            v = _unit(matrix.transpose([1, 0]) @ u, eps)
            u = _unit(matrix @ v, eps)
    return weight / (u * (matrix @ v)).sum()


def _unit(vector: Tensor, eps: float) -> Tensor:
    return vector / ((vector * vector).sum().sqrt() + eps)


__all__ = [
    "BatchNorm",
    "BatchNorm1D",
    "BatchNorm2D",
    "BatchNorm3D",
    "GroupNorm",
    "InstanceNorm1D",
    "InstanceNorm2D",
    "InstanceNorm3D",
    "LayerNorm",
    "LocalResponseNorm",
    "SpectralNorm",
    "SyncBatchNorm",
]
