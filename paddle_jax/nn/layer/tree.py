"""Walking the tree of a layer: sublayers, parameters and buffers by name."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from paddle_jax._core.tensors.tensor import Parameter
from paddle_jax.nn.layer.helpers import alias

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.layers import Layer


class TreeMixin:
    """What Layer has to do with walking its tree."""

    def named_sublayers(
        self,
        prefix: str = "",
        include_self: bool = False,
        layers_set: set[Any] | None = None,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """Yields (name, layer) for all layers below this one, parents first.

        Args:
            prefix: str put before every name.
            include_self: begin with this layer itself.
            layers_set: set of layers to leave out; those yielded are added.
            remove_duplicate: yield a layer that is in the tree twice once.
        Example:
            >>> net = paddle.nn.Sequential(paddle.nn.ReLU(), paddle.nn.Tanh())
            >>> [name for name, _ in net.named_sublayers()]
            ['0', '1']
        """
        if layers_set is None:
            layers_set = set()
        if include_self and self not in layers_set:
            # With remove_duplicate=False a shared layer is yielded once for each of its places.
            if remove_duplicate:
                layers_set.add(self)
            yield prefix, self
        for name, layer in self._sub_layers.items():
            if layer is not None and layer not in layers_set:
                yield from layer.named_sublayers(_join(prefix, name), True, layers_set, remove_duplicate)

    def sublayers(self, include_self: bool = False) -> list[Layer]:
        """A list of all layers below this one, see `named_sublayers`."""
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Layer]]:
        """Yields (name, layer) for this layer and all below it, parents first.

        Args:
            memo: set of layers to leave out.
            prefix: str put before every name.
            remove_duplicate: yield a layer that is in the tree twice once.
        """
        yield from self.named_sublayers(prefix, True, memo, remove_duplicate)

    def modules(self) -> Iterator[Layer]:
        """Yields this layer and all below it."""
        for _, layer in self.named_modules():
            yield layer

    def named_children(self) -> Iterator[tuple[str, Layer]]:
        """Yields (name, layer) for the layers directly in this one, each layer once."""
        seen = set()
        for name, layer in self._sub_layers.items():
            if layer is not None and layer not in seen:
                seen.add(layer)
                yield name, layer

    def children(self) -> Iterator[Layer]:
        """Yields the layers directly in this one."""
        for _, layer in self.named_children():
            yield layer

    @alias(recurse="include_sublayers")
    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Yields (name, parameter).

        Args:
            prefix: str put before every name.
            include_sublayers: also those of all layers below; `recurse` is accepted as a name.
            remove_duplicate: yield a parameter that is in the tree twice once.
        Example:
            >>> [name for name, _ in paddle.nn.Linear(2, 2).named_parameters()]
            ['weight', 'bias']
        """
        yield from self._named("_parameters", prefix, include_sublayers, remove_duplicate)

    @alias(recurse="include_sublayers")
    def parameters(self, include_sublayers: bool = True) -> list[Parameter]:
        """A list of the parameters, see `named_parameters`."""
        return [p for _, p in self._named("_parameters", "", include_sublayers, True)]

    @alias(recurse="include_sublayers")
    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Yields (name, buffer); arguments as of `named_parameters`."""
        yield from self._named("_buffers", prefix, include_sublayers, remove_duplicate)

    @alias(recurse="include_sublayers")
    def buffers(self, include_sublayers: bool = True) -> list[Tensor]:
        """A list of the buffers, see `named_buffers`."""
        return [b for _, b in self._named("_buffers", "", include_sublayers, True)]

    def _named(
        self, store: str, prefix: str, include_sublayers: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen = set()
        if include_sublayers:
            layers = self.named_sublayers(prefix, True, None, remove_duplicate)
        else:
            layers = [(prefix, self)]
        for start, layer in layers:
            for name, tensor in getattr(layer, store).items():
                # By identity: `==` of Tensors compares their elements.
                if tensor is None or id(tensor) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(tensor))
                yield _join(start, name), tensor

    @property
    def _modules(self) -> Mapping[str, Layer]:
        """The layers directly in this one, by name."""
        return self._sub_layers

    def _obtain_parameters_buffers(self) -> dict[str, Tensor]:
        """The parameters and buffers by name, those of all layers below as well."""
        tensors = collections.OrderedDict()
        for name, layer in self.named_sublayers("", True, None, False):
            for store in (layer._parameters, layer._buffers):
                tensors |= {_join(name, key): tensor for key, tensor in store.items() if tensor is not None}
        return tensors

    # by dotted name -----------------------------------------------------------------------------------------

    def get_sublayer(self, target: str) -> Any:
        """Returns the layer with a dotted name such as "encoder.0"; "" is this layer.

        Raises:
            AttributeError: there is none.
        """
        layer = self
        for name in target.split(".") if target else ():
            if not hasattr(layer, name):
                raise AttributeError(f"{type(layer).__name__} has no attribute `{name}`")
            # Through attributes: a layer may be held by a property too.
            layer = getattr(layer, name)
            if not isinstance(layer, TreeMixin):
                raise AttributeError(f"`{name}` is not an nn.Layer")
        return layer

    get_submodule = get_sublayer

    def _get_tensor(self, target: str, kind: str, holds: Callable[[Any, str], bool]) -> Any:
        path, _, name = target.rpartition(".")
        layer = self.get_sublayer(path)
        if not hasattr(layer, name):
            raise AttributeError(f"{type(layer).__name__} has no attribute `{name}`")
        if not holds(layer, name):
            raise AttributeError(f"`{name}` is not {kind}")
        return getattr(layer, name)

    def get_parameter(self, target: str) -> Parameter:
        """Returns the parameter with a dotted name such as "encoder.0.weight".

        Raises:
            AttributeError: there is none.
        """
        return self._get_tensor(
            target, "an nn.Parameter", lambda layer, name: isinstance(getattr(layer, name), Parameter)
        )

    def get_buffer(self, target: str) -> Tensor:
        """Returns the buffer with a dotted name.

        Raises:
            AttributeError: there is none.
        """
        return self._get_tensor(target, "a buffer", lambda layer, name: name in layer._buffers)

    @alias(module="layer")
    def set_sublayer(self, target: str, layer: Layer, strict: bool = False) -> None:
        """Puts `layer` under a dotted name.

        Args:
            target: str such as "encoder.0"; all but its last part must exist.
            layer: Layer; `module` is accepted as a name.
            strict: bool, the whole name must exist.
        Raises:
            ValueError: target is empty or layer is not a Layer.
            AttributeError: a part of the name does not exist.
        """
        if not target:
            raise ValueError("set_sublayer: target: got an empty name; name the sublayer to set")
        if not isinstance(layer, TreeMixin):
            raise ValueError(f"set_sublayer: layer: got {type(layer).__name__}; it must be an nn.Layer")
        path, _, name = target.rpartition(".")
        parent = self.get_sublayer(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        parent.add_sublayer(name, layer)

    set_submodule = set_sublayer


def _join(prefix: str, name: str) -> str:
    if prefix:
        return f"{prefix}.{name}"
    return str(name)
