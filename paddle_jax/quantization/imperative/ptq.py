"""The predecessor of `PTQ`: scales for the activations of a trained model from a few batches."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax import nn
from paddle_jax.nn.quant import functional_layers
from paddle_jax.nn.quant import quant_layers as made
from paddle_jax.quantization.imperative import ptq_quantizer as watching
from paddle_jax.quantization.imperative.qat import need_layer, put, save_for_inference

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.layers import Layer


_ROUNDED = {nn.Conv2D: made.QuantizedConv2D, nn.Linear: made.QuantizedLinear}
_WATCHED = (
    *_ROUNDED,
    nn.BatchNorm2D,
    nn.AdaptiveMaxPool2D,
    nn.AdaptiveAvgPool2D,
    nn.AvgPool2D,
    nn.MaxPool2D,
    nn.ReLU,
    nn.ReLU6,
    nn.Hardswish,
    nn.Swish,
    nn.Sigmoid,
    nn.Softmax,
    nn.Tanh,
    functional_layers.add,
)


class PTQConfig:
    """Which quantizers watch a layer.

    Args:
        activation_quantizer: AbsmaxQuantizer, HistQuantizer or KLQuantizer, for inputs and outputs.
        weight_quantizer: AbsmaxQuantizer or PerChannelAbsmaxQuantizer.
    Raises:
        AssertionError: a quantizer is of another class.
    Example:
        >>> quantization = paddle.quantization
        >>> config = quantization.PTQConfig(quantization.KLQuantizer(), quantization.AbsmaxQuantizer())
        >>> config.out_act_quantizer.quant_bits
        8
    """

    def __init__(self, activation_quantizer: Any, weight_quantizer: Any) -> None:
        for name, value, kinds in [
            ("activation_quantizer", activation_quantizer, watching.SUPPORT_ACT_QUANTIZERS),
            ("weight_quantizer", weight_quantizer, watching.SUPPORT_WT_QUANTIZERS),
        ]:
            if not isinstance(value, tuple(kinds)):
                raise AssertionError(
                    f"PTQConfig: {name}: got {type(value).__name__}; allowed are "
                    f"{', '.join(kind.__name__ for kind in kinds)}"
                )
        # Copies, as each quantizer keeps what it has seen.
        self.in_act_quantizer: Any = copy.deepcopy(activation_quantizer)
        self.out_act_quantizer: Any = copy.deepcopy(activation_quantizer)
        self.wt_quantizer: Any = copy.deepcopy(weight_quantizer)
        self.quant_hook_handle: Any = None
        self.enable_in_act_quantizer = False


default_ptq_config: PTQConfig = PTQConfig(watching.KLQuantizer(), watching.PerChannelAbsmaxQuantizer())


class ImperativePTQ:
    """Quantization after training: batches that run through a model give the scales of its activations.

    `paddle.quantization.PTQ` is its successor.

    Args:
        quant_config: PTQConfig.
    Raises:
        AssertionError: it is none.
    Example:
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(2, 2), paddle.nn.ReLU())
        >>> watched = paddle.quantization.ImperativePTQ().quantize(net)
        >>> watched(paddle.ones([1, 2])).shape
        paddle.Size([1, 2])
    """

    def __init__(self, quant_config: Any = default_ptq_config) -> None:
        if not isinstance(quant_config, PTQConfig):
            raise AssertionError(
                f"ImperativePTQ: quant_config: got {type(quant_config).__name__}; it must be a PTQConfig"
            )
        self._quant_config = quant_config

    def quantize(
        self, model: Layer, inplace: bool = False, fuse: bool = False, fuse_list: Any = None
    ) -> Layer:
        """Returns a model whose layers watch what goes through them.

        Args:
            model: Layer.
            inplace: bool, change the model itself; else a copy.
            fuse: bool, put the normalisations of `fuse_list` into the layers before them; the model is in
                evaluation mode then.
            fuse_list: list of pairs of names of layers, a convolution or Linear and what normalises it.
        Raises:
            AssertionError: model is no Layer.
        """
        need_layer("ImperativePTQ", model)
        if not inplace:
            model = copy.deepcopy(model)
        if fuse:
            # Folded in are the statistics of evaluation.
            model.eval()
            for pair in fuse_list:
                _fuse(model, *pair)
        for layer in model.sublayers():
            leaf = isinstance(layer, _WATCHED) and not layer.sublayers()
            if leaf and not getattr(layer, "skip_quant", False):
                # Each layer has numbers of its own.
                layer._quant_config = config = copy.deepcopy(self._quant_config)
                # Only layers that round need the scale of their input.
                config.enable_in_act_quantizer = isinstance(layer, tuple(_ROUNDED))
                config.quant_hook_handle = layer.register_forward_post_hook(_sample_quantizers)
                # Before hooks of the user, which may change the output.
                layer._forward_post_hooks.move_to_end(config.quant_hook_handle._hook_id, last=False)
        return model

    def save_quantized_model(self, model: Layer, path: str, input_spec: Any = None, **config: Any) -> None:
        """Puts rounding layers with the scales into the model, and saves it by `paddle.jit.save`.

        Args:
            model: Layer, from `quantize`.
            path: str, the file without its ending.
            input_spec: list of InputSpecs or Tensors: the arguments of forward.
            config: further arguments of `paddle.jit.save`.
        Raises:
            AssertionError: it is no Layer.
        Differs from Paddle: Paddle 3.3.1 raises TypeError once it has changed the model.
        """
        need_layer("ImperativePTQ", model)
        self._convert(model)
        save_for_inference(model, path, input_spec, config)

    def _convert(self, model: Layer) -> None:
        # A list, since the loop replaces layers.
        for name, layer in list(model.named_sublayers()):
            config = getattr(layer, "_quant_config", None)
            if config is None:
                continue
            # The hook would go on to measure.
            config.quant_hook_handle.remove()
            config.out_act_quantizer.cal_thresholds()
            if config.enable_in_act_quantizer:
                config.in_act_quantizer.cal_thresholds()
                config.wt_quantizer.sample_data(layer, (layer.weight,))
                config.wt_quantizer.cal_thresholds()
                put(model, name, _rounding(layer, config))


def _sample_quantizers(layer: Layer, inputs: Sequence[Tensor], outputs: Tensor) -> None:
    """The hook of a watched layer."""
    config = layer._quant_config
    if config.enable_in_act_quantizer:
        config.in_act_quantizer.sample_data(layer, inputs)
    config.out_act_quantizer.sample_data(layer, (outputs,))


def _rounding(layer: Layer, config: Any) -> Layer:
    """The rounding layer in place of a watched one."""
    whole = isinstance(config.wt_quantizer, watching.AbsmaxQuantizer)
    kind = next(kind for plain, kind in _ROUNDED.items() if isinstance(layer, plain))
    new = kind(
        layer,
        weight_quantize_type="abs_max" if whole else "channel_wise_abs_max",
        activation_quantize_type="moving_average_abs_max",
        weight_bits=config.wt_quantizer.quant_bits,
        activation_bits=config.in_act_quantizer.quant_bits,
    )
    scales = config.in_act_quantizer.thresholds
    # With several inputs there is no one scale to set.
    if len(scales) == 1:
        new._fake_quant_input._scale.set_value(np.array(scales, np.float32))
    new._fake_quant_weight._scale.set_value(
        np.atleast_1d(config.wt_quantizer.thresholds[0]).astype(np.float32)
    )
    return new


def _fuse(model: Layer, name: str, norm_name: str) -> None:
    """Makes a normalisation part of the weights of the layer before it."""
    layers = dict(model.named_sublayers())
    layer = layers[name]
    norm = layers[norm_name]
    # (x - mean) * factor + bias, folded into the layer before.
    factor = norm.weight / (norm._variance + norm._epsilon).sqrt()
    shift = (0.0 if layer.bias is None else layer.bias) - norm._mean
    if layer.bias is None:
        layer.bias = layer.create_parameter(factor.shape, is_bias=True)
    layer.bias.set_value((shift * factor + norm.bias).detach())
    # Linear has its outputs on the last axis of the weight, convolutions on the first.
    if isinstance(layer, nn.Linear):
        rows = [1, -1]
    else:
        rows = [-1] + [1] * (len(layer.weight.shape) - 1)
    layer.weight.set_value((layer.weight * factor.reshape(rows)).detach())
    put(model, norm_name, nn.Identity())
