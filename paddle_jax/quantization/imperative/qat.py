"""Training with simulated quantization, by layers of `nn.quant.quant_layers` in place of the plain ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax.jit import save
from paddle_jax.jit.io import evaluating
from paddle_jax.nn import Conv2D, Conv2DTranspose, Linear
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.nn.quant import functional_layers
from paddle_jax.nn.quant import quant_layers as made

if TYPE_CHECKING:
    from paddle_jax.nn.quant.quant_layers import FakeQuantMAOutputScaleLayer, MAOutputScaleLayer


_INPUTS = {
    "Conv2DTranspose": (Conv2DTranspose, made.QuantizedConv2DTranspose),
    "Conv2D": (Conv2D, made.QuantizedConv2D),
    "Linear": (Linear, made.QuantizedLinear),
}
# the layers of which are not there, so no model has one
_ABSENT = ("ColumnParallelLinear", "RowParallelLinear")
_WEIGHTS = ("abs_max", "channel_wise_abs_max")
_ROUNDED = tuple(
    getattr(functional_layers, name) for name in ("add", "subtract", "multiply", "divide", "matmul")
)
_ROUNDING = (made.FakeQuantAbsMax, made.FakeQuantMovingAverageAbsMax, made.MovingAverageAbsMaxScale)


def need_layer(who: str, model: Any, name: str = "model") -> None:
    """Refuses what is no Layer."""
    if not isinstance(model, Layer):
        raise AssertionError(f"{who}: {name}: got {type(model).__name__}; it must be a paddle.nn.Layer")


def put(model: Layer, name: str, layer: Layer) -> None:
    """Puts a layer in the place that has a name below a model."""
    *above, own = name.split(".")
    for part in above:
        model = model._sub_layers[part]
    setattr(model, own, layer)


def _replace(model: Layer, change: Callable[..., Any]) -> None:
    """Puts `change(name, layer)`, where it gives one, in place of each layer below a model."""
    # A list, since `put` changes the tree.
    for name, layer in list(model.named_sublayers()):
        new = change(name, layer)
        if new is not None:
            put(model, name, new)


class ImperativeQuantAware:
    """Puts simulated quantization into a model: `Linear`, `Conv2D` and `Conv2DTranspose` round weights and
    inputs, outputs of layers are watched.

    `paddle.quantization.QAT` is its successor.

    Args:
        quantizable_layer_type: list of the layers that round: classes, or "Conv2D", "Linear",
            "Conv2DTranspose". A layer with `skip_quant = True` is left out.
        weight_quantize_type: "abs_max" or "channel_wise_abs_max".
        activation_quantize_type: "moving_average_abs_max".
        weight_bits, activation_bits: ints, numbers of bits, 0..16.
        moving_rate: float, how much of moving averages is kept; those of rounded sums, products and quotients
            keep 0.9, as in Paddle.
        fuse_conv_bn: bool; without effect (Paddle 3.3.1 changes a copy, and leaves the model in
            evaluation mode).
        weight_preprocess_layer, act_preprocess_layer: classes of layers applied before the rounding, or None.
        weight_quantize_layer, act_quantize_layer: classes of layers that round instead, or None.
        onnx_format: bool; watch the outputs of rounding layers only.
    Raises:
        AssertionError: an argument is not allowed.
    Differs from Paddle: the "lsq" types, which Paddle 3.3.1 fails at, are refused at once.
    Example:
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(2, 2))
        >>> paddle.quantization.ImperativeQuantAware().quantize(net)
        Sequential(
          (0): MAOutputScaleLayer(
            (_layer): QuantizedLinear(
              (_fake_quant_weight): FakeQuantAbsMax()
              (_fake_quant_input): FakeQuantMovingAverageAbsMax()
            )
            (_ma_output_scale): MovingAverageAbsMaxScale()
          )
        )
    """

    def __init__(
        self,
        quantizable_layer_type: Sequence[str] = [  # noqa: B006
            "Conv2D",
            "Linear",
            "Conv2DTranspose",
            "ColumnParallelLinear",
            "RowParallelLinear",
        ],
        weight_quantize_type: str = "abs_max",
        activation_quantize_type: str = "moving_average_abs_max",
        weight_bits: Any = 8,
        activation_bits: Any = 8,
        moving_rate: float = 0.9,
        fuse_conv_bn: bool = False,
        weight_preprocess_layer: Any = None,
        act_preprocess_layer: Any = None,
        weight_quantize_layer: Any = None,
        act_quantize_layer: Any = None,
        onnx_format: bool = False,
    ) -> None:
        classes = tuple(plain for plain, _ in _INPUTS.values())
        kinds = [
            _INPUTS[kind][0] if isinstance(kind, str) and kind in _INPUTS else kind
            for kind in quantizable_layer_type
            if kind not in _ABSENT
        ]
        bits = range(17)
        own = {
            "weight_preprocess_layer": weight_preprocess_layer,
            "act_preprocess_layer": act_preprocess_layer,
            "weight_quantize_layer": weight_quantize_layer,
            "act_quantize_layer": act_quantize_layer,
        }
        for name, value, right, allowed in [
            *[("quantizable_layer_type", kind, kind in classes, ", ".join(_INPUTS)) for kind in kinds],
            (
                "weight_quantize_type",
                weight_quantize_type,
                weight_quantize_type in _WEIGHTS,
                " and ".join(_WEIGHTS),
            ),
            (
                "activation_quantize_type",
                activation_quantize_type,
                activation_quantize_type == "moving_average_abs_max",
                "moving_average_abs_max",
            ),
            ("weight_bits", weight_bits, isinstance(weight_bits, int) and weight_bits in bits, "0..16"),
            (
                "activation_bits",
                activation_bits,
                isinstance(activation_bits, int) and activation_bits in bits,
                "0..16",
            ),
            *[
                (name, kind, kind is None or issubclass(kind, Layer), "None and classes of layers")
                for name, kind in own.items()
            ],
        ]:
            if not right:
                raise AssertionError(f"ImperativeQuantAware: {name}: got {value!r}; allowed are {allowed}")
        self.fuse_conv_bn = fuse_conv_bn
        self._kinds = tuple(kinds)
        self._moving_rate = moving_rate
        self._onnx_format = onnx_format
        self._settings = dict(
            weight_bits=weight_bits,
            activation_bits=activation_bits,
            moving_rate=moving_rate,
            weight_quantize_type=weight_quantize_type,
            activation_quantize_type=activation_quantize_type,
            weight_pre_layer=weight_preprocess_layer,
            act_pre_layer=act_preprocess_layer,
            weight_quant_layer=weight_quantize_layer,
            act_quant_layer=act_quantize_layer,
        )

    def quantize(self, model: Layer) -> Layer:
        """Changes the model in place, and returns it.

        Args:
            model: Layer.
        Raises:
            AssertionError: it is no Layer.
        """
        need_layer("ImperativeQuantAware", model)
        _replace(model, self._input)
        _replace(model, self._output)
        return model

    def _input(self, name: str, layer: Layer) -> Layer | None:
        if isinstance(layer, self._kinds) and getattr(layer, "skip_quant", False) is not True:
            return next(new for plain, new in _INPUTS.values() if isinstance(layer, plain))(
                layer, **self._settings
            )
        return None

    def _output(self, name: str, layer: Layer) -> FakeQuantMAOutputScaleLayer | MAOutputScaleLayer | None:
        rounds = isinstance(layer, tuple(new for _, new in _INPUTS.values()))
        leaf = not layer.sublayers() and not isinstance(layer, _ROUNDING)
        # Files of ONNX have output scales of layers that round only.
        if self._onnx_format:
            wanted = rounds
        else:
            wanted = rounds or leaf or isinstance(layer, functional_layers.FloatFunctionalLayer)
        # A layer for preprocessing is inside another one, which is measured as a whole.
        if "_act_preprocess" in name or not wanted:
            return None
        if isinstance(layer, _ROUNDED):
            return made.FakeQuantMAOutputScaleLayer(layer)  # as in Paddle with its own moving rate
        return made.MAOutputScaleLayer(layer, self._moving_rate)

    def save_quantized_model(self, layer: Layer, path: str, input_spec: Any = None, **config: Any) -> None:
        """Saves a model for inference, by `paddle.jit.save`.

        Args:
            layer: Layer, quantized.
            path: str, the file without its ending.
            input_spec: list of InputSpecs or Tensors: the arguments of forward.
            config: further arguments of `paddle.jit.save`.
        Raises:
            AssertionError: it is no Layer.
        Differs from Paddle: the file is one that `paddle.jit.load` reads, in Paddle too; Paddle 3.3.1 writes
            its older format.
        """
        need_layer("ImperativeQuantAware", layer, "layer")
        save_for_inference(layer, path, input_spec, config)


def save_for_inference(layer: Layer, path: str, input_spec: Any, config: dict[str, Any]) -> None:
    """`paddle.jit.save` of a model in evaluation mode."""
    with evaluating(layer):
        save(layer, path, input_spec, **config)
