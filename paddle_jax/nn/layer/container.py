"""Layers that hold other layers or parameters: Sequential, LayerList, LayerDict,
ParameterList, ParameterDict."""

from __future__ import annotations

import collections.abc
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any, Self

from paddle_jax._core.tensors.tensor import Parameter, Tensor
from paddle_jax.nn.layer.helpers import alias
from paddle_jax.nn.layer.layers import Layer


def _position(index: int, length: int, what: str) -> int:
    """A non-negative position for an index that may be negative.

    Raises:
        IndexError: it is out of range.
    """
    if not -length <= index < length:
        raise IndexError(
            f"{what}: index {index} is out of range; there are {length} layers, use {-length}..{length - 1}"
        )
    return index % length


# An insertion may also be at the end, where no item is.
def _insert_position(index: int, length: int) -> int | None:
    # The end is a position to insert at, too.
    if not -length <= index <= length:
        return None
    if index >= 0:
        return index
    return index + length


def _rename(owner: Layer, layers: Iterable[Layer]) -> None:
    """Makes `layers` the sublayers of `owner`, named "0", "1", ..."""
    # Names are positions, so that all move when one does.
    owner._sub_layers.clear()
    for position, layer in enumerate(layers):
        owner.add_sublayer(str(position), layer)


def _check_pair(position: int, pair: Any) -> None:
    """Refuses what is no (name, Layer), where the first argument of Sequential was a pair."""
    got = f"Sequential: argument {position}: got"
    unpack = "give a list of Layers as Sequential(*layers)"
    if not isinstance(pair, list | tuple):
        raise AssertionError(f"{got} {pair!r}; the first is a (name, Layer) pair, so all must be")
    if len(pair) != 2:
        raise ValueError(
            f"{got} a {type(pair).__name__} of {len(pair)}; it must be a (name, Layer) pair; {unpack}"
        )
    if not isinstance(pair[0], str) and isinstance(pair[1], Layer):
        raise TypeError(f"{got} a name of type {type(pair[0]).__name__}; it must be a str; {unpack}")


class Sequential(Layer):
    """Calls layers one after the other.

    Args:
        layers: Layers; or (name, Layer) pairs; or one dict from name to Layer.
    Raises:
        AssertionError: something else is given.
        ValueError, TypeError: a list or tuple is no (name, Layer) pair.
    Example:
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.ReLU())
        >>> net(paddle.ones([2, 3])).shape
        paddle.Size([2, 4])
        >>> net[1]
        ReLU()
    """

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        if len(layers) == 1 and isinstance(layers[0], dict):
            layers = tuple(layers[0].items())
        # The first argument decides, as in Paddle.
        named = bool(layers) and isinstance(layers[0], list | tuple)
        for position, layer in enumerate(layers):
            if named:
                _check_pair(position, layer)
                self.add_sublayer(*layer)
            else:
                self.add_sublayer(str(position), layer)

    def __getitem__(self, name: int | str | slice) -> Any:
        if isinstance(name, slice):
            return type(self)(*list(self._sub_layers.values())[name])
        if isinstance(name, str):
            return self._sub_layers[name]
        return list(self._sub_layers.values())[_position(name.__index__(), len(self), "Sequential")]

    def __setitem__(self, name: int | str, layer: Layer) -> None:
        if not isinstance(layer, Layer):
            raise AssertionError(f"Sequential: got {type(layer).__name__}; an item must be a Layer")
        setattr(self, str(name), layer)

    def __delitem__(self, name: int | str) -> None:
        if str(name) not in self._sub_layers:
            raise AssertionError(
                f"Sequential: {name!r} is no name of a layer; "
                f"names are {', '.join(map(str, self._sub_layers))}"
            )
        del self._sub_layers[str(name)]

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Layer]:
        return iter(self._sub_layers.values())

    def append(self, module: Layer) -> Self:
        """Adds a layer at the end, named by its position; returns the Sequential.

        Raises:
            AssertionError: module is not a Layer.
        """
        self.add_sublayer(str(len(self)), module)
        return self

    def insert(self, index: int, module: Layer) -> Self:
        """Puts a layer before position `index`; the names of numbered layers move with their positions.

        Raises:
            AssertionError: module is not a Layer.
            IndexError: the index is out of range.
        """
        if not isinstance(module, Layer):
            raise AssertionError(
                f"Sequential.insert: module: got {type(module).__name__}; it must be a Layer"
            )
        position = _insert_position(index, len(self))
        if position is None:
            raise IndexError(
                f"Sequential.insert: index {index} is out of range; use {-len(self)}..{len(self)}"
            )
        layers = list(self._sub_layers.values())
        layers.insert(position, module)
        # Numbered layers move on by one, names stay with their places.
        names = [*self._sub_layers, str(len(self))]
        self._sub_layers.clear()
        self._sub_layers.update(zip(names, layers, strict=True))
        return self

    def extend(self, sequential: Iterable[Layer]) -> Self:
        """Adds the layers of an iterable at the end; returns the Sequential."""
        # A list first: the argument may be this object.
        for layer in list(sequential):
            self.append(layer)
        return self

    def forward(self, input: Any) -> Tensor:  # what the last layer returns
        """Hands `input` through all layers."""
        for layer in self._sub_layers.values():
            input = layer(input)
        return input


class LayerList(Layer):
    """A list of layers, which the tree of layers knows about.

    Args:
        sublayers: iterable of Layers; `modules` is accepted as a name.
    Raises:
        AssertionError: an item is not a Layer.
    Example:
        >>> layers = paddle.nn.LayerList([paddle.nn.Linear(2, 2) for _ in range(3)])
        >>> len(layers), len(layers.parameters())
        (3, 6)
    """

    @alias(modules="sublayers")
    def __init__(self, sublayers: Iterable[Layer] | None = None) -> None:
        super().__init__()
        for position, layer in enumerate(() if sublayers is None else sublayers):
            self.add_sublayer(str(position), layer)

    def _key(self, index: int | str) -> str:
        if isinstance(index, str):
            index = int(index)
        return str(_position(index.__index__(), len(self), type(self).__name__))

    def __getitem__(self, idx: int | str | slice) -> Any:
        if isinstance(idx, slice):
            # A slice shares its layers with this list.
            return LayerList(list(self._sub_layers.values())[idx])
        return self._sub_layers[self._key(idx)]

    def __setitem__(self, idx: int | str | slice, sublayer: Layer | Iterable[Layer]) -> None:
        if isinstance(idx, slice):
            layers = list(self._sub_layers.values())
            layers[idx] = sublayer
            # Names are positions here, so all behind the slice change.
            _rename(self, layers)
        else:
            setattr(self, self._key(idx), sublayer)

    def __delitem__(self, idx: int | str | slice) -> None:
        layers = list(self._sub_layers.values())
        if not isinstance(idx, slice):
            idx = int(self._key(idx))
        del layers[idx]
        _rename(self, layers)

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Layer]:
        return iter(self._sub_layers.values())

    def __add__(self, other: Iterable[Layer]) -> LayerList:
        return LayerList([*self, *other])

    @alias(module="sublayer")
    def append(self, sublayer: Layer) -> Self:
        """Adds a layer at the end; returns the list.

        Raises:
            AssertionError: sublayer is not a Layer.
        """
        self.add_sublayer(str(len(self)), sublayer)
        return self

    @alias(module="sublayer")
    def insert(self, index: int, sublayer: Layer) -> None:
        """Puts a layer before position `index`.

        Raises:
            AssertionError: sublayer is not a Layer or the index is out of range.
        """
        position = _insert_position(index, len(self))
        if not isinstance(sublayer, Layer) or position is None:
            raise AssertionError(
                f"LayerList.insert: got index {index} and {type(sublayer).__name__}; "
                f"use a Layer and an index in {-len(self)}..{len(self)}"
            )
        layers = list(self._sub_layers.values())
        layers.insert(position, sublayer)
        _rename(self, layers)

    @alias(modules="sublayers")
    def extend(self, sublayers: Iterable[Layer]) -> Self:
        """Adds the layers of an iterable at the end; returns the list."""
        for layer in list(sublayers):
            self.append(layer)
        return self

    def pop(self, key: int) -> Layer:
        """Takes the layer at a position out and returns it.

        Raises:
            IndexError: the position is out of range.
        """
        # By the list's own rules for negative positions.
        layer = self[key]
        del self[key]
        return layer


def _pairs(items: Any, what: str) -> list[tuple[Any, Any]]:
    """(key, value) pairs from a dict, a LayerDict or ParameterDict, or an iterable of pairs."""
    if isinstance(items, ParameterDict):
        return list(items._parameters.items())
    if isinstance(items, LayerDict | collections.abc.Mapping):
        return list(items.items())
    if not isinstance(items, collections.abc.Iterable):
        raise AssertionError(
            f"{what}: got {type(items).__name__}; it must be a dict or an iterable of (key, value) pairs"
        )
    items = list(items)
    for position, item in enumerate(items):
        if len(item) != 2:
            raise ValueError(
                f"{what}: element {position} has length {len(item)}; it must be a (key, value) pair"
            )
    return items


class LayerDict(Layer):
    """A dict of layers, which the tree of layers knows about.

    Args:
        sublayers: dict from name to Layer, or iterable of pairs; `modules` is accepted as a name.
    Raises:
        AssertionError: something else is given.
    Example:
        >>> layers = paddle.nn.LayerDict({"a": paddle.nn.ReLU(), "b": paddle.nn.Tanh()})
        >>> list(layers), layers["b"]
        (['a', 'b'], Tanh())
    """

    @alias(modules="sublayers")
    def __init__(
        self, sublayers: LayerDict | Mapping[str, Layer] | Iterable[tuple[str, Layer]] | None = None
    ) -> None:
        super().__init__()
        if sublayers is not None:
            self.update(sublayers)

    def __getitem__(self, key: str) -> Layer:
        return self._sub_layers[key]

    def __setitem__(self, key: str, sublayer: Layer) -> None:
        self.add_sublayer(key, sublayer)

    def __delitem__(self, key: str) -> None:
        del self._sub_layers[key]

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sub_layers)

    def __contains__(self, key: object) -> bool:
        return key in self._sub_layers

    def clear(self) -> None:
        """Takes all layers out."""
        self._sub_layers.clear()

    def pop(self, key: str) -> Layer:
        """Takes the layer under a key out and returns it.

        Raises:
            KeyError: there is none.
        """
        return self._sub_layers.pop(key)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._sub_layers.keys()

    def items(self) -> ItemsView[str, Layer]:
        """The (name, layer) pairs."""
        return self._sub_layers.items()

    def values(self) -> ValuesView[Layer]:
        """The layers."""
        return self._sub_layers.values()

    @alias(modules="sublayers")
    def update(self, sublayers: LayerDict | Mapping[str, Layer] | Iterable[tuple[str, Layer]]) -> None:
        """Adds the layers of a dict or an iterable of pairs; equal names are replaced.

        Raises:
            AssertionError: sublayers is neither.
            ValueError: an element is not a pair.
        """
        for key, layer in _pairs(sublayers, "LayerDict.update"):
            self.add_sublayer(key, layer)


class ParameterList(Layer):
    """A list of parameters, which the tree of layers knows about.

    Args:
        parameters: iterable of Parameters.
    Raises:
        AssertionError: an item is not a Parameter.
    Example:
        >>> plist = paddle.nn.ParameterList([paddle.create_parameter([2], "float32") for _ in range(3)])
        >>> len(plist), len(plist.parameters())
        (3, 3)
    """

    def __init__(self, parameters: Iterable[Tensor] | None = None) -> None:
        super().__init__()
        for position, parameter in enumerate(() if parameters is None else parameters):
            _check_parameter(parameter, "ParameterList")
            self.add_parameter(str(position), parameter)

    def __getitem__(self, idx: int) -> Tensor:
        return self._parameters[str(idx)]

    def __setitem__(self, idx: int, param: Tensor) -> None:
        if not isinstance(param, Tensor):
            raise TypeError(f"ParameterList: got {type(param).__name__}; an item must be a Parameter")
        if str(idx) not in self._parameters:
            raise AttributeError(f"ParameterList: there is no item {idx}; use append to add one")
        setattr(self, str(idx), param)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self._parameters.values())

    def append(self, parameter: Tensor) -> Self:
        """Adds a parameter at the end; returns the list.

        Raises:
            TypeError: it is not a Parameter.
        """
        self.add_parameter(str(len(self)), parameter)
        return self


class ParameterDict(Layer):
    """A dict of parameters, which the tree of layers knows about.

    Args:
        parameters: dict from name to Parameter, or iterable of pairs.
    Raises:
        AssertionError: something else is given.
    Example:
        >>> pdict = paddle.nn.ParameterDict({"a": paddle.create_parameter([2], "float32")})
        >>> list(pdict), pdict["a"].shape
        (['a'], paddle.Size([2]))
    """

    def __init__(
        self, parameters: ParameterDict | Mapping[str, Tensor] | Iterable[tuple[str, Tensor]] | None = None
    ) -> None:
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Tensor:
        return self._parameters[key]

    def __setitem__(self, key: str, param: Tensor) -> None:
        _check_parameter(param, "ParameterDict")
        self.add_parameter(key, param)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __contains__(self, key: object) -> bool:
        return key in self._parameters

    def update(self, parameters: ParameterDict | Mapping[str, Tensor] | Iterable[tuple[str, Tensor]]) -> None:
        """Adds the parameters of a dict or an iterable of pairs; equal names are replaced.

        Raises:
            AssertionError: parameters is neither.
            ValueError: an element is not a pair.
        """
        for key, parameter in _pairs(parameters, "ParameterDict.update"):
            self[key] = parameter


def _check_parameter(parameter: Any, what: str) -> None:
    if not isinstance(parameter, Parameter):
        raise AssertionError(f"{what}: got {type(parameter).__name__}; an item must be a Parameter")


__all__ = ["LayerDict", "LayerList", "ParameterDict", "ParameterList", "Sequential"]
