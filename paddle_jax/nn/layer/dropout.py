"""Dropout layers: in training they set random parts to zero, in evaluation they do nothing (or scale)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from paddle_jax.nn import functional as F
from paddle_jax.nn.layer.helpers import show
from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._annotations import Size
    from paddle_jax._core.tensors.tensor import Tensor


class Dropout(Layer):
    """Sets each element to zero with probability p, in training.

    Args:
        p: float between 0 and 1.
        inplace: bool, put the result into the input.
        axis: int or list of ints: drop whole slices, drawn independently along these axes only.
        mode: "upscale_in_train" divides what is left by 1 - p; "downscale_in_infer" multiplies by 1 -
            p in evaluation.
    Raises:
        ValueError: p or mode is not allowed (when called).
    Example:
        >>> layer = paddle.nn.Dropout(0.5).eval(); layer(paddle.ones([2])).tolist()
        [1.0, 1.0]
    See: Srivastava et al., Dropout, 2014.
    """

    def __init__(
        self,
        p: float | Tensor = 0.5,
        inplace: bool = False,
        axis: Size | None = None,
        mode: Literal["upscale_in_train", "downscale_in_infer"] = "upscale_in_train",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.p = p
        self.inplace = inplace
        self.axis = axis
        self.mode = mode
        self.name = name

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(
            input, p=self.p, axis=self.axis, training=self.training, inplace=self.inplace, mode=self.mode
        )

    def extra_repr(self) -> str:
        return show(self.name, p=self.p, axis=self.axis, mode=self.mode) + f", inplace={self.inplace}"


class Dropout2D(Layer):
    """Sets whole channels of images to zero with probability p, in training.

    Args:
        p: float between 0 and 1.
        data_format: "NCHW" or "NHWC".
    Example:
        >>> y = paddle.nn.Dropout2D(0.5)(paddle.ones([4, 3, 2, 2]))
        >>> sorted({*y.flatten().tolist()}) in ([0.0], [2.0], [0.0, 2.0])
        True
    See: Tompson et al., Efficient Object Localization Using Convolutional Networks, 2015.
    """

    def __init__(self, p: float = 0.5, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        self.p = p
        self.data_format = data_format
        self.name = name

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, p=self.p, training=self.training, data_format=self.data_format)

    def extra_repr(self) -> str:
        return show(self.name, p=self.p, data_format=self.data_format)


class Dropout3D(Layer):
    """Sets whole channels of volumes to zero with probability p, in training.

    Args:
        p: float between 0 and 1.
        data_format: "NCDHW" or "NDHWC".
    Example:
        >>> paddle.nn.Dropout3D(0.5)(paddle.ones([1, 2, 2, 2, 2])).shape
        paddle.Size([1, 2, 2, 2, 2])
    """

    def __init__(self, p: float = 0.5, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__()
        self.p = p
        self.data_format = data_format
        self.name = name

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, p=self.p, training=self.training, data_format=self.data_format)

    def extra_repr(self) -> str:
        return show(self.name, p=self.p, data_format=self.data_format)


class AlphaDropout(Layer):
    """Dropout that keeps mean and variance, for use with SELU.

    Args:
        p: float between 0 and 1.
    Raises:
        ValueError: p is not allowed (when called).
    Example:
        >>> paddle.nn.AlphaDropout(0.5).eval()(paddle.ones([2])).tolist()
        [1.0, 1.0]
    See: Klambauer et al., Self-Normalizing Neural Networks, 2017.
    """

    def __init__(self, p: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self.p = p
        self.name = name

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, p=self.p, training=self.training)

    def extra_repr(self) -> str:
        return show(self.name, p=self.p)


class FeatureAlphaDropout(AlphaDropout):
    """Like AlphaDropout, for whole channels.

    Args:
        p: float between 0 and 1.
    Example:
        >>> paddle.nn.FeatureAlphaDropout(0.5).eval()(paddle.ones([1, 2, 2])).shape
        paddle.Size([1, 2, 2])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, p=self.p, training=self.training)


__all__ = ["AlphaDropout", "Dropout", "Dropout2D", "Dropout3D", "FeatureAlphaDropout"]
