"""MobileNet, version 3, small and large."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from paddle_jax import nn
from paddle_jax.vision.models._utils import _make_divisible, urls, with_weights
from paddle_jax.vision.ops import ConvNormActivation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.layers import Layer

__all__ = []

model_urls: dict[str, tuple[str, str]] = urls(
    {
        "mobilenet_v3_small_x1.0": "34fe0e7c1f8b00b2b056ad6788d0590c",
        "mobilenet_v3_large_x1.0": "118db5792b4e183b925d8e8e334db3df",
    }
)
_SMALL = [  # channels before, kernel, channels between and after, squeeze and excitation, activation, stride
    (16, 3, 16, 16, True, "relu", 2),
    (16, 3, 72, 24, False, "relu", 2),
    (24, 3, 88, 24, False, "relu", 1),
    (24, 5, 96, 40, True, "hardswish", 2),
    (40, 5, 240, 40, True, "hardswish", 1),
    (40, 5, 240, 40, True, "hardswish", 1),
    (40, 5, 120, 48, True, "hardswish", 1),
    (48, 5, 144, 48, True, "hardswish", 1),
    (48, 5, 288, 96, True, "hardswish", 2),
    (96, 5, 576, 96, True, "hardswish", 1),
    (96, 5, 576, 96, True, "hardswish", 1),
]
_LARGE = [
    (16, 3, 16, 16, False, "relu", 1),
    (16, 3, 64, 24, False, "relu", 2),
    (24, 3, 72, 24, False, "relu", 1),
    (24, 5, 72, 40, True, "relu", 2),
    (40, 5, 120, 40, True, "relu", 1),
    (40, 5, 120, 40, True, "relu", 1),
    (40, 3, 240, 80, False, "hardswish", 2),
    (80, 3, 200, 80, False, "hardswish", 1),
    (80, 3, 184, 80, False, "hardswish", 1),
    (80, 3, 184, 80, False, "hardswish", 1),
    (80, 3, 480, 112, True, "hardswish", 1),
    (112, 3, 672, 112, True, "hardswish", 1),
    (112, 5, 672, 160, True, "hardswish", 2),
    (160, 5, 960, 160, True, "hardswish", 1),
    (160, 5, 960, 160, True, "hardswish", 1),
]


class SqueezeExcitation(nn.Layer):
    """Scales each channel by a factor computed from the means of all channels.

    Args:
        input_channels, squeeze_channels: int, channels of the input and between the two 1x1 convolutions.
        activation, scale_activation: called without arguments, give the Layers after the first and the
            second. Default ReLU and Sigmoid.
    Example:
        >>> paddle.vision.models.mobilenetv3.SqueezeExcitation(8, 2)(paddle.zeros([1, 8, 4, 4])).shape
        paddle.Size([1, 8, 4, 4])
    See:
        Hu et al., arXiv 1709.01507.
    """

    def __init__(
        self,
        input_channels: int,
        squeeze_channels: int,
        activation: type[Layer] = nn.ReLU,
        scale_activation: type[Layer] = nn.Sigmoid,
    ) -> None:
        super().__init__()
        self.avgpool: nn.AdaptiveAvgPool2D = nn.AdaptiveAvgPool2D(1)
        self.fc1: nn.Conv2D = nn.Conv2D(input_channels, squeeze_channels, 1)
        self.fc2: nn.Conv2D = nn.Conv2D(squeeze_channels, input_channels, 1)
        self.activation: Layer = activation()
        self.scale_activation: Layer = scale_activation()

    def forward(self, input: Tensor) -> Tensor:
        """`input` with its channels scaled."""
        scale = self.activation(self.fc1(self.avgpool(input)))
        return input * self.scale_activation(self.fc2(scale))


class InvertedResidualConfig:
    """What one block is made with; channel counts are multiplied by `scale` and rounded to multiples of 8.

    Args:
        in_channels, expanded_channels, out_channels: int, channels before, in between and after.
        kernel: int, size of the depthwise convolution.
        use_se: bool, with squeeze and excitation.
        activation: "relu", or anything else for hard swish.
        stride: int, of the depthwise convolution.
        scale: float. Default 1.0.
    Attributes:
        kernel, use_se, stride: as given.
        in_channels, expanded_channels, out_channels: int, scaled.
        activation_layer: type, nn.ReLU or nn.Hardswish, or None.
    Example:
        >>> paddle.vision.models.mobilenetv3.InvertedResidualConfig(16, 3, 64, 24, False, "relu", 2,
        ...                                                         scale=0.5).out_channels
        16
    """

    def __init__(
        self,
        in_channels: int,
        kernel: int,
        expanded_channels: int,
        out_channels: int,
        use_se: bool,
        activation: str,
        stride: int,
        scale: float = 1.0,
    ) -> None:
        self.in_channels: int = self.adjust_channels(in_channels, scale)
        self.kernel = kernel
        self.expanded_channels: int = self.adjust_channels(expanded_channels, scale)
        self.out_channels: int = self.adjust_channels(out_channels, scale)
        self.use_se = use_se
        if activation == "relu":
            self.activation_layer = nn.ReLU
        else:
            self.activation_layer = nn.Hardswish
        self.stride = stride

    @staticmethod
    def adjust_channels(channels: int, scale: float = 1.0) -> int:
        """channels * scale as a multiple of 8."""
        return _make_divisible(channels * scale, 8)


class InvertedResidual(nn.Layer):
    """Widening 1x1 convolution, depthwise convolution, squeeze and excitation, narrowing 1x1 convolution;
    added to the input where shapes agree.

    Args:
        in_channels, expanded_channels, out_channels: int, channels before, in between and after.
        filter_size: int, size of the depthwise convolution.
        stride: int, of the depthwise convolution.
        use_se: bool, with squeeze and excitation.
        activation_layer: called without arguments, gives a Layer.
        norm_layer: called with a number of channels, gives a Layer.
    Attributes:
        use_res_connect: bool, whether the input is added to the result.
        use_se: bool, whether there is mid_se.
        expand: bool, whether there is expand_conv.
        bottleneck_conv, linear_conv, expand_conv: ConvNormActivation.
        mid_se: SqueezeExcitation.
    Example:
        >>> block = paddle.vision.models.mobilenetv3.InvertedResidual(8, 16, 8, 3, 1, True, paddle.nn.ReLU,
        ...                                                           paddle.nn.BatchNorm2D)
        >>> block(paddle.zeros([1, 8, 4, 4])).shape
        paddle.Size([1, 8, 4, 4])
    """

    expand: bool
    use_se: bool

    def __init__(
        self,
        in_channels: int,
        expanded_channels: int,
        out_channels: int,
        filter_size: int,
        stride: int,
        use_se: bool,
        activation_layer: type[Layer],
        norm_layer: type[Layer],
    ) -> None:
        super().__init__()
        self.use_res_connect: bool = stride == 1 and in_channels == out_channels
        self.use_se, self.expand = use_se, in_channels != expanded_channels
        shared = {"norm_layer": norm_layer, "activation_layer": activation_layer}
        if self.expand:
            self.expand_conv: ConvNormActivation = ConvNormActivation(
                in_channels, expanded_channels, 1, stride=1, padding=0, **shared
            )
        self.bottleneck_conv: ConvNormActivation = ConvNormActivation(
            expanded_channels,
            expanded_channels,
            filter_size,
            stride=stride,
            padding=(filter_size - 1) // 2,
            groups=expanded_channels,
            **shared,
        )
        if use_se:
            self.mid_se: SqueezeExcitation = SqueezeExcitation(
                expanded_channels, _make_divisible(expanded_channels // 4), scale_activation=nn.Hardsigmoid
            )
        # As in MobileNetV2 the narrow end has no activation.
        self.linear_conv: ConvNormActivation = ConvNormActivation(
            expanded_channels,
            out_channels,
            1,
            stride=1,
            padding=0,
            norm_layer=norm_layer,
            activation_layer=None,
        )

    def forward(self, x: Tensor) -> Tensor:
        """The block's output for `x`."""
        y = self.bottleneck_conv(self.expand_conv(x) if self.expand else x)
        y = self.linear_conv(self.mid_se(y) if self.use_se else y)
        if self.use_res_connect:
            return x + y
        return y


class MobileNetV3(nn.Layer):
    """A convolution, inverted residual blocks, a 1x1 convolution, the mean over positions, two dense layers.

    Args:
        config: list of InvertedResidualConfig, one for each block.
        last_channel: int, length of the layer before the last.
        scale: float, factor of the channel counts. Default 1.0.
        num_classes: int, length of the output. 0 or less leaves the dense layers out. Default 1000.
        with_pool: bool, take the mean over positions. Default True. Without it the dense layers only fit
            where one position is left.
    Attributes:
        config, scale, last_channel, num_classes, with_pool: as given.
        firstconv_in_channels, lastconv_in_channels, lastconv_out_channels: int.
        conv, lastconv: ConvNormActivation.
        blocks, classifier: Sequential.
        avgpool: AdaptiveAvgPool2D.
    Shape:
        input: [N, 3, H, W]; output: [N, num_classes]; without dense layers [N, C, 1, 1], without the mean
        [N, C, H / 32, W / 32].
    Example:
        >>> paddle.vision.models.MobileNetV3Small(0.5, num_classes=10)(paddle.zeros([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    See:
        Howard et al., arXiv 1905.02244.
    """

    def __init__(
        self,
        config: Sequence[InvertedResidualConfig],
        last_channel: int,
        scale: float = 1.0,
        num_classes: int = 1000,
        with_pool: bool = True,
    ) -> None:
        super().__init__()
        self.config = config
        self.scale = scale
        self.last_channel = last_channel
        self.num_classes = num_classes
        self.with_pool = with_pool
        self.firstconv_in_channels: int = config[0].in_channels
        self.lastconv_in_channels: int = config[-1].out_channels
        self.lastconv_out_channels: int = self.lastconv_in_channels * 6
        norm = functools.partial(nn.BatchNorm2D, epsilon=0.001, momentum=0.99)
        shared = {"norm_layer": norm, "activation_layer": nn.Hardswish}
        self.conv: ConvNormActivation = ConvNormActivation(
            3, self.firstconv_in_channels, 3, stride=2, padding=1, **shared
        )
        self.blocks: nn.Sequential = nn.Sequential(
            *(
                InvertedResidual(
                    c.in_channels,
                    c.expanded_channels,
                    c.out_channels,
                    c.kernel,
                    c.stride,
                    c.use_se,
                    c.activation_layer,
                    norm,
                )
                for c in config
            )
        )
        self.lastconv: ConvNormActivation = ConvNormActivation(
            self.lastconv_in_channels, self.lastconv_out_channels, 1, stride=1, padding=0, **shared
        )
        if with_pool:
            self.avgpool: nn.AdaptiveAvgPool2D = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier: nn.Sequential = nn.Sequential(
                nn.Linear(self.lastconv_out_channels, last_channel),
                nn.Hardswish(),
                nn.Dropout(0.2),
                nn.Linear(last_channel, num_classes),
            )

    def forward(self, x: Tensor) -> Tensor:
        """The class scores of `x`, before softmax, or its features."""
        x = self.lastconv(self.blocks(self.conv(x)))
        if self.with_pool:
            x = self.avgpool(x)
        if self.num_classes > 0:
            return self.classifier(x.flatten(1))
        return x


class MobileNetV3Small(MobileNetV3):
    """MobileNetV3 with eleven blocks. Arguments as for `MobileNetV3`.

    Args:
        scale: float, factor of the channel counts. Default 1.0.
        num_classes: int, the classes; 0 for no classifier. Default 1000.
        with_pool: bool, average over the image before the classifier. Default True.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.MobileNetV3Small()
        >>> int(sum(p.size for p in net.parameters()))
        2554968
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        config = [InvertedResidualConfig(*row, scale) for row in _SMALL]
        super().__init__(
            config,
            _make_divisible(1024 * scale, 8),
            scale=scale,
            num_classes=num_classes,
            with_pool=with_pool,
        )


class MobileNetV3Large(MobileNetV3):
    """MobileNetV3 with fifteen blocks. Arguments as for `MobileNetV3`.

    Args:
        scale: float, factor of the channel counts. Default 1.0.
        num_classes: int, the classes; 0 for no classifier. Default 1000.
        with_pool: bool, average over the image before the classifier. Default True.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.MobileNetV3Large()
        >>> int(sum(p.size for p in net.parameters()))
        5507432
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        config = [InvertedResidualConfig(*row, scale) for row in _LARGE]
        super().__init__(
            config,
            _make_divisible(1280 * scale, 8),
            scale=scale,
            num_classes=num_classes,
            with_pool=with_pool,
        )


def mobilenet_v3_small(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Small:
    """MobileNet, version 3, with eleven blocks.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
        scale: float, factor of the channel counts; weights are published for 1.0. Default 1.0.
        **kwargs: `num_classes`, `with_pool` of `MobileNetV3Small`.
    Returns:
        A MobileNetV3Small.
    Raises:
        AssertionError: `pretrained` and no weights are published for this scale.
        RuntimeError: the weights are neither there nor to be downloaded.
    Example:
        >>> len(paddle.vision.models.mobilenet_v3_small(scale=0.5).state_dict())
        210
    """
    return with_weights(
        MobileNetV3Small(scale=scale, **kwargs), f"mobilenet_v3_small_x{scale}", pretrained, model_urls
    )


def mobilenet_v3_large(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV3Large:
    """MobileNet, version 3, with fifteen blocks.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
        scale: float, factor of the channel counts; weights are published for 1.0. Default 1.0.
    Returns:
        A MobileNetV3Large.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.mobilenet_v3_large()
        >>> int(sum(p.size for p in net.parameters()))
        5507432
    """
    return with_weights(
        MobileNetV3Large(scale=scale, **kwargs), f"mobilenet_v3_large_x{scale}", pretrained, model_urls
    )
