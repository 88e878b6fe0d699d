"""ResNet, ResNeXt and Wide ResNet: one class, told apart by depth, groups and width."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax import nn
from paddle_jax.vision.models._utils import urls, with_weights

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.batch_norm import BatchNorm2D
    from paddle_jax.nn.layer.layers import Layer

# depth -> blocks in each stage
_BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}
model_urls: dict[str, tuple[str, str]] = urls(
    {  # MD5 of the published weight files
        "resnet18": "cf548f46534aa3560945be4b95cd11c4",
        "resnet34": "8d2275cf8706028345f78ac0e1d31969",
        "resnet50": "ca6f485ee1ab0492d38f323885b0ad80",
        "resnet101": "02f35f034ca3858e1e54d4036443c92d",
        "resnet152": "7ad16a2f1e7333859ff986138630fd7a",
        "resnext50_32x4d": "dc47483169be7d6f018fcbb7baf8775d",
        "resnext50_64x4d": "063d4b483e12b06388529450ad7576db",
        "resnext101_32x4d": "967b090039f9de2c8d06fe994fb9095f",
        "resnext101_64x4d": "98e04e7ca616a066699230d769d03008",
        "resnext152_32x4d": "18ff0beee21f2efc99c4b31786107121",
        "resnext152_64x4d": "77c4af00ca42c405fa7f841841959379",
        "wide_resnet50_2": "0282f804d73debdab289bd9fea3fa6dc",
        "wide_resnet101_2": "d4360a2d23657f059216f5d5a1a9ac93",
    }
)


class BasicBlock(nn.Layer):
    """Two 3x3 convolutions whose result is added to the input.

    Args:
        inplanes: int, channels of the input.
        planes: int, channels of the output.
        stride: stride of the first convolution. Default 1.
        downsample: Layer that brings the input to the shape of the output, or None to add it as it is.
        groups, base_width: not used; they are there so that both kinds of block are built alike.
        dilation: int, must be 1.
        norm_layer: called with a number of channels, gives a Layer. Default BatchNorm2D.
    Attributes:
        downsample, stride: as given.
        bn1, bn2: norm layers.
        conv1, conv2: Conv2D.
        relu: ReLU.
    Raises:
        NotImplementedError: `dilation` is more than 1.
    Example:
        >>> paddle.vision.models.resnet.BasicBlock(8, 8)(paddle.zeros([1, 8, 4, 4])).shape
        paddle.Size([1, 8, 4, 4])
    """

    expansion = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Layer | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: type[Layer] | None = None,
    ) -> None:
        super().__init__()
        if dilation > 1:
            raise NotImplementedError(
                f"BasicBlock: dilation: got {dilation}; only 1 is possible, use BottleneckBlock"
            )
        norm = norm_layer or nn.BatchNorm2D
        self.conv1: nn.Conv2D = nn.Conv2D(inplanes, planes, 3, stride=stride, padding=1, bias_attr=False)
        self.bn1: BatchNorm2D | Layer = norm(planes)
        self.relu: nn.ReLU = nn.ReLU()
        self.conv2: nn.Conv2D = nn.Conv2D(planes, planes, 3, padding=1, bias_attr=False)
        self.bn2: BatchNorm2D | Layer = norm(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        """The block's output for `x`."""
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return self.relu(y + (x if self.downsample is None else self.downsample(x)))


class BottleneckBlock(nn.Layer):
    """A 1x1, a 3x3 and a 1x1 convolution whose result is added to the input.

    Args:
        inplanes: int, channels of the input.
        planes: int, a quarter of the output's channels.
        stride: stride of the 3x3 convolution. Default 1.
        downsample: Layer that brings the input to the shape of the output, or None to add it as it is.
        groups: int, groups of the 3x3 convolution. Default 1.
        base_width: int, channels of a group for every 64 of `planes`. Default 64.
        dilation: int, dilation of the 3x3 convolution. Default 1.
        norm_layer: called with a number of channels, gives a Layer. Default BatchNorm2D.
    Attributes:
        downsample, stride: as given.
        bn1, bn2, bn3: norm layers.
        conv1, conv2, conv3: Conv2D.
        relu: ReLU.
    Example:
        >>> paddle.vision.models.resnet.BottleneckBlock(32, 8)(paddle.zeros([1, 32, 4, 4])).shape
        paddle.Size([1, 32, 4, 4])
    """

    expansion = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Layer | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: type[Layer] | None = None,
    ) -> None:
        super().__init__()
        norm = norm_layer or nn.BatchNorm2D
        # ResNeXt and wide networks have other widths inside a block.
        width = int(planes * base_width / 64) * groups
        self.conv1: nn.Conv2D = nn.Conv2D(inplanes, width, 1, bias_attr=False)
        self.bn1: BatchNorm2D | Layer = norm(width)
        self.conv2: nn.Conv2D = nn.Conv2D(
            width,
            width,
            3,
            stride=stride,
            padding=dilation,
            dilation=dilation,
            groups=groups,
            bias_attr=False,
        )
        self.bn2: BatchNorm2D | Layer = norm(width)
        self.conv3: nn.Conv2D = nn.Conv2D(width, planes * self.expansion, 1, bias_attr=False)
        self.bn3: BatchNorm2D | Layer = norm(planes * self.expansion)
        self.relu: nn.ReLU = nn.ReLU()
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        """The block's output for `x`."""
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return self.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Layer):
    """A residual network: a 7x7 convolution, pooling, four stages of blocks, the mean over
    positions, a dense layer.

    Args:
        block: BasicBlock (depth 18, 34) or BottleneckBlock (50, 101, 152).
        depth: int, 18, 34, 50, 101 or 152. Default 50.
        width: int, channels of a group in the first stage. Default 64.
        num_classes: int, length of the output. 0 or less leaves the dense layer out. Default 1000.
        with_pool: bool, take the mean over positions. Default True. Without it a dense layer only fits where
            one position is left.
        groups: int, groups of the 3x3 convolutions of bottleneck blocks. Default 1.
    Attributes:
        groups, num_classes, with_pool: as given.
        base_width: int, the argument width.
        _norm_layer: type of the norm layers.
        inplanes: int, the channels before the next layer to be made.
        dilation: int, 1.
        bn1: norm layer.
        conv1: Conv2D.
        relu: ReLU.
        maxpool: MaxPool2D.
        avgpool: AdaptiveAvgPool2D.
        fc: Linear.
    Shape:
        input: [N, 3, H, W]; output: [N, num_classes]; without dense layer [N, C, 1, 1], without the mean
        [N, C, H / 32, W / 32].
    Raises:
        KeyError: another depth.
    Example:
        >>> net = paddle.vision.models.ResNet(paddle.vision.models.resnet.BasicBlock, 18, num_classes=10)
        >>> net(paddle.zeros([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    See:
        He et al., arXiv 1512.03385; Xie et al. (ResNeXt), arXiv 1611.05431; Zagoruyko and Komodakis (Wide
        ResNet), arXiv 1605.07146.
    """

    def __init__(
        self,
        block: type[BasicBlock | BottleneckBlock],
        depth: int = 50,
        width: int = 64,
        num_classes: int = 1000,
        with_pool: bool = True,
        groups: int = 1,
    ) -> None:
        super().__init__()
        if depth not in _BLOCKS:
            raise KeyError(f"ResNet: depth: got {depth!r}; allowed are {', '.join(map(str, _BLOCKS))}")
        self.groups = groups
        self.base_width = width
        self.num_classes = num_classes
        self.with_pool = with_pool
        self._norm_layer = nn.BatchNorm2D
        self.inplanes: int = 64
        self.dilation: int = 1
        self.conv1: nn.Conv2D = nn.Conv2D(3, self.inplanes, 7, stride=2, padding=3, bias_attr=False)
        self.bn1: BatchNorm2D = self._norm_layer(self.inplanes)
        self.relu: nn.ReLU = nn.ReLU()
        self.maxpool: nn.MaxPool2D = nn.MaxPool2D(3, stride=2, padding=1)
        for stage, blocks in enumerate(_BLOCKS[depth]):
            # Each stage has twice the channels; the first keeps the size, which the pooling has halved.
            setattr(
                self, f"layer{stage + 1}", self._make_layer(block, 64 << stage, blocks, 2 if stage else 1)
            )
        if with_pool:
            self.avgpool: nn.AdaptiveAvgPool2D = nn.AdaptiveAvgPool2D((1, 1))
        if num_classes > 0:
            self.fc: nn.Linear = nn.Linear(512 * block.expansion, num_classes)

    def _make_layer(
        self,
        block: type[BasicBlock | BottleneckBlock],
        planes: int,
        blocks: int,
        stride: int = 1,
        dilate: bool = False,
    ) -> Layer:
        """One stage, for networks that build others from it. dilate: its convolutions get holes in
        place of a stride."""
        # The first block keeps the holes of the stage before.
        before = self.dilation
        channels = planes * block.expansion
        downsample = None
        if dilate:
            # Holes in place of steps: the map keeps its size.
            self.dilation = self.dilation * stride
            stride = 1
        # The shortcut needs the shape of the result.
        if stride != 1 or self.inplanes != channels:
            downsample = nn.Sequential(
                nn.Conv2D(self.inplanes, channels, 1, stride=stride, bias_attr=False),
                self._norm_layer(channels),
            )
        first = block(
            self.inplanes, planes, stride, downsample, self.groups, self.base_width, before, self._norm_layer
        )
        self.inplanes = channels
        shared = {"groups": self.groups, "base_width": self.base_width, "norm_layer": self._norm_layer}
        return nn.Sequential(first, *(block(channels, planes, **shared) for _ in range(blocks - 1)))

    def forward(self, x: Tensor) -> Tensor:
        """The class scores of `x`, before softmax, or its features."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        if self.with_pool:
            x = self.avgpool(x)
        if self.num_classes > 0:
            return self.fc(x.flatten(1))
        return x


def _resnet(
    arch: str, block: type[BasicBlock | BottleneckBlock], depth: int, pretrained: bool, **kwargs: Any
) -> ResNet:
    return with_weights(ResNet(block, depth, **kwargs), arch, pretrained, model_urls)


def resnet18(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 18 layers.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
        **kwargs: `width`, `num_classes`, `with_pool`, `groups` of `ResNet`.
    Returns:
        A ResNet.
    Raises:
        RuntimeError: the weights are neither there nor to be downloaded.
    Example:
        >>> len(paddle.vision.models.resnet18().state_dict())
        102
    """
    return _resnet("resnet18", BasicBlock, 18, pretrained, **kwargs)


def resnet34(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 34 layers.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
    Returns:
        A ResNet.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.resnet34()
        >>> int(sum(p.size for p in net.parameters()))
        21814696
    """
    return _resnet("resnet34", BasicBlock, 34, pretrained, **kwargs)


def resnet50(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 50 layers.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
    Returns:
        A ResNet.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.resnet50()
        >>> int(sum(p.size for p in net.parameters()))
        25610152
    """
    return _resnet("resnet50", BottleneckBlock, 50, pretrained, **kwargs)


def resnet101(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 101 layers.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
    Returns:
        A ResNet.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.resnet101()
        >>> int(sum(p.size for p in net.parameters()))
        44654504
    """
    return _resnet("resnet101", BottleneckBlock, 101, pretrained, **kwargs)


def resnet152(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 152 layers.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
    Returns:
        A ResNet.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.resnet152()
        >>> int(sum(p.size for p in net.parameters()))
        60344232
    """
    return _resnet("resnet152", BottleneckBlock, 152, pretrained, **kwargs)


def _resnext(depth: int, groups: int, pretrained: bool, kwargs: dict[str, Any]) -> ResNet:
    return _resnet(
        f"resnext{depth}_{groups}x4d",
        BottleneckBlock,
        depth,
        pretrained,
        **{**kwargs, "groups": groups, "width": 4},
    )


def resnext50_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 50 layers, 32 groups of width 4. Arguments as for `resnet18`; `groups` and
    `width` are fixed.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`,
            downloaded when not there. Default False.
        **kwargs: `num_classes`, `with_pool` of `ResNet`.
    Returns:
        A ResNet.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.resnext50_32x4d()
        >>> int(sum(p.size for p in net.parameters()))
        25097128
    """
    return _resnext(50, 32, pretrained, kwargs)


def resnext50_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 50 layers, 64 groups of width 4. Arguments as for `resnet18`; `groups` and
    `width` are fixed.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`,
            downloaded when not there. Default False.
        **kwargs: `num_classes`, `with_pool` of `ResNet`.
    Returns:
        A ResNet.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.resnext50_64x4d()
        >>> int(sum(p.size for p in net.parameters()))
        45290920
    """
    return _resnext(50, 64, pretrained, kwargs)


def resnext101_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 101 layers, 32 groups of width 4. Arguments as for `resnet18`; `groups` and
    `width` are fixed.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`,
            downloaded when not there. Default False.
        **kwargs: `num_classes`, `with_pool` of `ResNet`.
    Returns:
        A ResNet.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.resnext101_32x4d()
        >>> int(sum(p.size for p in net.parameters()))
        44315560
    """
    return _resnext(101, 32, pretrained, kwargs)


def resnext101_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 101 layers, 64 groups of width 4. Arguments as for `resnet18`; `groups` and
    `width` are fixed.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`,
            downloaded when not there. Default False.
        **kwargs: `num_classes`, `with_pool` of `ResNet`.
    Returns:
        A ResNet.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.resnext101_64x4d()
        >>> int(sum(p.size for p in net.parameters()))
        83658152
    """
    return _resnext(101, 64, pretrained, kwargs)


def resnext152_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 152 layers, 32 groups of width 4. Arguments as for `resnet18`; `groups` and
    `width` are fixed.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`,
            downloaded when not there. Default False.
        **kwargs: `num_classes`, `with_pool` of `ResNet`.
    Returns:
        A ResNet.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.resnext152_32x4d()
        >>> int(sum(p.size for p in net.parameters()))
        60150696
    """
    return _resnext(152, 32, pretrained, kwargs)


def resnext152_64x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 152 layers, 64 groups of width 4. Arguments as for `resnet18`; `groups` and
    `width` are fixed.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`,
            downloaded when not there. Default False.
        **kwargs: `num_classes`, `with_pool` of `ResNet`.
    Returns:
        A ResNet.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.resnext152_64x4d()
        >>> int(sum(p.size for p in net.parameters()))
        115266984
    """
    return _resnext(152, 64, pretrained, kwargs)


def wide_resnet50_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 50 layers whose 3x3 convolutions are twice as wide. Arguments as for `resnet18`;
    `width` is fixed.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`,
            downloaded when not there. Default False.
        **kwargs: `num_classes`, `with_pool` of `ResNet`.
    Returns:
        A ResNet.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.wide_resnet50_2()
        >>> int(sum(p.size for p in net.parameters()))
        68951464
    """
    return _resnet("wide_resnet50_2", BottleneckBlock, 50, pretrained, **{**kwargs, "width": 128})


def wide_resnet101_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 101 layers whose 3x3 convolutions are twice as wide. Arguments as for `resnet18`;
    `width` is fixed.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`,
            downloaded when not there. Default False.
        **kwargs: `num_classes`, `with_pool` of `ResNet`.
    Returns:
        A ResNet.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.wide_resnet101_2()
        >>> int(sum(p.size for p in net.parameters()))
        127024552
    """
    return _resnet("wide_resnet101_2", BottleneckBlock, 101, pretrained, **{**kwargs, "width": 128})
