"""Layers of a converted network: numbers to integers and back, in the linear form, and the base of layers
that can be converted."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import unique_name
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax.base.param_attr import ParamAttr
from paddle_jax.nn.functional.quantization import (
    dequantize_groups,
    dequantize_linear,
    quantize_groups,
    quantize_linear,
)
from paddle_jax.nn.initializer import Assign
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.tensor.creation import to_tensor, zeros_like
from paddle_jax.tensor.manipulation import cast
from paddle_jax.tensor.math import clip

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


# The largest number of each format, and its dtype.
_FP8 = {"e4m3": (448, "float8_e4m3fn"), "e5m2": (57344, "float8_e5m2")}
_FP8_BITS = {(4, 3): "e4m3", (5, 2): "e5m2"}


def _fp8(type: Any) -> tuple[int, str]:
    if type not in _FP8:
        raise NotImplementedError(f"fake_fp8_quant: type: got {type!r}; only 'e4m3' and 'e5m2' are supported")
    return _FP8[type]


def _channels(scale: Any, ndim: Any, axis: Any) -> Any:
    """A scale for each channel of an axis, in a shape that broadcasts against `ndim` axes."""
    if scale.size == 1:
        return scale.reshape([])
    return scale.reshape([-1 if i == axis % ndim else 1 for i in range(ndim)])


def fake_fp8_quant(input: Tensor, scale: Tensor, axis: int = -1, type: str = "e4m3") -> Any:
    """Numbers of 8-bit floating point, in the dtype of the input, that stand for input at a scale:
    round(input max / scale).

    Args:
        input: Tensor of floating numbers.
        scale: Tensor of one element, or one for each channel of the axis.
        axis: int, the axis of the channels.
        type: "e4m3" (largest number 448) or "e5m2" (57344).
    Raises:
        NotImplementedError: another type.
    """
    largest, dtype = _fp8(type)
    # The scale is the largest magnitude; it becomes the largest number of the format.
    scaled = input * largest / _channels(scale, input.ndim, axis)
    return cast(cast(clip(scaled, -largest, largest), dtype), input.dtype)


def fake_fp8_dequant(input: Any, scale: Any, axis: Any = -1, type: str = "e4m3") -> Any:
    """What numbers from `fake_fp8_quant` stand for: input scale / max. Arguments as there."""
    largest, _ = _fp8(type)
    return input * _channels(scale, input.ndim, axis) / largest


class _Linear(Layer):
    """What quanter and dequanter share: scales, zero points and the range of the integers.

    Attributes:
        _bit_length, _group_size: as given.
        in_accum, in_state: Tensor, as in Paddle's files of weights; nothing reads it.
        _quant_axis: int, the axis of the scales.
        _qmin, _qmax: number, the least and the largest code.
    """

    in_accum: Any
    in_state: Any

    def __init__(
        self,
        scales: Tensor,
        zero_point: Tensor | None = None,
        quant_axis: Any = None,
        bit_length: Any = 8,
        group_size: Any = 128,
    ) -> None:
        super().__init__()
        scales = to_tensor(scales, dtype="float32").detach()
        if zero_point is None:
            zero_point = zeros_like(scales)
        else:
            zero_point = to_tensor(zero_point, dtype="float32").detach()
        for attribute, name, value in (
            ("_scales", "scale", scales),
            ("_zero_point", "zero_point", zero_point),
        ):
            attr = ParamAttr(
                name=unique_name.generate(f"quant_dequant.{name}"), initializer=Assign(value), trainable=False
            )
            setattr(self, attribute, self.create_parameter(value.shape, attr=attr, dtype="float32"))
        self.in_accum, self.in_state = to_tensor(0.0), to_tensor(0.0)
        self._quant_axis = -1 if quant_axis is None else quant_axis
        self._bit_length = bit_length
        self._group_size = group_size
        # A pair names the bits of exponent and fraction of an 8-bit float.
        if isinstance(bit_length, tuple):
            if bit_length not in _FP8_BITS:
                raise NotImplementedError(
                    f"{type(self).__name__}: bit_length: got {bit_length}; "
                    "of floating formats (4, 3) and (5, 2) are supported"
                )
            self._qmax, _ = _FP8[_FP8_BITS[bit_length]]
            self._qmin = -self._qmax
        else:
            # -128 to 127 for 8 bits.
            self._qmax = 2 ** (bit_length - 1) - 1
            self._qmin = -self._qmax - 1

    def _apply(
        self, input: Tensor, linear: Callable[..., Any], groups: Callable[..., Any], fp8: Callable[..., Any]
    ) -> Tensor:
        if isinstance(self._bit_length, tuple):
            return fp8(input, self._scales, self._quant_axis, _FP8_BITS[self._bit_length])
        # A scale for each group of rows and each column.
        if self._scales.ndim > 1:
            return groups(input, self._scales, self._group_size, self._qmax)
        if self._quant_axis not in (-1, 0, 1):
            raise ValueError(
                f"{type(self).__name__}: quant_axis: got {self._quant_axis}; it must be -1, 0 or 1"
            )
        return linear(
            input, self._scales, self._zero_point, self._quant_axis, self._bit_length, self._qmin, self._qmax
        )

    @classmethod
    def from_quanter(cls, quanter: Layer) -> Layer:
        """Makes the layer from the scales of a quanter or observer."""
        return cls(
            quanter.scales(),
            quanter.zero_points(),
            quanter.quant_axis(),
            quanter.bit_length(),
            getattr(quanter, "group_size", 128),
        )


class LinearQuanter(_Linear):
    """Gives the integers (as floating numbers) that stand for the input at fixed scales; no
    gradient flows through.

    Args:
        scales: Tensor, array or number: the largest magnitudes, one, one for each channel, or
            [groups, columns].
        zero_point: Tensor of zeros of the shape of scales. Default: zeros.
        quant_axis: int, 0 or 1: the axis of the channels; -1 or None: one scale.
        bit_length: int, or (4, 3) or (5, 2) for 8-bit floating point.
        group_size: int, rows that share a scale where scales has two axes.
    Raises:
        NotImplementedError: bit_length is another tuple.
    Example:
        >>> paddle.nn.quant.format.LinearQuanter(2.0, 0.0)(paddle.to_tensor([1.0, -3.0])).tolist()
        [64.0, -128.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return self._apply(input, quantize_linear, quantize_groups, fake_fp8_quant)


class LinearDequanter(_Linear):
    """Gives the numbers that integers stand for; arguments as for `LinearQuanter`.

    Example:
        >>> paddle.nn.quant.format.LinearDequanter(2.0, 0.0)(paddle.to_tensor([127.0])).tolist()
        [2.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return self._apply(input, dequantize_linear, dequantize_groups, fake_fp8_dequant)


class LinearQuanterDequanter(Layer):
    """A quanter followed by a dequanter, either of which may be None.

    Args:
        quanter: LinearQuanter or None.
        dequanter: LinearDequanter or None.
    """

    def __init__(self, quanter: Layer, dequanter: Layer) -> None:
        super().__init__()
        self._quanter = quanter
        self._dequanter = dequanter

    def forward(self, input: Tensor) -> Tensor:
        out = input if self._quanter is None else self._quanter(input)
        if self._dequanter is None:
            return out
        return self._dequanter(out)

    @staticmethod
    def from_quanter(quanter: Layer) -> LinearQuanterDequanter:
        """Makes both layers from the scales of a quanter or observer."""
        return LinearQuanterDequanter(
            LinearQuanter.from_quanter(quanter), LinearDequanter.from_quanter(quanter)
        )


class ConvertibleQuantedLayer(Layer, metaclass=abc.ABCMeta):
    """The base of layers with simulated quantization that `convert` can bring into the form for inference.

    A subclass says with `weights_to_quanters` which quanter belongs to which weight, and with
    `activation_quanters` which belong to inputs.
    """

    def __init__(self) -> None:
        super().__init__()
        self.converted: bool = False

    @abc.abstractmethod
    def weights_to_quanters(self) -> Any:
        """A list of (name of the weight, name of its quanter)."""

    @abc.abstractmethod
    def activation_quanters(self) -> Any:
        """A list of names of the quanters of inputs."""

    def _convert_quanter_to_qdq(self, quanter_name: str) -> LinearQuanterDequanter | None:
        quanter = getattr(self, quanter_name, None)
        if quanter is None:
            return None
        found = LinearQuanterDequanter.from_quanter(quanter)
        setattr(self, quanter_name, found)
        return found

    def _quant_weights(self, weight_name: str, quanter: Layer) -> None:
        """Replaces a weight by its integers."""
        weight = getattr(self, weight_name)
        with no_grad():
            weight.set_value(quanter(weight))

    def _convert(self, remain_weight: bool = False) -> None:
        """Puts quanters of fixed scales in place of observers, and integers in place of weights unless
        these shall remain.

        Raises:
            AssertionError: it is converted already.
        """
        if self.converted:
            raise AssertionError(f"{type(self).__name__}: it is converted already; convert a model only once")
        for weight_name, quanter_name in self.weights_to_quanters():
            both = self._convert_quanter_to_qdq(quanter_name)
            if both is not None and not remain_weight:
                self._quant_weights(weight_name, both._quanter)
                # The weight holds integers already; only the way back is left.
                both._quanter = None
        for quanter_name in self.activation_quanters():
            self._convert_quanter_to_qdq(quanter_name)
        self.converted = True
