"""Base classes by which lower rooms know Layers and other objects with state.

`nn.Layer` derives from ModuleBase and keeps what it has in AttributeStores. Optimizers, schedulers and
scalers have a method `__paddle_jax_state__`, which returns a CapturedState.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.state import LayerVersion

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


class AttributeStore(collections.OrderedDict[str, Any]):
    """Parameters, buffers, sublayers or hooks of a Layer by name.

    Putting an item in or taking one out counts as a change of the Layer.
    """

    def __setitem__(self, key: Any, value: Any) -> None:
        LayerVersion.count += 1
        super().__setitem__(key, value)

    def __delitem__(self, key: Any) -> None:
        LayerVersion.count += 1
        super().__delitem__(key)

    def pop(self, *args: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Takes out an item and returns it."""
        LayerVersion.count += 1
        return super().pop(*args)

    def clear(self) -> None:
        """Takes out everything."""
        LayerVersion.count += 1
        super().clear()


class ModuleBase:
    """The base class of `nn.Layer`, for modules that stand below it."""

    __slots__ = ()

    forward: Callable[..., Any]

    def sublayers(self, include_self: bool = False) -> list[Any]:
        """A list of all layers below this one."""
        raise NotImplementedError


def library_class(kind: type) -> type:
    """The ancestor of a class of Layers that derives from ModuleBase directly: `nn.Layer`."""
    return next(cls for cls in kind.__mro__ if ModuleBase in cls.__bases__)


@dataclasses.dataclass
class CapturedState:
    """The parts of an object of this package that compiled code may depend on.

    Attributes:
        values: list of (dict, key, value): looked up again at each call.
        settings: list of (dict, key, value): those that are not Tensors must stay the same.
        lists: lists that must keep their items.
        tensors: Tensors that code reaches through the object, which come from elsewhere.
    """

    values: list[tuple[dict[Any, Any], Any, Any]] = dataclasses.field(default_factory=list)
    settings: list[tuple[dict[Any, Any], Any, Any]] = dataclasses.field(default_factory=list)
    lists: list[list[Any]] = dataclasses.field(default_factory=list)
    tensors: list[Tensor] = dataclasses.field(default_factory=list)


def captured_state(value: Any) -> CapturedState | None:
    """The CapturedState of an object whose class has `__paddle_jax_state__`; None for other objects."""
    method = getattr(type(value), "__paddle_jax_state__", None)
    if method is None:
        return None
    return method(value)


__all__ = ["AttributeStore", "CapturedState", "ModuleBase", "captured_state", "library_class"]
