"""A convolution with normalisation and activation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax import nn

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddle_jax._annotations import Padding, Size
    from paddle_jax.nn.layer.layers import Layer


class ConvNormActivation(nn.Sequential):
    """A 2-d convolution, then normalisation, then an activation, as the sublayers "0", "1" and "2".

    Args:
        in_channels: int.
        out_channels: int.
        kernel_size: int or pair. Default 3.
        stride: int or pair. Default 1.
        padding: as in Conv2D. Default: what keeps height and width at stride 1, for an int kernel_size.
        groups: int. Default 1.
        norm_layer: called with the number of channels, gives a Layer; None for no normalisation.
            Default BatchNorm2D.
        activation_layer: called without arguments, gives a Layer; None for no activation. Default ReLU.
        dilation: int. Default 1.
        bias: bool, whether the convolution has a bias. Default: only without normalisation.
    Shape:
        input: [N, in_channels, H, W]; output: [N, out_channels, H', W'].
    Example:
        >>> paddle.vision.ops.ConvNormActivation(3, 8, stride=2)(paddle.zeros([1, 3, 8, 8])).shape
        paddle.Size([1, 8, 4, 4])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size = 3,
        stride: Size = 1,
        padding: Padding | None = None,
        groups: int = 1,
        norm_layer: Callable[..., Layer] = nn.BatchNorm2D,
        activation_layer: Callable[..., Layer] = nn.ReLU,
        dilation: Size = 1,
        bias: bool | None = None,
    ) -> None:
        if padding is None:
            # The output is as large as the input, at stride 1.
            padding = (kernel_size - 1) // 2 * dilation
        if bias is None:
            # A normalisation has a bias of its own.
            bias = norm_layer is None
        layers = [
            nn.Conv2D(
                in_channels,
                out_channels,
                kernel_size,
                stride,
                padding,
                dilation=dilation,
                groups=groups,
                bias_attr=None if bias else False,
            )
        ]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer())
        super().__init__(*layers)


__all__ = ["ConvNormActivation"]
