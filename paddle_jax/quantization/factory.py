"""Factories: a class of quanters together with the arguments it is to be made with."""

from __future__ import annotations

import abc
import functools as ft
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddle_jax.nn.layer.layers import Layer


class ClassWithArguments(metaclass=abc.ABCMeta):
    """Keeps arguments for a class; a subclass says which with `_get_class`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._args = args
        self._kwargs = kwargs

    @property
    def args(self) -> Any:
        """The positional arguments, a tuple."""
        return self._args

    @property
    def kwargs(self) -> Any:
        """The keyword arguments, a dict."""
        return self._kwargs

    @abc.abstractmethod
    def _get_class(self) -> Any:
        """The class."""

    def __str__(self) -> str:
        arguments = [*map(str, self._args), *[f"{name}={value}" for name, value in self._kwargs.items()]]
        return f"{type(self).__name__}({','.join(arguments)})"

    def __repr__(self) -> str:
        return str(self)


class QuanterFactory(ClassWithArguments):
    """Makes a quanter or observer for a layer with the kept arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.partial_class = None

    def _instance(self, layer: Layer | None) -> Layer:
        """A new quanter; the layer comes after the kept positional arguments, as in Paddle, so that these are
        best given by keyword."""
        if self.partial_class is None:
            self.partial_class = ft.partial(self._get_class(), *self._args, **self._kwargs)
        return self.partial_class(layer)


# Paddle has two names for one thing.
ObserverFactory = QuanterFactory


def quanter(class_name: str) -> Callable[..., Any]:
    """Declares a quanter: the decorated class gets a factory of the given name in the module that
    calls `quanter`.

    Args:
        class_name: str, name of the factory; its arguments are those of the decorated class without `layer`.
    Returns:
        decorator, which gives the class back.
    Raises:
        TypeError: class_name is not a str.
    Differs from Paddle: the calling code need not be an imported module.
    Example:
        >>> @paddle.quantization.quanter("Plain")
        ... class PlainLayer(paddle.quantization.BaseQuanter):
        ...     def __init__(self, layer, bits=8): super().__init__(); self.bits = bits
        ...     def forward(self, x): return x
        ...     def scales(self): return paddle.ones([1])
        ...     def zero_points(self): return paddle.zeros([1])
        ...     def quant_axis(self): return -1
        ...     def bit_length(self): return self.bits
        >>> Plain(bits=4)
        Plain(bits=4)
    """
    # The module of the caller, where the factory belongs.
    scope = sys._getframe(1).f_globals

    def declare(target: Any) -> type:
        def init(self, *args: Any, **kwargs: Any) -> None:
            QuanterFactory.__init__(self, *args, **kwargs)

        members = {
            "__init__": init,
            "_get_class": lambda self: target,
            "__module__": scope.get("__name__"),
            "__doc__": target.__doc__,
        }
        scope[class_name] = abc.ABCMeta(class_name, (QuanterFactory,), members)
        # `import *` gives the factory, too.
        if isinstance(scope.get("__all__"), list):
            scope["__all__"].append(class_name)
        return target

    return declare
