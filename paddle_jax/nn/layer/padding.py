"""Padding layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.nn import functional as F
from paddle_jax.nn.layer.helpers import alias, show
from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._annotations import Size
    from paddle_jax._core.tensors.tensor import Tensor


class _PadND(Layer):
    """What the padding layers share: `_spatial` axes, an int meaning the same on every side."""

    _spatial = 1

    def __init__(
        self, padding: Size | Tensor, mode: str, value: float, data_format: str, name: str | None
    ) -> None:
        super().__init__()
        if _is_int(padding):
            self.padding = [padding] * (2 * self._spatial)
        else:
            self.padding: list[Size | Tensor] = padding
        self._mode = mode
        self.value = value
        self._data_format = data_format
        self._name = name

    @alias(input="x")
    def forward(self, x: Tensor) -> Tensor:
        return F.pad(x, pad=self.padding, mode=self._mode, value=self.value, data_format=self._data_format)

    def extra_repr(self) -> str:
        return show(
            self._name, padding=self.padding, mode=self._mode, value=self.value, data_format=self._data_format
        )


def _is_int(padding: Any) -> bool:
    return hasattr(padding, "__index__") and not getattr(padding, "ndim", 0)


class Pad1D(_PadND):
    """Pads in a way of one's choice.

    Args:
        padding: int, or list [left, right].
        mode: "constant", "reflect", "replicate" or "circular".
        value: float, for mode "constant".
        data_format: "NCL" or "NLC".
    Example:
        >>> paddle.nn.Pad1D(1)(paddle.ones([1, 1, 3])).shape
        paddle.Size([1, 1, 5])
    """

    def __init__(
        self,
        padding: Size | Tensor,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class Pad2D(_PadND):
    """Pads in a way of one's choice.

    Args:
        padding: int, or list [left, right, top, bottom].
        mode: "constant", "reflect", "replicate" or "circular".
        value: float, for mode "constant".
        data_format: "NCHW" or "NHWC".
    Example:
        >>> paddle.nn.Pad2D(1)(paddle.ones([1, 1, 3, 3])).shape
        paddle.Size([1, 1, 5, 5])
    """

    _spatial = 2

    def __init__(
        self,
        padding: Size | Tensor,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class Pad3D(_PadND):
    """Pads in a way of one's choice.

    Args:
        padding: int, or list [left, right, top, bottom, front, back].
        mode: "constant", "reflect", "replicate" or "circular".
        value: float, for mode "constant".
        data_format: "NCDHW" or "NDHWC".
    Example:
        >>> paddle.nn.Pad3D(1)(paddle.ones([1, 1, 3, 3, 3])).shape
        paddle.Size([1, 1, 5, 5, 5])
    """

    _spatial = 3

    def __init__(
        self,
        padding: Size | Tensor,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class ZeroPad1D(_PadND):
    """Pads with zeros.

    Args:
        padding: int, or list [left, right].
        data_format: "NCL" or "NLC".
    Example:
        >>> paddle.nn.ZeroPad1D(1)(paddle.ones([1, 1, 3])).shape
        paddle.Size([1, 1, 5])
    """

    def __init__(self, padding: Size | Tensor, data_format: str = "NCL", name: str | None = None) -> None:
        super().__init__(padding, "constant", 0.0, data_format, name)


class ZeroPad2D(_PadND):
    """Pads with zeros.

    Args:
        padding: int, or list [left, right, top, bottom].
        data_format: "NCHW" or "NHWC".
    Example:
        >>> paddle.nn.ZeroPad2D(1)(paddle.ones([1, 1, 3, 3])).shape
        paddle.Size([1, 1, 5, 5])
    """

    _spatial = 2

    def __init__(self, padding: Size | Tensor, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(padding, "constant", 0.0, data_format, name)


class ZeroPad3D(_PadND):
    """Pads with zeros.

    Args:
        padding: int, or list [left, right, top, bottom, front, back].
        data_format: "NCDHW" or "NDHWC".
    Example:
        >>> paddle.nn.ZeroPad3D(1)(paddle.ones([1, 1, 3, 3, 3])).shape
        paddle.Size([1, 1, 5, 5, 5])
    """

    _spatial = 3

    def __init__(self, padding: Size | Tensor, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__(padding, "constant", 0.0, data_format, name)


class ConstantPad1D(_PadND):
    """Pads with one number.

    Args:
        padding: int, or list [left, right].
        value: float, the number.
        data_format: "NCL" or "NLC".
    Example:
        >>> paddle.nn.ConstantPad1D(1, 2.0)(paddle.ones([1, 1, 3])).shape
        paddle.Size([1, 1, 5])
    """

    def __init__(
        self, padding: Size | Tensor, value: float, data_format: str = "NCL", name: str | None = None
    ) -> None:
        super().__init__(padding, "constant", value, data_format, name)


class ConstantPad2D(_PadND):
    """Pads with one number.

    Args:
        padding: int, or list [left, right, top, bottom].
        value: float, the number.
        data_format: "NCHW" or "NHWC".
    Example:
        >>> paddle.nn.ConstantPad2D(1, 2.0)(paddle.ones([1, 1, 3, 3])).shape
        paddle.Size([1, 1, 5, 5])
    """

    _spatial = 2

    def __init__(
        self, padding: Size | Tensor, value: float, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "constant", value, data_format, name)


class ConstantPad3D(_PadND):
    """Pads with one number.

    Args:
        padding: int, or list [left, right, top, bottom, front, back].
        value: float, the number.
        data_format: "NCDHW" or "NDHWC".
    Example:
        >>> paddle.nn.ConstantPad3D(1, 2.0)(paddle.ones([1, 1, 3, 3, 3])).shape
        paddle.Size([1, 1, 5, 5, 5])
    """

    _spatial = 3

    def __init__(
        self, padding: Size | Tensor, value: float, data_format: str = "NCDHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "constant", value, data_format, name)


class CircularPad1D(_PadND):
    """Pads with the values from the other side.

    Args:
        padding: int, or list [left, right].
        data_format: "NCL" or "NLC".
    Example:
        >>> paddle.nn.CircularPad1D(1)(paddle.ones([1, 1, 3])).shape
        paddle.Size([1, 1, 5])
    """

    def __init__(self, padding: Size | Tensor, data_format: str = "NCL", name: str | None = None) -> None:
        super().__init__(padding, "circular", 0.0, data_format, name)


class CircularPad2D(_PadND):
    """Pads with the values from the other side.

    Args:
        padding: int, or list [left, right, top, bottom].
        data_format: "NCHW" or "NHWC".
    Example:
        >>> paddle.nn.CircularPad2D(1)(paddle.ones([1, 1, 3, 3])).shape
        paddle.Size([1, 1, 5, 5])
    """

    _spatial = 2

    def __init__(self, padding: Size | Tensor, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(padding, "circular", 0.0, data_format, name)


class CircularPad3D(_PadND):
    """Pads with the values from the other side.

    Args:
        padding: int, or list [left, right, top, bottom, front, back].
        data_format: "NCDHW" or "NDHWC".
    Example:
        >>> paddle.nn.CircularPad3D(1)(paddle.ones([1, 1, 3, 3, 3])).shape
        paddle.Size([1, 1, 5, 5, 5])
    """

    _spatial = 3

    def __init__(self, padding: Size | Tensor, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__(padding, "circular", 0.0, data_format, name)


class ReflectionPad1D(_PadND):
    """Pads with the values mirrored at the border, without the border itself.

    Args:
        padding: int, or list [left, right].
        data_format: "NCL" or "NLC".
    Example:
        >>> paddle.nn.ReflectionPad1D(1)(paddle.ones([1, 1, 3])).shape
        paddle.Size([1, 1, 5])
    """

    def __init__(self, padding: Size | Tensor, data_format: str = "NCL", name: str | None = None) -> None:
        super().__init__(padding, "reflect", 0.0, data_format, name)


class ReflectionPad2D(_PadND):
    """Pads with the values mirrored at the border, without the border itself.

    Args:
        padding: int, or list [left, right, top, bottom].
        data_format: "NCHW" or "NHWC".
    Example:
        >>> paddle.nn.ReflectionPad2D(1)(paddle.ones([1, 1, 3, 3])).shape
        paddle.Size([1, 1, 5, 5])
    """

    _spatial = 2

    def __init__(self, padding: Size | Tensor, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(padding, "reflect", 0.0, data_format, name)


class ReflectionPad3D(_PadND):
    """Pads with the values mirrored at the border, without the border itself.

    Args:
        padding: int, or list [left, right, top, bottom, front, back].
        data_format: "NCDHW" or "NDHWC".
    Example:
        >>> paddle.nn.ReflectionPad3D(1)(paddle.ones([1, 1, 3, 3, 3])).shape
        paddle.Size([1, 1, 5, 5, 5])
    """

    _spatial = 3

    def __init__(self, padding: Size | Tensor, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__(padding, "reflect", 0.0, data_format, name)


class ReplicationPad1D(_PadND):
    """Pads with the values at the border.

    Args:
        padding: int, or list [left, right].
        data_format: "NCL" or "NLC".
    Example:
        >>> paddle.nn.ReplicationPad1D(1)(paddle.ones([1, 1, 3])).shape
        paddle.Size([1, 1, 5])
    """

    def __init__(self, padding: Size | Tensor, data_format: str = "NCL", name: str | None = None) -> None:
        super().__init__(padding, "replicate", 0.0, data_format, name)


class ReplicationPad2D(_PadND):
    """Pads with the values at the border.

    Args:
        padding: int, or list [left, right, top, bottom].
        data_format: "NCHW" or "NHWC".
    Example:
        >>> paddle.nn.ReplicationPad2D(1)(paddle.ones([1, 1, 3, 3])).shape
        paddle.Size([1, 1, 5, 5])
    """

    _spatial = 2

    def __init__(self, padding: Size | Tensor, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(padding, "replicate", 0.0, data_format, name)


class ReplicationPad3D(_PadND):
    """Pads with the values at the border.

    Args:
        padding: int, or list [left, right, top, bottom, front, back].
        data_format: "NCDHW" or "NDHWC".
    Example:
        >>> paddle.nn.ReplicationPad3D(1)(paddle.ones([1, 1, 3, 3, 3])).shape
        paddle.Size([1, 1, 5, 5, 5])
    """

    _spatial = 3

    def __init__(self, padding: Size | Tensor, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__(padding, "replicate", 0.0, data_format, name)


__all__ = [
    "CircularPad1D",
    "CircularPad2D",
    "CircularPad3D",
    "ConstantPad1D",
    "ConstantPad2D",
    "ConstantPad3D",
    "Pad1D",
    "Pad2D",
    "Pad3D",
    "ReflectionPad1D",
    "ReflectionPad2D",
    "ReflectionPad3D",
    "ReplicationPad1D",
    "ReplicationPad2D",
    "ReplicationPad3D",
    "ZeroPad1D",
    "ZeroPad2D",
    "ZeroPad3D",
]
