"""MobileNet, version 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax import nn
from paddle_jax.vision.models._utils import _make_divisible, with_weights
from paddle_jax.vision.ops import ConvNormActivation

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.layers import Layer

__all__ = []

model_urls: dict[str, tuple[str, str]] = {
    "mobilenetv2_1.0": (
        "https://paddle-hapi.bj.bcebos.com/models/mobilenet_v2_x1.0.pdparams",
        "0340af0a901346c8d46f4529882fb63d",
    ),
}
_STAGES = [  # expansion, channels, blocks, stride
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
]


class InvertedResidual(nn.Layer):
    """Widening 1x1 convolution, 3x3 convolution of each channel alone, narrowing 1x1 convolution; added to
    the input where shapes agree.

    Args:
        inp, oup: int, channels of input and output.
        stride: int, 1 or 2, of the 3x3 convolution.
        expand_ratio: factor of the channels in between; 1 leaves the widening convolution out.
        norm_layer: called with a number of channels, gives a Layer. Default BatchNorm2D.
    Example:
        >>> paddle.vision.models.mobilenetv2.InvertedResidual(8, 16, 2, 6)(paddle.zeros([1, 8, 4, 4])).shape
        paddle.Size([1, 16, 2, 2])
    """

    use_res_connect: bool

    def __init__(
        self, inp: int, oup: int, stride: int, expand_ratio: int, norm_layer: type[Layer] = nn.BatchNorm2D
    ) -> None:
        super().__init__()
        if stride not in (1, 2):
            raise AssertionError(f"InvertedResidual: stride: got {stride}; allowed are 1 and 2")
        self.stride, self.use_res_connect = stride, stride == 1 and inp == oup
        hidden = int(round(inp * expand_ratio))
        shared = {"norm_layer": norm_layer, "activation_layer": nn.ReLU6}
        if expand_ratio != 1:
            # Without an expansion there is nothing to widen.
            layers = [ConvNormActivation(inp, hidden, 1, **shared)]
        else:
            layers = []
        layers += [
            ConvNormActivation(hidden, hidden, stride=stride, groups=hidden, **shared),
            nn.Conv2D(hidden, oup, 1, bias_attr=False),
            norm_layer(oup),
        ]
        self.conv: nn.Sequential = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        """The block's output for `x`."""
        if self.use_res_connect:
            return x + self.conv(x)
        return self.conv(x)


class MobileNetV2(nn.Layer):
    """A convolution, seventeen inverted residual blocks, a 1x1 convolution, the mean over
    positions, a dense layer.

    Args:
        scale: float, factor of the channel counts, which are rounded to multiples of 8. Default 1.0.
        num_classes: int, length of the output. 0 or less leaves the dense layer out. Default 1000.
        with_pool: bool, take the mean over positions. Default True. Without it the dense layer only fits
            where one position is left.
    Attributes:
        num_classes, with_pool: as given.
        last_channel: int, the channels before the classifier.
        features, classifier: Sequential.
        pool2d_avg: AdaptiveAvgPool2D.
    Shape:
        input: [N, 3, H, W]; output: [N, num_classes]; without dense layer [N, C, 1, 1], without the mean
        [N, C, H / 32, W / 32].
    Example:
        >>> paddle.vision.models.MobileNetV2(0.25, num_classes=10)(paddle.zeros([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    See:
        Sandler et al., arXiv 1801.04381.
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.with_pool = with_pool
        # A narrow network keeps the width of the last layer.
        self.last_channel: int = _make_divisible(1280 * max(1.0, scale))
        shared = {"norm_layer": nn.BatchNorm2D, "activation_layer": nn.ReLU6}
        before = _make_divisible(32 * scale)
        layers = [ConvNormActivation(3, before, stride=2, **shared)]
        for expansion, channels, blocks, stride in _STAGES:
            after = _make_divisible(channels * scale)
            for block in range(blocks):
                # Only the first block of a stage has its stride.
                layers.append(InvertedResidual(before, after, 1 if block else stride, expansion))
                before = after
        layers.append(ConvNormActivation(before, self.last_channel, 1, **shared))
        self.features: nn.Sequential = nn.Sequential(*layers)
        if with_pool:
            self.pool2d_avg: nn.AdaptiveAvgPool2D = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier: nn.Sequential = nn.Sequential(
                nn.Dropout(0.2), nn.Linear(self.last_channel, num_classes)
            )

    def forward(self, x: Tensor) -> Tensor:
        """The class scores of `x`, before softmax, or its features."""
        x = self.features(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        if self.num_classes > 0:
            return self.classifier(x.flatten(1))
        return x


def mobilenet_v2(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV2:
    """MobileNet, version 2.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
        scale: float, factor of the channel counts; weights are published for 1.0. Default 1.0.
        **kwargs: `num_classes`, `with_pool` of `MobileNetV2`.
    Returns:
        A MobileNetV2.
    Raises:
        AssertionError: `pretrained` and no weights are published for this scale.
        RuntimeError: the weights are neither there nor to be downloaded.
    Example:
        >>> len(paddle.vision.models.mobilenet_v2(scale=0.25).state_dict())
        262
    """
    return with_weights(MobileNetV2(scale=scale, **kwargs), f"mobilenetv2_{scale}", pretrained, model_urls)
