"""ShuffleNet, version 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax import nn
from paddle_jax.nn import functional as F
from paddle_jax.tensor.joining import concat, split
from paddle_jax.vision.models._utils import urls, with_weights
from paddle_jax.vision.ops import ConvNormActivation

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.layers import Layer

__all__ = []

model_urls: dict[str, tuple[str, str]] = urls(
    {
        "shufflenet_v2_x0_25": "1e509b4c140eeb096bb16e214796d03b",
        "shufflenet_v2_x0_33": "3d7b3ab0eaa5c0927ff1026d31b729bd",
        "shufflenet_v2_x0_5": "5e5cee182a7793c4e4c73949b1a71bd4",
        "shufflenet_v2_x1_0": "122d42478b9e81eb49f8a9ede327b1a4",
        "shufflenet_v2_x1_5": "faced5827380d73531d0ee027c67826d",
        "shufflenet_v2_x2_0": "cd3dddcd8305e7bcd8ad14d1c69a5784",
        "shufflenet_v2_swish": "adde0aa3b023e5b0c94a68be1c394b84",
    }
)
_REPEATS = (4, 8, 4)  # blocks in each stage
_CHANNELS = {  # scale -> channels of the three stages and of the last convolution
    0.25: (24, 48, 96, 512),
    0.33: (32, 64, 128, 512),
    0.5: (48, 96, 192, 1024),
    1.0: (116, 232, 464, 1024),
    1.5: (176, 352, 704, 1024),
    2.0: (224, 488, 976, 2048),
}


def create_activation_layer(act: str | None) -> type[Layer] | None:
    """The class of the activation "relu" or "swish"; None for None.

    Raises:
        RuntimeError: another name.
    """
    kinds = {"swish": nn.Swish, "relu": nn.ReLU, None: None}
    if act not in kinds:
        raise RuntimeError(f"ShuffleNetV2: act: got {act!r}; allowed are 'relu', 'swish' and None")
    return kinds[act]


def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    """`x` [N, C, H, W] with its channels cut into groups and interleaved."""
    return F.channel_shuffle(x, groups)


class InvertedResidual(nn.Layer):
    """Half of the channels as they are, the other half through a 1x1, a depthwise 3x3 and a 1x1 convolution;
    then interleaved.

    Args:
        in_channels, out_channels: int, the same even number.
        stride: of the depthwise convolution, 1.
        activation_layer: called without arguments, gives a Layer. Default ReLU.
    Example:
        >>> paddle.vision.models.shufflenetv2.InvertedResidual(8, 8, 1)(paddle.zeros([1, 8, 3, 3])).shape
        paddle.Size([1, 8, 3, 3])
    """

    def __init__(
        self, in_channels: int, out_channels: int, stride: int, activation_layer: type[Layer] = nn.ReLU
    ) -> None:
        super().__init__()
        half = out_channels // 2
        self._conv_pw = ConvNormActivation(
            in_channels // 2, half, 1, stride=1, padding=0, activation_layer=activation_layer
        )
        self._conv_dw = ConvNormActivation(
            half, half, 3, stride=stride, padding=1, groups=half, activation_layer=None
        )
        self._conv_linear = ConvNormActivation(
            half, half, 1, stride=1, padding=0, activation_layer=activation_layer
        )

    def forward(self, inputs: Tensor) -> Tensor:
        """The block's output for `inputs`."""
        kept, x = split(inputs, [inputs.shape[1] // 2, inputs.shape[1] // 2], axis=1)
        return channel_shuffle(concat([kept, self._conv_linear(self._conv_dw(self._conv_pw(x)))], 1), 2)


class InvertedResidualDS(nn.Layer):
    """Two paths of depthwise and 1x1 convolutions over all channels, interleaved: what a stage begins with.

    Args:
        in_channels, out_channels: int, the latter even.
        stride: of the depthwise convolutions.
        activation_layer: called without arguments, gives a Layer. Default ReLU.
    Example:
        >>> paddle.vision.models.shufflenetv2.InvertedResidualDS(8, 16, 2)(paddle.zeros([1, 8, 4, 4])).shape
        paddle.Size([1, 16, 2, 2])
    """

    def __init__(
        self, in_channels: int, out_channels: int, stride: int, activation_layer: type[Layer] = nn.ReLU
    ) -> None:
        super().__init__()
        half = out_channels // 2
        point = {"kernel_size": 1, "stride": 1, "padding": 0, "activation_layer": activation_layer}
        deep = {"kernel_size": 3, "stride": stride, "padding": 1, "activation_layer": None}
        self._conv_dw_1 = ConvNormActivation(in_channels, in_channels, groups=in_channels, **deep)
        self._conv_linear_1 = ConvNormActivation(in_channels, half, **point)
        self._conv_pw_2 = ConvNormActivation(in_channels, half, **point)
        self._conv_dw_2 = ConvNormActivation(half, half, groups=half, **deep)
        self._conv_linear_2 = ConvNormActivation(half, half, **point)

    def forward(self, inputs: Tensor) -> Tensor:
        """The block's output for `inputs`."""
        first = self._conv_linear_1(self._conv_dw_1(inputs))
        second = self._conv_linear_2(self._conv_dw_2(self._conv_pw_2(inputs)))
        return channel_shuffle(concat([first, second], 1), 2)


class ShuffleNetV2(nn.Layer):
    """A convolution, pooling, three stages of blocks, a 1x1 convolution, the mean over
    positions, a dense layer.

    Args:
        scale: float, 0.25, 0.33, 0.5, 1.0, 1.5 or 2.0: how wide the network is. Default 1.0.
        act: "relu", "swish" or None. Default "relu".
        num_classes: int, length of the output. 0 or less leaves the dense layer out. Default 1000.
        with_pool: bool, take the mean over positions. Default True. Without it the dense layer only fits
            where one position is left.
    Attributes:
        scale, num_classes, with_pool: as given.
        _block_list: list of the blocks.
        _conv1, _last_conv: ConvNormActivation.
        _max_pool: MaxPool2D.
        _pool2d_avg: AdaptiveAvgPool2D.
        _fc: Linear.
    Shape:
        input: [N, 3, H, W]; output: [N, num_classes]; without dense layer [N, C, 1, 1], without the mean
        [N, C, H / 32, W / 32].
    Raises:
        NotImplementedError: another scale.
        RuntimeError: another activation.
    Example:
        >>> paddle.vision.models.ShuffleNetV2(0.25, num_classes=10)(paddle.zeros([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    See:
        Ma et al., arXiv 1807.11164.
    """

    def __init__(
        self, scale: float = 1.0, act: str = "relu", num_classes: int = 1000, with_pool: bool = True
    ) -> None:
        super().__init__()
        self.scale = scale
        self.num_classes = num_classes
        self.with_pool = with_pool
        activation = create_activation_layer(act)
        if scale not in _CHANNELS:
            raise NotImplementedError(
                f"ShuffleNetV2: scale: got {scale}; allowed are {', '.join(map(str, _CHANNELS))}"
            )
        self._conv1 = ConvNormActivation(3, 24, 3, stride=2, padding=1, activation_layer=activation)
        self._max_pool = nn.MaxPool2D(3, stride=2, padding=1)
        self._block_list = []
        before = 24
        for stage, (repeats, channels) in enumerate(zip(_REPEATS, _CHANNELS[scale], strict=False), 2):
            for i in range(repeats):
                # Only the first block of a stage halves the map.
                if i:
                    block = InvertedResidual(channels, channels, 1, activation)
                else:
                    block = InvertedResidualDS(before, channels, 2, activation)
                self._block_list.append(self.add_sublayer(f"{stage}_{i + 1}", block))
            before = channels
        last = _CHANNELS[scale][-1]
        self._last_conv = ConvNormActivation(
            before, last, 1, stride=1, padding=0, activation_layer=activation
        )
        if with_pool:
            self._pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self._fc = nn.Linear(last, num_classes)

    def forward(self, inputs: Tensor) -> Tensor:
        """The class scores of `inputs`, before softmax, or the features."""
        x = self._max_pool(self._conv1(inputs))
        for block in self._block_list:
            x = block(x)
        x = self._last_conv(x)
        if self.with_pool:
            x = self._pool2d_avg(x)
        if self.num_classes > 0:
            return self._fc(x.flatten(1))
        return x


def _shufflenet(arch: str, pretrained: bool, scale: float, kwargs: dict[str, Any]) -> ShuffleNetV2:
    return with_weights(ShuffleNetV2(scale=scale, **kwargs), arch, pretrained, model_urls)


def shufflenet_v2_x0_25(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 of scale 0.25.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
        **kwargs: `act`, `num_classes`, `with_pool` of `ShuffleNetV2`.
    Returns:
        A ShuffleNetV2.
    Raises:
        RuntimeError: the weights are neither there nor to be downloaded.
    Example:
        >>> len(paddle.vision.models.shufflenet_v2_x0_25().state_dict())
        282
    """
    return _shufflenet("shufflenet_v2_x0_25", pretrained, 0.25, kwargs)


def shufflenet_v2_x0_33(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 of scale 0.33.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
    Returns:
        A ShuffleNetV2.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.shufflenet_v2_x0_33()
        >>> int(sum(p.size for p in net.parameters()))
        652264
    """
    return _shufflenet("shufflenet_v2_x0_33", pretrained, 0.33, kwargs)


def shufflenet_v2_x0_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 of scale 0.5.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
    Returns:
        A ShuffleNetV2.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.shufflenet_v2_x0_5()
        >>> int(sum(p.size for p in net.parameters()))
        1374744
    """
    return _shufflenet("shufflenet_v2_x0_5", pretrained, 0.5, kwargs)


def shufflenet_v2_x1_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 of scale 1.0.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
    Returns:
        A ShuffleNetV2.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.shufflenet_v2_x1_0()
        >>> int(sum(p.size for p in net.parameters()))
        2294784
    """
    return _shufflenet("shufflenet_v2_x1_0", pretrained, 1.0, kwargs)


def shufflenet_v2_x1_5(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 of scale 1.5.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
    Returns:
        A ShuffleNetV2.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.shufflenet_v2_x1_5()
        >>> int(sum(p.size for p in net.parameters()))
        3527064
    """
    return _shufflenet("shufflenet_v2_x1_5", pretrained, 1.5, kwargs)


def shufflenet_v2_x2_0(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 of scale 2.0.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
    Returns:
        A ShuffleNetV2.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.shufflenet_v2_x2_0()
        >>> int(sum(p.size for p in net.parameters()))
        7399952
    """
    return _shufflenet("shufflenet_v2_x2_0", pretrained, 2.0, kwargs)


def shufflenet_v2_swish(pretrained: bool = False, **kwargs: Any) -> ShuffleNetV2:
    """ShuffleNetV2 of scale 1.0 with swish in place of ReLU. Arguments as for
    `shufflenet_v2_x0_25` without `act`.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`,
            downloaded when not there. Default False.
        **kwargs: `num_classes`, `with_pool` of `ShuffleNetV2`.
    Returns:
        A ShuffleNetV2.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.shufflenet_v2_swish()
        >>> int(sum(p.size for p in net.parameters()))
        2294784
    """
    return _shufflenet("shufflenet_v2_swish", pretrained, 1.0, kwargs | {"act": "swish"})
