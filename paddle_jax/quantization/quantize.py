"""What quantization-aware training and quantization after training share."""

from __future__ import annotations

import abc
import copy
from typing import TYPE_CHECKING, Any

from paddle_jax.nn.quant.format import ConvertibleQuantedLayer, LinearQuanterDequanter
from paddle_jax.quantization.base_quanter import BaseQuanter

if TYPE_CHECKING:
    from paddle_jax.nn.layer.layers import Layer
    from paddle_jax.quantization.config import QuantConfig


class Quantization(metaclass=abc.ABCMeta):
    """The base of `QAT` and `PTQ`.

    Args:
        config: QuantConfig; it is copied.
    """

    def __init__(self, config: QuantConfig) -> None:
        # A copy, to which the layers of a model are added.
        self._config = copy.deepcopy(config)

    @abc.abstractmethod
    def quantize(self, model: Any, inplace: Any = False) -> Any:
        """Prepares a model for quantization."""

    def _prepared(self, model: Layer, inplace: bool) -> Layer:
        if not inplace:
            model = copy.deepcopy(model)
        # After the copy, as settings are kept for its layers.
        self._config._specify(model)
        self._convert_to_quant_layers(model, self._config)
        self._insert_activation_observers(model, self._config)
        return model

    def convert(self, model: Layer, inplace: bool = False, remain_weight: bool = False) -> Layer:
        """Brings a quantized model into the form for inference: fixed scales, weights as integers.

        Args:
            model: Layer from `quantize`.
            inplace: change it, instead of a copy.
            remain_weight: keep the weights as they are and quantize them at each call.
        Returns:
            Layer.
        Differs from Paddle: `paddle.quantization.observers` is there without an import of its own.
        Example:
            >>> observer = paddle.quantization.observers.AbsmaxObserver()
            >>> ptq = paddle.quantization.PTQ(paddle.quantization.QuantConfig(observer, observer))
            >>> model = ptq.quantize(paddle.nn.Sequential(paddle.nn.Linear(2, 2)).eval())
            >>> _ = model(paddle.ones([1, 2])); ptq.convert(model)[0].weight.abs().max().item()
            127.0
        """
        if not inplace:
            model = copy.deepcopy(model)
        self._convert_children(model, remain_weight)
        return model

    def _convert_children(self, model: Layer, remain_weight: bool) -> None:
        # Collected first, since the loop goes over the layers that change.
        replaced = {}
        for name, child in model.named_children():
            if isinstance(child, ConvertibleQuantedLayer):
                # A second time would round what is rounded.
                if not child.converted:
                    child._convert(remain_weight=remain_weight)
            elif isinstance(child, BaseQuanter):
                replaced[name] = LinearQuanterDequanter.from_quanter(child)
            else:
                self._convert_children(child, remain_weight)
        for name, layer in replaced.items():
            model._sub_layers[name] = layer

    def _convert_to_quant_layers(self, model: Layer, config: QuantConfig) -> None:
        replaced = {}
        for name, child in model.named_children():
            # The exact class, as a subclass may compute something else.
            if type(child) in config.qat_layer_mappings and config._is_quantifiable(child):
                replaced[name] = config._get_qat_layer(child)
            else:
                self._convert_to_quant_layers(child, config)
        for name, layer in replaced.items():
            model._sub_layers[name] = layer

    def _insert_activation_observers(self, model: Layer, config: QuantConfig) -> None:
        replaced = {}
        quanted = tuple(config.qat_layer_mappings.values())
        for name, child in model.named_children():
            if config._need_observe(child):
                replaced[name] = config._get_observe_wrapper(child)
            # Layers that were replaced round their own inputs.
            elif not isinstance(child, quanted):
                self._insert_activation_observers(child, config)
        for name, layer in replaced.items():
            model._sub_layers[name] = layer

    def _details(self) -> str:
        return self._config.details()

    def __str__(self) -> str:
        return self._details()

    def __repr__(self) -> str:
        return str(self)
