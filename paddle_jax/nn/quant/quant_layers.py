"""Layers with simulated quantization whose settings are given one by one, and the layers that
find their scales."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import unique_name
from paddle_jax._core.tensors.held_values import assign_from
from paddle_jax.base.param_attr import ParamAttr
from paddle_jax.nn import functional as F
from paddle_jax.nn.functional.quantization import abs_max, fake_quantize_dequantize, moving_average_abs_max
from paddle_jax.nn.initializer import Constant
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.tensor.linalg import matmul

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.tensors.tensor import Tensor


__all__ = [
    "FakeQuantAbsMax",
    "FakeQuantMovingAverageAbsMax",
    "FakeQuantChannelWiseAbsMax",
    "QuantizedConv2D",
    "QuantizedConv2DTranspose",
    "QuantizedLinear",
    "MovingAverageAbsMaxScale",
    "MAOutputScaleLayer",
    "FakeQuantMAOutputScaleLayer",
    "QuantStub",
    "QuantizedMatmul",
]


def _add_frozen_parameter(
    layer: Layer, attribute: str, name: str, shape: Sequence[int], value: float, dtype: str
) -> None:
    """Gives a layer a parameter that is not trained."""
    attr = ParamAttr(name=name, initializer=Constant(value), trainable=False)
    setattr(layer, f"_{attribute}", layer.create_parameter(shape, attr=attr, dtype=dtype))


def _need_floats(layer: Layer, input: Tensor) -> None:
    if not input.is_floating_point():
        raise RuntimeError(f"{type(layer).__name__}: got dtype {input.dtype}; it must be a floating one")


class FakeQuantAbsMax(Layer):
    """Rounds its input to what a number of bits can hold; the scale is the largest magnitude of each input.
    Gradients go straight through.

    Args:
        name: str, begins the name of the scale. Default: "quant_dequant".
        quant_bits: int, number of bits.
        dtype: dtype of the scale.
        quant_on_weight: keep the last scale, as parameter `_scale`.
        reduce_type: "max" for the largest magnitude of all processes in Paddle; there is one process here.
    Example:
        >>> [round(v, 4) for v in paddle.nn.quant.quant_layers.FakeQuantAbsMax(quant_bits=4)(
        ...     paddle.to_tensor([-7.0, 2.4])).tolist()]
        [-7.0, 2.0]
    """

    def __init__(
        self,
        name: str | None = None,
        quant_bits: int = 8,
        dtype: DTypeLike = "float32",
        quant_on_weight: bool = False,
        reduce_type: str | None = None,
    ) -> None:
        super().__init__()
        self._quant_bits = quant_bits
        self._name = name
        self._reduce_type = reduce_type
        self._scale, self._scale_name = None, unique_name.generate(f"{name or 'quant_dequant'}.scale")
        if quant_on_weight:
            _add_frozen_parameter(self, "scale", self._scale_name, [1], 0.001, dtype)

    def _quantize_by_abs_max(self, input: Tensor, axis: int = -1) -> Tensor:
        _need_floats(self, input)
        # The scale is no part of the gradient, which goes straight through the rounding.
        scale = abs_max(input.detach(), axis)
        # Kept for the model that is saved; the next input has its own.
        if self._scale is not None:
            assign_from(self._scale, scale.astype(self._scale.dtype))
        return fake_quantize_dequantize(input, scale, self._quant_bits, axis)

    def forward(self, input: Tensor) -> Tensor:
        return self._quantize_by_abs_max(input)


class FakeQuantChannelWiseAbsMax(FakeQuantAbsMax):
    """As `FakeQuantAbsMax` for a weight, with a scale for each channel.

    Args:
        name: str, begins the name of the scales. Default: "quant_dequant".
        channel_num: int, number of channels.
        quant_bits: int, number of bits.
        quant_axis: int, the axis of the channels, 0 or 1.
        dtype: dtype of the scales.
        quant_on_weight: must be True.
        reduce_type: as for `FakeQuantAbsMax`.
    Raises:
        AssertionError: quant_on_weight is False.
        TypeError: channel_num is missing.
    Example:
        >>> layer = paddle.nn.quant.quant_layers.FakeQuantChannelWiseAbsMax(channel_num=2, quant_bits=4,
        ...                                                                 quant_on_weight=True)
        >>> layer(paddle.to_tensor([[7.0, 2.4], [0.7, 0.24]])).numpy().round(2).tolist()
        [[7.0, 2.0], [0.7, 0.2]]
    """

    def __init__(
        self,
        name: str | None = None,
        channel_num: int | None = None,
        quant_bits: int = 8,
        quant_axis: int = 0,
        dtype: DTypeLike = "float32",
        quant_on_weight: bool = False,
        reduce_type: Any = None,
    ) -> None:
        if not quant_on_weight:
            raise AssertionError(
                "FakeQuantChannelWiseAbsMax: quant_on_weight: got False; "
                "channels have scales of their own in weights only"
            )
        if channel_num is None:
            raise TypeError("FakeQuantChannelWiseAbsMax: channel_num: got None; give the number of channels")
        super().__init__(name, quant_bits, dtype, False, reduce_type)
        self._quant_axis = quant_axis
        self._channel_num = channel_num
        _add_frozen_parameter(self, "scale", self._scale_name, [channel_num], 0.0, dtype)

    def forward(self, input: Tensor) -> Tensor:
        if self._quant_axis not in (0, 1):
            raise ValueError(
                f"FakeQuantChannelWiseAbsMax: quant_axis: got {self._quant_axis}; it must be 0 or 1"
            )
        return self._quantize_by_abs_max(input, self._quant_axis)


class MovingAverageAbsMaxScale(Layer):
    """Gives its input, and in training follows the largest magnitude: scale = accum / state, see
    `FakeQuantMovingAverageAbsMax`.

    Args:
        name: str, begins the names of scale and averages. Default: "outscale".
        moving_rate: float, how much of the average is kept.
        dtype: dtype of scale and averages.
        reduce_type: as for `FakeQuantAbsMax`.
    Example:
        >>> layer = paddle.nn.quant.quant_layers.MovingAverageAbsMaxScale()
        >>> layer(paddle.to_tensor([1.0, -3.0])).tolist(), layer._scale.tolist()
        ([1.0, -3.0], [3.0])
    """

    _names = "outscale"
    _initial = (0.0, 0.0, 0.0)

    def __init__(
        self,
        name: str | None = None,
        moving_rate: float = 0.9,
        dtype: DTypeLike = "float32",
        reduce_type: Any = None,
    ) -> None:
        super().__init__()
        self._moving_rate = moving_rate
        self._reduce_type = reduce_type
        for attribute, value in zip(("scale", "state", "accum"), self._initial, strict=True):
            _add_frozen_parameter(
                self, attribute, unique_name.generate(f"{name or self._names}.{attribute}"), [1], value, dtype
            )

    def _follow(self, input: Tensor) -> None:
        _need_floats(self, input)
        if self.training:
            kept = (self._scale, self._state, self._accum)
            for parameter, value in zip(
                kept,
                moving_average_abs_max(input.detach(), *[p.detach() for p in kept], self._moving_rate),
                strict=True,
            ):
                assign_from(parameter, value)

    def forward(self, input: Tensor) -> Tensor:
        self._follow(input)
        # Another Tensor: the scale belongs to this output, not to the input.
        return input * 1


QuantStub = MovingAverageAbsMaxScale


class FakeQuantMovingAverageAbsMax(MovingAverageAbsMaxScale):
    """Rounds its input to what a number of bits can hold; in training the scale is a moving average of the
    largest magnitudes.

    state = rate state + 1, accum = rate accum + max |x|, scale = accum / state. Gradients go
    straight through.

    Args:
        name: str, begins the names of scale and averages. Default: "quant_dequant".
        moving_rate: float, how much of the average is kept.
        quant_bits: int, number of bits.
        dtype: dtype of scale and averages.
        reduce_type: as for `FakeQuantAbsMax`.
    Example:
        >>> layer = paddle.nn.quant.quant_layers.FakeQuantMovingAverageAbsMax(moving_rate=0.5)
        >>> layer(paddle.to_tensor([4.0, 1.0])).numpy().round(3).tolist(), layer._scale.tolist()
        ([3.0, 0.992], [3.0])
    """

    _names = "quant_dequant"
    _initial = (0.001, 1.0, 1.0)

    def __init__(
        self,
        name: str | None = None,
        moving_rate: float = 0.9,
        quant_bits: int = 8,
        dtype: DTypeLike = "float32",
        reduce_type: Any = None,
    ) -> None:
        super().__init__(name, moving_rate, dtype, reduce_type)
        self._quant_bits = quant_bits

    def forward(self, input: Tensor) -> Tensor:
        self._follow(input)
        return fake_quantize_dequantize(input, self._scale.detach(), self._quant_bits)


def _get_fake_quant_type(
    quant_type: str, **kwargs: Any
) -> FakeQuantAbsMax | FakeQuantMovingAverageAbsMax | FakeQuantChannelWiseAbsMax:
    """The layer of a kind of quantization, made with those of the arguments that it has."""
    own = {
        "name": kwargs.get("name"),
        "quant_bits": kwargs.get("quant_bits", 8),
        "dtype": kwargs.get("dtype", "float32"),
        "reduce_type": kwargs.get("reduce_type"),
    }
    if quant_type == "abs_max":
        return FakeQuantAbsMax(**own, quant_on_weight=kwargs.get("quant_on_weight", False))
    if quant_type == "moving_average_abs_max":
        return FakeQuantMovingAverageAbsMax(**own, moving_rate=kwargs.get("moving_rate", 0.9))
    if quant_type == "channel_wise_abs_max":
        if kwargs.get("channel_num") is None:
            raise AssertionError("channel_wise_abs_max: channel_num is missing; it is for weights only")
        return FakeQuantChannelWiseAbsMax(
            **own,
            channel_num=kwargs["channel_num"],
            quant_axis=kwargs.get("quant_axis", 0),
            quant_on_weight=kwargs.get("quant_on_weight", False),
        )
    raise KeyError(quant_type)


class _Quantized(Layer):
    """What the layers with a weight share. Arguments as for `QuantizedLinear`.

    Attributes:
        weight, bias: Parameter of the layer that this one replaces.
        _fake_quant_weight, _fake_quant_input: Layer that rounds the weights, or the input.
        _act_preprocess, _weight_preprocess: Layer that runs before the rounding, or None.
    """

    _axis = 0  # of the channels of the weight

    def __init__(
        self,
        layer: Layer,
        weight_bits: Any = 8,
        activation_bits: Any = 8,
        moving_rate: Any = 0.9,
        weight_quantize_type: str = "abs_max",
        activation_quantize_type: str = "abs_max",
        weight_pre_layer: Any = None,
        act_pre_layer: Any = None,
        weight_quant_layer: Any = None,
        act_quant_layer: Any = None,
    ) -> None:
        super().__init__()
        self._take(layer)
        self.weight: Any = layer.weight
        self.bias: Any = layer.bias
        if weight_quant_layer is None:
            self._fake_quant_weight = _get_fake_quant_type(
                weight_quantize_type,
                name=self.weight.name,
                moving_rate=moving_rate,
                quant_bits=weight_bits,
                dtype=self._dtype,
                quant_on_weight=True,
                channel_num=self.weight.shape[self._axis],
                quant_axis=self._axis,
            )
        else:
            self._fake_quant_weight = weight_quant_layer()
        if act_quant_layer is None:
            self._fake_quant_input = _get_fake_quant_type(
                activation_quantize_type,
                name=layer.full_name(),
                moving_rate=moving_rate,
                quant_bits=activation_bits,
                dtype=self._dtype,
            )
        else:
            self._fake_quant_input = act_quant_layer()
        if act_pre_layer is None:
            self._act_preprocess = None
        else:
            self._act_preprocess = act_pre_layer()
        if weight_pre_layer is None:
            self._weight_preprocess = None
        else:
            self._weight_preprocess = weight_pre_layer()

    def _take(self, layer: Any) -> Any:
        """Takes over what the plain layer knows beside its parameters."""

    def _quantized(self, input: Tensor) -> tuple[Any, Any]:
        """(input, weight) after simulated quantization."""
        if self._act_preprocess is None:
            x = input
        else:
            x = self._act_preprocess(input)
        if self._weight_preprocess is None:
            weight = self.weight
        else:
            weight = self._weight_preprocess(self.weight)
        return self._fake_quant_input(x), self._fake_quant_weight(weight)


class QuantizedLinear(_Quantized):
    """A `Linear` whose weight and input are rounded to what a number of bits can hold.

    Args:
        layer: Linear; its weight and bias are used.
        weight_bits, activation_bits: ints, numbers of bits.
        moving_rate: float, for moving averages.
        weight_quantize_type: "abs_max", "channel_wise_abs_max" or "moving_average_abs_max".
        activation_quantize_type: "abs_max" or "moving_average_abs_max".
        weight_pre_layer, act_pre_layer: classes of layers applied before the rounding, or None.
        weight_quant_layer, act_quant_layer: classes of layers that round, instead of those of
            the types, or None.
    Raises:
        KeyError: another type.
    Example:
        >>> paddle.nn.quant.quant_layers.QuantizedLinear(paddle.nn.Linear(2, 2))
        QuantizedLinear(
          (_fake_quant_weight): FakeQuantAbsMax()
          (_fake_quant_input): FakeQuantAbsMax()
        )
    """

    _axis = 1

    def _take(self, layer: Layer) -> None:
        self.name: Any = layer.name
        self._linear_quant_axis = self._axis

    def forward(self, input: Tensor) -> Tensor:
        x, weight = self._quantized(input)
        return F.linear(x, weight, self.bias, name=self.name)


class QuantizedConv2D(_Quantized):
    """A `Conv2D` whose weight and input are rounded to what a number of bits can hold. Arguments as for
    `QuantizedLinear`.

    Attributes:
        _groups, _stride, _padding, _padding_mode, _dilation, _data_format: those of the layer that this one
            replaces.
        _reversed_padding_repeated_twice: list of ints or None, that of the layer.
        _conv2d_quant_axis: int, the axis of the weights that has a scale for each index.
    """

    def _take(self, layer: Layer) -> None:
        self._groups = layer._groups
        self._stride = layer._stride
        self._padding = layer._padding
        self._padding_mode = layer._padding_mode
        if self._padding_mode != "zeros":
            self._reversed_padding_repeated_twice = layer._reversed_padding_repeated_twice
        self._dilation = layer._dilation
        self._data_format = layer._data_format
        self._conv2d_quant_axis = self._axis

    def forward(self, input: Tensor) -> Tensor:
        x, weight = self._quantized(input)
        padding = self._padding
        if self._padding_mode != "zeros":
            x = F.pad(
                x,
                self._reversed_padding_repeated_twice,
                mode=self._padding_mode,
                data_format=self._data_format,
            )
            # It has been padded already.
            padding = 0
        return F.conv2d(
            x,
            weight,
            bias=self.bias,
            padding=padding,
            stride=self._stride,
            dilation=self._dilation,
            groups=self._groups,
            data_format=self._data_format,
        )


class QuantizedConv2DTranspose(_Quantized):
    """A `Conv2DTranspose` whose weight and input are rounded to what a number of bits can hold. Arguments as
    for `QuantizedLinear`.

    Attributes:
        _groups, _stride, _padding, _output_padding, _dilation, _data_format: those of the layer that this
            one replaces.
        _conv2d_transpose_quant_axis: int, the axis of the weights that has a scale for each index.
    """

    _axis = 1

    def _take(self, layer: Layer) -> None:
        self._groups = layer._groups
        self._stride = layer._stride
        self._padding = layer._padding
        self._output_padding = layer.output_padding
        self._dilation = layer._dilation
        self._data_format = layer._data_format
        self._conv2d_transpose_quant_axis = self._axis

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        x, weight = self._quantized(input)
        return F.conv2d_transpose(
            x,
            weight,
            bias=self.bias,
            padding=self._padding,
            stride=self._stride,
            dilation=self._dilation,
            output_padding=self._output_padding if output_size is None else 0,
            groups=self._groups,
            output_size=output_size,
            data_format=self._data_format,
        )


class QuantizedMatmul(Layer):
    """`paddle.matmul` of two inputs that are rounded to what a number of bits can hold. Arguments as for
    `QuantizedLinear`, those of weights without effect.
    """

    def __init__(
        self,
        layer: Any = None,
        weight_bits: Any = 8,
        activation_bits: Any = 8,
        moving_rate: Any = 0.9,
        weight_quantize_type: str = "abs_max",
        activation_quantize_type: str = "abs_max",
        weight_pre_layer: Any = None,
        act_pre_layer: Any = None,
        weight_quant_layer: Any = None,
        act_quant_layer: Any = None,
    ) -> None:
        super().__init__()
        for name in ("x", "y"):
            setattr(
                self,
                f"_fake_quant_{name}",
                _get_fake_quant_type(
                    activation_quantize_type,
                    moving_rate=moving_rate,
                    quant_bits=activation_bits,
                )
                if act_quant_layer is None
                else act_quant_layer(),
            )
        self._act_preprocess_x, self._act_preprocess_y = (
            None if act_pre_layer is None else act_pre_layer() for _ in range(2)
        )

    def forward(
        self,
        x: Tensor,
        y: Tensor,
        transpose_x: bool = False,
        transpose_y: bool = False,
        name: str | None = None,
    ) -> Tensor:
        if self._act_preprocess_x is not None:
            x = self._act_preprocess_x(x)
        if self._act_preprocess_y is not None:
            y = self._act_preprocess_y(y)
        return matmul(self._fake_quant_x(x), self._fake_quant_y(y), transpose_x, transpose_y)


class MAOutputScaleLayer(Layer):
    """A layer whose output is watched by a `MovingAverageAbsMaxScale`; an output of several Tensors is not.

    Args:
        layer: Layer.
        moving_rate: float, how much of the average is kept.
        name: str, begins the names of scale and averages. Default: the full name of the layer.
        dtype: dtype of scale and averages.
        reduce_type: as for `FakeQuantAbsMax`.
    """

    def __init__(
        self,
        layer: Layer | None = None,
        moving_rate: float = 0.9,
        name: str | None = None,
        dtype: DTypeLike = "float32",
        reduce_type: Any = None,
    ) -> None:
        super().__init__()
        self._layer = layer
        self._ma_output_scale = MovingAverageAbsMaxScale(
            layer.full_name() if name is None else name, moving_rate, dtype, reduce_type
        )

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        out = self._layer(*inputs, **kwargs)
        # One scale cannot stand for several Tensors.
        if isinstance(out, list | tuple | dict):
            return out
        return self._ma_output_scale(out)


class FakeQuantMAOutputScaleLayer(Layer):
    """A layer whose output is rounded by a `FakeQuantMovingAverageAbsMax`; an output of
    several Tensors is not.

    Args:
        layer: Layer.
        weight_bits: without effect.
        activation_bits: int, number of bits.
        moving_rate: float, how much of the average is kept.
        name: str, begins the names of scale and averages. Default: the full name of the layer.
        reduce_type: as for `FakeQuantAbsMax`.
    """

    def __init__(
        self,
        layer: Layer,
        weight_bits: Any = 8,
        activation_bits: int = 8,
        moving_rate: float = 0.9,
        name: str | None = None,
        reduce_type: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self._layer = layer
        self._fake_quant_output = FakeQuantMovingAverageAbsMax(
            layer.full_name() if name is None else name, moving_rate, activation_bits, reduce_type=reduce_type
        )

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        out = self._layer(*inputs, **kwargs)
        if isinstance(out, list | tuple | dict):
            return out
        return self._fake_quant_output(out)
