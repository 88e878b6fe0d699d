"""MobileNet, version 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax import nn
from paddle_jax.vision.models._utils import urls, with_weights
from paddle_jax.vision.ops import ConvNormActivation

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.layers import Layer

__all__ = []

model_urls: dict[str, tuple[str, str]] = urls({"mobilenetv1_1.0": "3033ab1975b1670bef51545feb65fc45"})
_BLOCKS = [  # name, channels before and after, stride
    ("conv2_1", 32, 64, 1),
    ("conv2_2", 64, 128, 2),
    ("conv3_1", 128, 128, 1),
    ("conv3_2", 128, 256, 2),
    ("conv4_1", 256, 256, 1),
    ("conv4_2", 256, 512, 2),
    *((f"conv5_{i}", 512, 512, 1) for i in range(1, 6)),
    ("conv5_6", 512, 1024, 2),
    ("conv6", 1024, 1024, 1),
]


class DepthwiseSeparable(nn.Layer):
    """A 3x3 convolution of each channel alone, then a 1x1 convolution; both with batch norm and ReLU.

    Args:
        in_channels, out_channels1, out_channels2: int, channels before, between and after; the latter two are
            multiplied by `scale`.
        num_groups: int, groups of the 3x3 convolution, multiplied by `scale`.
        stride: stride of the 3x3 convolution.
        scale: float.
    Example:
        >>> paddle.vision.models.mobilenetv1.DepthwiseSeparable(8, 8, 16, 8, 2,
        ...                                                     1.0)(paddle.zeros([1, 8, 4, 4])).shape
        paddle.Size([1, 16, 2, 2])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels1: int,
        out_channels2: int,
        num_groups: int,
        stride: int,
        scale: float,
    ) -> None:
        super().__init__()
        middle = int(out_channels1 * scale)
        self._depthwise_conv = ConvNormActivation(
            in_channels, middle, 3, stride=stride, padding=1, groups=int(num_groups * scale)
        )
        self._pointwise_conv = ConvNormActivation(middle, int(out_channels2 * scale), 1, stride=1, padding=0)

    def forward(self, x: Tensor) -> Tensor:
        """The block's output for `x`."""
        return self._pointwise_conv(self._depthwise_conv(x))


class MobileNetV1(nn.Layer):
    """A convolution, thirteen depthwise separable ones, the mean over positions, a dense layer.

    Args:
        scale: float, factor of all channel counts. Default 1.0.
        num_classes: int, length of the output. 0 or less leaves the dense layer out. Default 1000.
        with_pool: bool, take the mean over positions. Default True. Without it the dense layer only fits
            where one position is left.
    Attributes:
        scale, num_classes, with_pool: as given.
        dwsl: list of DepthwiseSeparable layers.
        conv1: ConvNormActivation.
        pool2d_avg: AdaptiveAvgPool2D.
        fc: Linear.
    Shape:
        input: [N, 3, H, W]; output: [N, num_classes]; without dense layer [N, C, 1, 1], without the mean
        [N, C, H / 32, W / 32].
    Example:
        >>> paddle.vision.models.MobileNetV1(0.25, num_classes=10)(paddle.zeros([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    See:
        Howard et al., arXiv 1704.04861.
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.scale = scale
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.conv1: ConvNormActivation = ConvNormActivation(3, int(32 * scale), 3, stride=2, padding=1)
        self.dwsl: list[Layer | None] = [
            self.add_sublayer(
                name, DepthwiseSeparable(int(before * scale), before, after, before, stride, scale)
            )
            for name, before, after, stride in _BLOCKS
        ]
        if with_pool:
            self.pool2d_avg: nn.AdaptiveAvgPool2D = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.fc: nn.Linear = nn.Linear(int(1024 * scale), num_classes)

    def forward(self, x: Tensor) -> Tensor:
        """The class scores of `x`, before softmax, or its features."""
        x = self.conv1(x)
        for block in self.dwsl:
            x = block(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        if self.num_classes > 0:
            return self.fc(x.flatten(1))
        return x


def mobilenet_v1(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV1:
    """MobileNet, version 1.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
        scale: float, factor of all channel counts; weights are published for 1.0. Default 1.0.
        **kwargs: `num_classes`, `with_pool` of `MobileNetV1`.
    Returns:
        A MobileNetV1.
    Raises:
        AssertionError: `pretrained` and no weights are published for this scale.
        RuntimeError: the weights are neither there nor to be downloaded.
    Example:
        >>> len(paddle.vision.models.mobilenet_v1(scale=0.25).state_dict())
        137
    """
    return with_weights(MobileNetV1(scale=scale, **kwargs), f"mobilenetv1_{scale}", pretrained, model_urls)
