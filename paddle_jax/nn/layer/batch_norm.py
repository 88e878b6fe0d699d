"""Batch normalisation layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax._core.base.dtype import get_default_dtype
from paddle_jax._core.base.state import local
from paddle_jax.base.param_attr import ParamAttr
from paddle_jax.nn import functional as F
from paddle_jax.nn.initializer import Constant
from paddle_jax.nn.layer import synced
from paddle_jax.nn.layer.helpers import show
from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike, ParamAttrLike
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.parameter import Parameter


_FIRST = {2: "NC", 3: "NCL", 4: "NCHW", 5: "NCDHW"}
_LAST = {2: "NC", 3: "NLC", 4: "NHWC", 5: "NDHWC"}


def running_statistics(
    layer: Layer,
    features: int,
    dtype: DTypeLike,
    mean_name: str | None = None,
    variance_name: str | None = None,
) -> None:
    """Gives `layer` the parameters `_mean` (zeros) and `_variance` (ones), which are not trained."""
    for attribute, name, value in (("_mean", mean_name, 0.0), ("_variance", variance_name, 1.0)):
        # They are saved like parameters; the layer changes them, not the optimizer.
        attr = ParamAttr(name=name, initializer=Constant(value), trainable=False)
        setattr(layer, attribute, layer.create_parameter([features], attr=attr, dtype=dtype))


def layout(data_format: str, ndim: int) -> str:
    """The name of the layout for a number of axes, channels last where `data_format` ends in C."""
    # "NC" has its channels on axis 1, though it ends in C.
    last = len(data_format) > 2 and data_format.endswith("C")
    names = _LAST if last else _FIRST
    if ndim not in names:
        raise ValueError(
            f"batch_norm: x: got a tensor of {ndim} axes; it must have {min(names)} to {max(names)}"
        )
    return names[ndim]


class _BatchNormBase(Layer):
    """What the batch normalisation layers share.

    Attributes:
        _num_features, _weight_attr, _bias_attr, _use_global_stats, _data_format, _momentum, _epsilon,
            _name: as given.
        weight, bias: Parameter [num_features], or None where its attr is False.
        _mean, _variance: Tensor [num_features], the running statistics (buffers).
        _dtype: str, dtype of the parameters.
    """

    _ndims = (2, 3, 4, 5)
    _formats = ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC")

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        data_format: str = "NCHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_features = num_features
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self._use_global_stats = use_global_stats
        # Statistics in float16 would overflow; Paddle keeps these parameters in float32.
        if get_default_dtype() == "float16":
            self._dtype = "float32"
        else:
            self._dtype = get_default_dtype()
        self.weight: Parameter = self.create_parameter(
            [num_features], attr=weight_attr, dtype=self._dtype, default_initializer=Constant(1.0)
        )
        self.bias: Parameter = self.create_parameter(
            [num_features], attr=bias_attr, dtype=self._dtype, is_bias=True
        )
        running_statistics(
            self,
            num_features,
            self._dtype,
            *(None if name is None else name + end for end in ("_mean", "_variance")),
        )
        self._data_format = data_format
        self._momentum = momentum
        self._epsilon = epsilon
        self._name = name

    def _check_input(self, input: Tensor) -> None:
        name = type(self).__name__
        if self._data_format not in self._formats:
            raise ValueError(
                f"{name}: data_format: got {self._data_format!r}; allowed are {', '.join(self._formats)}"
            )
        if input.ndim not in self._ndims:
            raise ValueError(
                f"{name}: input: got {input.ndim} axes; it must have {' or '.join(map(str, self._ndims))}"
            )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input(input)
        if len(self._data_format) > 2 and self._data_format.endswith("C"):
            shown = "NHWC"
        else:
            shown = "NCHW"
        # as Paddle's after a call; a compiled function would have to do it at each
        if self._data_format != shown and local.ctx.frame.has_value(input):
            self._data_format = shown
        return F.batch_norm(
            input,
            self._mean,
            self._variance,
            weight=self.weight,
            bias=self.bias,
            training=self.training,
            momentum=self._momentum,
            epsilon=self._epsilon,
            data_format=layout(self._data_format, input.ndim),
            use_global_stats=self._use_global_stats,
        )

    def extra_repr(self) -> str:
        if self._data_format == "NCHW":
            form = {}
        else:
            form = {"data_format": self._data_format}
        return show(
            self._name,
            num_features=self._num_features,
            momentum=self._momentum,
            epsilon=self._epsilon,
            **form,
        )


class BatchNorm1D(_BatchNormBase):
    """Normalises each channel of [N, C] or [N, C, L] by its mean and variance over the batch, then
    scales and shifts it.

    In evaluation running statistics are used: `_mean` and `_variance`, updated in training as
    momentum * old + (1 - momentum) * new.

    Args:
        num_features: int, C.
        momentum: float.
        epsilon: float, added to the variance.
        weight_attr: ParamAttr of the scale `weight`, shape [C]; False for none.
        bias_attr: ParamAttr of the shift `bias`, shape [C]; False for none.
        data_format: "NC", "NCL" or "NLC".
        use_global_stats: bool, use the running statistics always (True) or never (False).
            Default: in evaluation.
    Raises:
        ValueError: the input or data_format has another form.
    Example:
        >>> y = paddle.nn.BatchNorm1D(3)(paddle.rand([8, 3])); bool(y.mean().abs() < 1e-5)
        True
    See: Ioffe and Szegedy, Batch Normalization, 2015.
    """

    _ndims = (2, 3)
    _formats = ("NC", "NCL", "NCHW", "NLC", "NHWC")

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        data_format: str = "NCL",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name
        )


class BatchNorm2D(_BatchNormBase):
    """Normalises each channel of images by its mean and variance over the batch, then scales and shifts it;
    see BatchNorm1D.

    Args:
        num_features: int, the number of channels C.
        momentum: float, of the running statistics.
        epsilon: float, added to the variance.
        weight_attr: ParamAttr of the scale `weight`, shape [C]; False for none.
        bias_attr: ParamAttr of the shift `bias`, shape [C]; False for none.
        data_format: "NCHW" or "NHWC".
        use_global_stats: bool, use the running statistics always (True) or never (False).
            Default: in evaluation.
    Raises:
        ValueError: the input has not 4 axes or data_format is not allowed.
    Example:
        >>> paddle.nn.BatchNorm2D(3)(paddle.rand([2, 3, 4, 4])).shape
        paddle.Size([2, 3, 4, 4])
    """

    _ndims = (4,)
    _formats = ("NCHW", "NHWC")


class BatchNorm3D(_BatchNormBase):
    """Normalises each channel of volumes by its mean and variance over the batch, then scales and shifts it;
    see BatchNorm1D.

    Args:
        num_features: int, the number of channels C.
        momentum: float, of the running statistics.
        epsilon: float, added to the variance.
        weight_attr: ParamAttr of the scale `weight`, shape [C]; False for none.
        bias_attr: ParamAttr of the shift `bias`, shape [C]; False for none.
        data_format: "NCDHW" or "NDHWC".
        use_global_stats: bool, use the running statistics always (True) or never (False).
            Default: in evaluation.
    Raises:
        ValueError: the input has not 5 axes or data_format is not allowed.
    Example:
        >>> paddle.nn.BatchNorm3D(3)(paddle.rand([2, 3, 2, 2, 2])).shape
        paddle.Size([2, 3, 2, 2, 2])
    """

    _ndims = (5,)
    _formats = ("NCDHW", "NDHWC", "NCHW", "NHWC")

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        data_format: str = "NCDHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name
        )


class SyncBatchNorm(_BatchNormBase):
    """Batch normalisation by the statistics of the whole batch, also when it is spread over
    processes or devices.

    After `paddle.distributed.init_parallel_env()` in a program of several processes, statistics of training
    are taken over the batches of all processes, and gradients flow to all of them; each process must call the
    layer. In one process this is what BatchNorm does, also for tensors that lie on several devices. In static
    programs of several processes `sync_batch_norm` of `fleet.DistributedStrategy` does it for all layers.

    Args:
        num_features: int, the number of channels C.
        momentum: float, of the running statistics.
        epsilon: float, added to the variance.
        weight_attr: ParamAttr of the scale `weight`, shape [C]; False for none.
        bias_attr: ParamAttr of the shift `bias`, shape [C]; False for none.
        data_format: "NCHW" and so on, or with C last.
    Example:
        >>> paddle.nn.SyncBatchNorm(3)(paddle.rand([2, 3, 4, 4])).shape
        paddle.Size([2, 3, 4, 4])
    """

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, None, name)

    def forward(self, x: Tensor) -> Tensor:
        # Without a choice: the statistics of the batch in training, else the running ones.
        if self._use_global_stats is None:
            frozen = not self.training
        else:
            frozen = self._use_global_stats
        # One process has the whole batch, and XLA reduces over devices itself.
        if frozen or not synced.has_process_group():
            return super().forward(x)
        if local.ctx.frame.recording:
            raise NotImplementedError(
                "SyncBatchNorm: it is in a static program of several processes; use BatchNorm2D there, and "
                "set sync_batch_norm of fleet.DistributedStrategy"
            )
        self._check_input(x)
        form = layout(self._data_format, x.ndim)
        if form.endswith("C") and len(form) > 2:
            axis = x.ndim - 1
        else:
            axis = 1
        return synced.normalised(
            x,
            axis,
            (self._mean, self._variance),
            self.weight,
            self.bias,
            float(self._momentum),
            float(self._epsilon),
            form,
        )

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """Replaces all BatchNorm1D / 2D / 3D layers in a layer by SyncBatchNorm layers that share
        their parameters.

        Args:
            layer: Layer.
        Returns:
            The layer, or its replacement when it is a batch normalisation itself.
        Example:
            >>> paddle.nn.SyncBatchNorm.convert_sync_batchnorm(
            ...     paddle.nn.Sequential(paddle.nn.BatchNorm2D(3)))[0]
            SyncBatchNorm(num_features=3, momentum=0.9, epsilon=1e-05)
        """
        if isinstance(layer, _BatchNormBase) and not isinstance(layer, SyncBatchNorm):
            return cls._from(layer)
        for name, child in list(layer.named_children()):
            # A layer that is one already stays as it is.
            converted = cls.convert_sync_batchnorm(child)
            if converted is not child:
                layer.add_sublayer(name, converted)
        return layer

    @classmethod
    def _from(cls, norm: _BatchNormBase) -> SyncBatchNorm:
        # False: a layer without weight gets none here either.
        attrs = [False if attr is False else None for attr in (norm._weight_attr, norm._bias_attr)]
        sync_norm = cls(norm._num_features, norm._momentum, norm._epsilon, *attrs, norm._data_format)
        # The new layer shares the parameters, so an optimizer that has them stays valid.
        for name in ("weight", "bias", "_mean", "_variance"):
            sync_norm.__dict__.pop(name, None)
            setattr(sync_norm, name, getattr(norm, name))
        sync_norm._weight_attr = norm._weight_attr
        sync_norm._bias_attr = norm._bias_attr
        sync_norm._name = norm._name
        sync_norm._use_global_stats = norm._use_global_stats
        sync_norm.training = norm.training
        return sync_norm


class BatchNorm(Layer):
    """Batch normalisation for inputs of 2 to 5 axes, with an optional activation after it. BatchNorm1D / 2D /
    3D are the newer form.

    Args:
        num_channels: int, the number of channels C.
        act: str, the name of an activation such as "relu".
        is_test: bool, start in evaluation mode.
        momentum: float, of the running statistics.
        epsilon: float, added to the variance.
        param_attr: ParamAttr of the scale `weight`, shape [C]; False for none.
        bias_attr: ParamAttr of the shift `bias`, shape [C]; False for none.
        dtype: of the parameters; float16 becomes float32.
        data_layout: "NCHW" and so on, or with C last.
        in_place: accepted for compatibility.
        moving_mean_name: str, the name of the running mean.
        moving_variance_name: str, the name of the running variance.
        do_model_average_for_mean_and_var: accepted for compatibility.
        use_global_stats: bool, use the running statistics in training as well.
        trainable_statistics: bool, use the statistics of the batch in evaluation as well.
    Attributes:
        _param_attr, _bias_attr, _act, _in_place, _data_layout, _momentum, _epsilon, _is_test,
            _use_global_stats, _trainable_statistics: as given.
        weight, bias: Parameter [num_channels].
        _mean, _variance: Tensor [num_channels], the running statistics (buffers).
        _dtype: str, dtype of the parameters; float32 where float16 is asked for.
        training: bool, False where is_test is set.
    Raises:
        AttributeError: there is no such activation (when called).
    Example:
        >>> bool((paddle.nn.BatchNorm(3, act="relu")(paddle.rand([4, 3])) >= 0).all())
        True
    """

    def __init__(
        self,
        num_channels: int,
        act: str | None = None,
        is_test: bool = False,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        param_attr: ParamAttrLike | None = None,
        bias_attr: ParamAttrLike | None = None,
        dtype: DTypeLike = "float32",
        data_layout: str = "NCHW",
        in_place: bool = False,
        moving_mean_name: str | None = None,
        moving_variance_name: str | None = None,
        do_model_average_for_mean_and_var: bool = True,
        use_global_stats: bool = False,
        trainable_statistics: bool = False,
    ) -> None:
        super().__init__()
        self._param_attr = param_attr
        self._bias_attr = bias_attr
        self._act = act
        self._in_place = in_place
        self._data_layout = data_layout
        # Statistics in float16 would overflow.
        self._dtype = "float32" if dtype == "float16" else dtype
        self.weight: Parameter = self.create_parameter(
            [num_channels], attr=param_attr, dtype=self._dtype, default_initializer=Constant(1.0)
        )
        self.bias: Parameter = self.create_parameter(
            [num_channels], attr=bias_attr, dtype=self._dtype, is_bias=True
        )
        running_statistics(self, num_channels, self._dtype, moving_mean_name, moving_variance_name)
        self._momentum = momentum
        self._epsilon = epsilon
        self._is_test = is_test
        self.training: bool = not is_test
        self._use_global_stats = use_global_stats
        self._trainable_statistics = trainable_statistics

    def forward(self, input: Tensor) -> Tensor:
        out = F.batch_norm(
            input,
            self._mean,
            self._variance,
            weight=self.weight,
            bias=self.bias,
            # Trainable statistics are those of the batch at all times.
            training=self.training or self._trainable_statistics,
            momentum=self._momentum,
            epsilon=self._epsilon,
            data_format=layout(self._data_layout, input.ndim),
            use_global_stats=True if self._use_global_stats else None,
        )
        if self._act:
            return getattr(F, self._act)(out)
        return out


__all__ = ["BatchNorm", "BatchNorm1D", "BatchNorm2D", "BatchNorm3D", "SyncBatchNorm"]
