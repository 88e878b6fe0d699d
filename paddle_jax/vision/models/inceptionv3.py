"""Inception, version 3."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from paddle_jax import nn
from paddle_jax.tensor.joining import concat
from paddle_jax.vision.models._utils import uniform, urls, with_weights
from paddle_jax.vision.ops import ConvNormActivation

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.layers import Layer

__all__ = []

model_urls: dict[str, tuple[str, str]] = urls({"inception_v3": "649a4547c3243e8b59c656f41fe330b8"})


def _chain(layer: Layer, name: str, channels: int, *steps: Any) -> None:
    """Adds convolutions name_1, name_2, ... that follow each other; a step is (channels, kernel) or
    (channels, kernel, stride, padding)."""
    for number, (width, kernel, *rest) in enumerate(steps, 1):
        # Without them a step keeps the size: stride 1, and half the kernel as padding.
        stride, padding = rest or (
            1,
            tuple(k // 2 for k in kernel) if isinstance(kernel, tuple) else kernel // 2,
        )
        setattr(
            layer,
            f"{name}_{number}" if len(steps) > 1 else name,
            ConvNormActivation(channels, width, kernel, stride=stride, padding=padding),
        )
        channels = width


def _run(layer: Layer, name: str, x: Tensor, length: int) -> Tensor:
    for number in range(1, length + 1):
        x = getattr(layer, f"{name}_{number}")(x)
    return x


class InceptionStem(nn.Layer):
    """Five convolutions and two poolings: what the network begins with. [N, 3, H, W] to [N, 192, H', W']."""

    def __init__(self) -> None:
        super().__init__()
        _chain(self, "conv_1a_3x3", 3, (32, 3, 2, 0))
        _chain(self, "conv_2a_3x3", 32, (32, 3, 1, 0))
        _chain(self, "conv_2b_3x3", 32, (64, 3))
        self.max_pool: nn.MaxPool2D = nn.MaxPool2D(3, stride=2, padding=0)
        _chain(self, "conv_3b_1x1", 64, (80, 1))
        _chain(self, "conv_4a_3x3", 80, (192, 3, 1, 0))

    def forward(self, x: Tensor) -> Tensor:
        """The block's output for `x`."""
        x = self.max_pool(self.conv_2b_3x3(self.conv_2a_3x3(self.conv_1a_3x3(x))))
        return self.max_pool(self.conv_4a_3x3(self.conv_3b_1x1(x)))


class InceptionA(nn.Layer):
    """Paths with 1x1, 5x5, two 3x3 convolutions and mean pooling.

    Args:
        num_channels: int, channels of the input.
        pool_features: int, channels of the pooled path; the output has 224 more.
    """

    def __init__(self, num_channels: int, pool_features: int) -> None:
        super().__init__()
        _chain(self, "branch1x1", num_channels, (64, 1))
        _chain(self, "branch5x5", num_channels, (48, 1), (64, 5))
        _chain(self, "branch3x3dbl", num_channels, (64, 1), (96, 3), (96, 3))
        self.branch_pool: nn.AvgPool2D = nn.AvgPool2D(3, stride=1, padding=1, exclusive=False)
        _chain(self, "branch_pool_conv", num_channels, (pool_features, 1))

    def forward(self, x: Tensor) -> Tensor:
        """The block's output for `x`."""
        return concat(
            [
                self.branch1x1(x),
                _run(self, "branch5x5", x, 2),
                _run(self, "branch3x3dbl", x, 3),
                self.branch_pool_conv(self.branch_pool(x)),
            ],
            1,
        )


class InceptionB(nn.Layer):
    """Halves height and width: paths with one and two 3x3 convolutions and maximum pooling.

    Args:
        num_channels: int, channels of the input; the output has 480 more.
    """

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        _chain(self, "branch3x3", num_channels, (384, 3, 2, 0))
        _chain(self, "branch3x3dbl", num_channels, (64, 1), (96, 3), (96, 3, 2, 0))
        self.branch_pool: nn.MaxPool2D = nn.MaxPool2D(3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        """The block's output for `x`."""
        return concat([self.branch3x3(x), _run(self, "branch3x3dbl", x, 3), self.branch_pool(x)], 1)


class InceptionC(nn.Layer):
    """Paths with a 1x1 convolution, one and two 7x7 convolutions in two steps each, and mean pooling.

    Args:
        num_channels: int, channels of the input; the output has 768.
        channels_7x7: int, channels between the convolutions.
    """

    def __init__(self, num_channels: int, channels_7x7: int) -> None:
        super().__init__()
        width = channels_7x7
        _chain(self, "branch1x1", num_channels, (192, 1))
        _chain(self, "branch7x7", num_channels, (width, 1), (width, (1, 7)), (192, (7, 1)))
        _chain(
            self,
            "branch7x7dbl",
            num_channels,
            (width, 1),
            (width, (7, 1)),
            (width, (1, 7)),
            (width, (7, 1)),
            (192, (1, 7)),
        )
        self.branch_pool: nn.AvgPool2D = nn.AvgPool2D(3, stride=1, padding=1, exclusive=False)
        _chain(self, "branch_pool_conv", num_channels, (192, 1))

    def forward(self, x: Tensor) -> Tensor:
        """The block's output for `x`."""
        return concat(
            [
                self.branch1x1(x),
                _run(self, "branch7x7", x, 3),
                _run(self, "branch7x7dbl", x, 5),
                self.branch_pool_conv(self.branch_pool(x)),
            ],
            1,
        )


class InceptionD(nn.Layer):
    """Halves height and width: paths with a 3x3, with a 7x7 and a 3x3 convolution, and maximum pooling.

    Args:
        num_channels: int, channels of the input; the output has 512 more.
    """

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        _chain(self, "branch3x3", num_channels, (192, 1), (320, 3, 2, 0))
        _chain(self, "branch7x7x3", num_channels, (192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, 2, 0))
        self.branch_pool: nn.MaxPool2D = nn.MaxPool2D(3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        """The block's output for `x`."""
        return concat(
            [_run(self, "branch3x3", x, 2), _run(self, "branch7x7x3", x, 4), self.branch_pool(x)], 1
        )


class InceptionE(nn.Layer):
    """Paths that end in a 1x3 and a 3x1 convolution side by side.

    Args:
        num_channels: int, channels of the input; the output has 2048.
    """

    def __init__(self, num_channels: int) -> None:
        super().__init__()
        _chain(self, "branch1x1", num_channels, (320, 1))
        _chain(self, "branch3x3_1", num_channels, (384, 1))
        _chain(self, "branch3x3_2a", 384, (384, (1, 3)))
        _chain(self, "branch3x3_2b", 384, (384, (3, 1)))
        _chain(self, "branch3x3dbl", num_channels, (448, 1), (384, 3))
        _chain(self, "branch3x3dbl_3a", 384, (384, (1, 3)))
        _chain(self, "branch3x3dbl_3b", 384, (384, (3, 1)))
        self.branch_pool: nn.AvgPool2D = nn.AvgPool2D(3, stride=1, padding=1, exclusive=False)
        _chain(self, "branch_pool_conv", num_channels, (192, 1))

    def forward(self, x: Tensor) -> Tensor:
        """The block's output for `x`."""
        first = self.branch3x3_1(x)
        second = _run(self, "branch3x3dbl", x, 2)
        return concat(
            [
                self.branch1x1(x),
                self.branch3x3_2a(first),
                self.branch3x3_2b(first),
                self.branch3x3dbl_3a(second),
                self.branch3x3dbl_3b(second),
                self.branch_pool_conv(self.branch_pool(x)),
            ],
            1,
        )


class InceptionV3(nn.Layer):
    """Convolutions, eleven inception blocks, the mean over positions, a dense layer.

    Args:
        num_classes: int, length of the output. 0 or less leaves the dense layer out. Default 1000.
        with_pool: bool, take the mean over positions. Default True.
    Attributes:
        num_classes, with_pool: as given.
        inception_stem: InceptionStem.
        inception_block_list: LayerList of the blocks.
        avg_pool: AdaptiveAvgPool2D.
        dropout: Dropout.
        fc: Linear.
    Shape:
        input: [N, 3, H, W], at least 75 x 75; output: [N, num_classes]; without dense layer [N, 2048, 1, 1].
    Example:
        >>> paddle.vision.models.InceptionV3(num_classes=10)(paddle.zeros([1, 3, 75, 75])).shape
        paddle.Size([1, 10])
    See:
        Szegedy et al., arXiv 1512.00567.
    """

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.inception_stem: InceptionStem = InceptionStem()
        self.inception_block_list: nn.LayerList = nn.LayerList(
            [
                InceptionA(192, 32),
                InceptionA(256, 64),
                InceptionA(288, 64),
                InceptionB(288),
                InceptionC(768, 128),
                InceptionC(768, 160),
                InceptionC(768, 160),
                InceptionC(768, 192),
                InceptionD(768),
                InceptionE(1280),
                InceptionE(2048),
            ]
        )
        if with_pool:
            self.avg_pool: nn.AdaptiveAvgPool2D = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.dropout: nn.Dropout = nn.Dropout(0.2, mode="downscale_in_infer")
            self.fc: nn.Linear = nn.Linear(2048, num_classes, weight_attr=uniform(1 / math.sqrt(2048)))

    def forward(self, x: Tensor) -> Tensor:
        """The class scores of `x`, before softmax, or its features. Without the mean each position
        has its own row."""
        x = self.inception_stem(x)
        for block in self.inception_block_list:
            x = block(x)
        if self.with_pool:
            x = self.avg_pool(x)
        if self.num_classes > 0:
            return self.fc(self.dropout(x.reshape([-1, 2048])))
        return x


def inception_v3(pretrained: bool = False, **kwargs: Any) -> InceptionV3:
    """Inception, version 3.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
        **kwargs: `num_classes`, `with_pool` of `InceptionV3`.
    Returns:
        An InceptionV3.
    Raises:
        RuntimeError: the weights are neither there nor to be downloaded.
    Example:
        >>> len(paddle.vision.models.inception_v3().state_dict())
        472
    """
    return with_weights(InceptionV3(**kwargs), "inception_v3", pretrained, model_urls)
