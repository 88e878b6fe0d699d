"""Which layers are quantized, and how."""

from __future__ import annotations

from typing import Any

from paddle_jax.nn.layer.activation import ReLU
from paddle_jax.nn.layer.common import Linear
from paddle_jax.nn.layer.conv import Conv2D
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.nn.layer.pooling import AvgPool2D
from paddle_jax.nn.quant.qat import QuantedConv2D, QuantedLinear
from paddle_jax.nn.quant.stub import QuanterStub, Stub
from paddle_jax.quantization.wrapper import ObserveWrapper

DEFAULT_QAT_LAYER_MAPPINGS = {Stub: QuanterStub, Linear: QuantedLinear, Conv2D: QuantedConv2D}
DEFAULT_LEAVES = [ReLU, AvgPool2D]


class SingleLayerConfig:
    """How one layer is quantized.

    Args:
        activation: factory of the quanter of inputs, or None.
        weight: factory of the quanter of weights, or None.
    """

    def __init__(self, activation: Any, weight: Any) -> None:
        self._activation = activation
        self._weight = weight

    @property
    def activation(self) -> Any:
        """The factory for inputs, or None."""
        return self._activation

    @property
    def weight(self) -> Any:
        """The factory for weights, or None."""
        return self._weight

    def __str__(self) -> str:
        return f"activation: {self._activation}\nweight: {self._weight}"


class QuantConfig:
    """How the layers of a network are quantized: by default, by type, by name, and by layer, the
    latter two first.

    A layer without settings of its own has those of the layer around it.

    Args:
        activation: factory of the quanters of inputs for all layers, or None.
        weight: factory of the quanters of weights for all layers, or None.
    Attributes:
        _layer2config, _prefix2config, _type2config: dicts, the settings of single layers, names and types.
        _global_config: the settings of all others, or None.
        _model: the Layer that is quantized, or None.
        _qat_layer_mapping, _customized_qat_layer_mapping: dicts from a type to the one that replaces it.
        _customized_leaves: list of types that are not looked into.
    Differs from Paddle: `paddle.quantization.quanters` is there without an import of its own.
    Example:
        >>> quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver(moving_rate=0.9)
        >>> print(paddle.quantization.QuantConfig(activation=None, weight=quanter))
        Global config:
        activation: None
        weight: FakeQuanterWithAbsMaxObserver(name=None,moving_rate=0.9,bit_length=8,dtype=float32)
        <BLANKLINE>
    """

    def __init__(self, activation: Any, weight: Any) -> None:
        if activation is None and weight is None:
            self._global_config = None
        else:
            self._global_config = SingleLayerConfig(activation, weight)
        self._layer2config = {}
        self._prefix2config = {}
        self._type2config = {}
        self._model = None
        # A copy: `add_qat_layer_mapping` changes this config alone.
        self._qat_layer_mapping = dict(DEFAULT_QAT_LAYER_MAPPINGS)
        self._customized_qat_layer_mapping = {}
        self._customized_leaves = []

    # settings -----------------------------------------------------------------------------------------------

    def add_layer_config(self, layer: Any, activation: Any = None, weight: Any = None) -> None:
        """Sets the quanters of one layer or a list of layers, and of what is in them.

        Raises:
            AttributeError: not a layer.
        """
        for one in layer if isinstance(layer, list) else [layer]:
            # By name, so that the settings hold for copies of the layer.
            self.add_name_config(one.full_name(), activation, weight)

    def add_name_config(self, layer_name: Any, activation: Any = None, weight: Any = None) -> None:
        """Sets the quanters of the layers of a full name, or a list of them, as
        `layer.full_name()` gives it."""
        for name in layer_name if isinstance(layer_name, list) else [layer_name]:
            if isinstance(name, str):
                self._prefix2config[name] = SingleLayerConfig(activation, weight)

    def add_type_config(self, layer_type: Any, activation: Any = None, weight: Any = None) -> None:
        """Sets the quanters of all layers of a class, or a list of classes."""
        for one in layer_type if isinstance(layer_type, list) else [layer_type]:
            if isinstance(one, type) and issubclass(one, Layer):
                self._type2config[one] = SingleLayerConfig(activation, weight)

    def add_qat_layer_mapping(self, source: Any, target: Any) -> None:
        """Makes QAT and PTQ put `target(layer, config)` in place of layers of a class.

        Args:
            source: class of layers.
            target: class of layers with simulated quantization.
        Raises:
            AssertionError: one of them is no class of layers.
        """
        for argument, value in (("source", source), ("target", target)):
            if not (isinstance(value, type) and issubclass(value, Layer)):
                raise AssertionError(
                    f"add_qat_layer_mapping: {argument}: got {value!r}; "
                    "it must be a subclass of paddle.nn.Layer"
                )
        self._qat_layer_mapping[source] = target
        self._customized_qat_layer_mapping[source] = target

    def add_customized_leaf(self, layer_type: Any) -> None:
        """Makes layers of a class count as a whole: their input is watched, whatever they are made of."""
        self._customized_leaves.append(layer_type)

    @property
    def customized_leaves(self) -> Any:
        """The classes given to `add_customized_leaf`."""
        return self._customized_leaves

    @property
    def qat_layer_mappings(self) -> dict[Any, Any]:
        """{class: class that takes its place}."""
        return self._qat_layer_mapping

    @property
    def default_qat_layer_mapping(self) -> Any:
        """{class: class that takes its place}, as it is before `add_qat_layer_mapping`."""
        return DEFAULT_QAT_LAYER_MAPPINGS

    @property
    def global_config(self) -> Any:
        """The settings of all layers that have no others, or None."""
        return self._global_config

    # settings of the layers of a model ----------------------------------------------------------------------

    def _specify(self, model: Layer) -> None:
        """Finds the settings of every layer of a model."""
        self._model = model
        self._specify_helper(model)

    def _specify_helper(self, model: Layer) -> None:
        for child in model.children():
            # Settings of a layer hold for what is in it; those of its type and its name go first.
            config = self._layer2config.get(model, self._global_config)
            config = self._type2config.get(type(child), config)
            config = self._prefix2config.get(child.full_name(), config)
            if config is not None:
                self._layer2config[child] = config
            self._specify_helper(child)

    def _get_config_by_layer(self, layer: Layer) -> SingleLayerConfig | None:
        return self._layer2config.get(layer)

    def _is_quantifiable(self, layer: Layer) -> bool:
        return layer in self._layer2config

    def _has_observer_config(self, layer: Layer) -> bool:
        config = self._get_config_by_layer(layer)
        return config is not None and config.activation is not None

    def _need_observe(self, layer: Layer) -> bool:
        return self._is_leaf(layer) and self._has_observer_config(layer)

    def _is_leaf(self, layer: Layer) -> bool:
        return self._is_default_leaf(layer) or self._is_real_leaf(layer) or self._is_customized_leaf(layer)

    def _is_default_leaf(self, layer: Layer) -> bool:
        return type(layer) in DEFAULT_LEAVES

    def _is_real_leaf(self, layer: Layer) -> bool:
        return not layer._sub_layers

    def _is_customized_leaf(self, layer: Layer) -> bool:
        return type(layer) in self._customized_leaves

    def _get_qat_layer(self, layer: Layer) -> Layer:
        return self._qat_layer_mapping[type(layer)](layer, self._get_config_by_layer(layer))

    def _get_observer(self, layer: Layer) -> Layer | None:
        config = self._get_config_by_layer(layer)
        if self._has_observer_config(layer):
            return config.activation._instance(layer)
        return None

    def _get_observe_wrapper(self, layer: Layer) -> ObserveWrapper:
        return ObserveWrapper(self._get_observer(layer), layer)

    # printing -----------------------------------------------------------------------------------------------

    def details(self) -> str:
        """The settings as text, those of every layer once a model is known."""
        if self._model is None:
            return str(self)
        return self._details_helper(self._model)

    def _details_helper(self, layer: Layer) -> str:
        # chr(10): before Python 3.12 no backslash may be in an expression of an f-string.
        lines = [
            f"({name}): {self._details_helper(child).replace(chr(10), chr(10) + '  ')}, "
            f"{self._layer2config[child]}"
            for name, child in layer.named_children()
            if child in self._layer2config
        ]
        inside = "".join(f"\n  {line}" for line in lines) + ("\n" if lines else "")
        return f"{type(layer).__name__}({inside})"

    def __str__(self) -> str:
        text = f"Global config:\n{self._global_config}\n"
        if self._type2config:
            text += f"Layer type config:\n{self._type2config}\n"
        return text + (f"Layer prefix config: \n{self._prefix2config}\n" if self._prefix2config else "")
