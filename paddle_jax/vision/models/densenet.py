"""DenseNet."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from paddle_jax import nn
from paddle_jax.tensor.joining import concat
from paddle_jax.vision.models._utils import uniform, with_weights

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.layers import Layer

__all__ = []

_HOME = "https://paddle-imagenet-models-name.bj.bcebos.com/dygraph/"
_SUMS = {  # MD5 of the published weight files
    121: "db1b239ed80a905290fd8b01d3af08e4",
    161: "62158869cb315098bd25ddbfd308a853",
    169: "82cc7c635c3f19098c748850efb2d796",
    201: "16ca29565a7712329cf9e36e02caaf58",
    264: "3270ce516b85370bba88cfdd9f60bff4",
}
model_urls: dict[str, tuple[str, str]] = {
    f"densenet{depth}": (f"{_HOME}DenseNet{depth}_pretrained.pdparams", md5) for depth, md5 in _SUMS.items()
}
_BLOCKS = {  # depth -> channels after the first convolution, channels that a layer adds, layers in each block
    121: (64, 32, (6, 12, 24, 16)),
    161: (96, 48, (6, 12, 36, 24)),
    169: (64, 32, (6, 12, 32, 32)),
    201: (64, 32, (6, 12, 48, 32)),
    264: (64, 32, (6, 12, 64, 48)),
}


class BNACConvLayer(nn.Layer):
    """Batch norm with an activation, then a convolution without bias.

    Args:
        num_channels, num_filters, filter_size, stride, pad, groups: of the convolution.
        act: str, name of the activation. Default "relu".
    """

    def __init__(
        self,
        num_channels: int,
        num_filters: int,
        filter_size: int,
        stride: int = 1,
        pad: int = 0,
        groups: int = 1,
        act: str = "relu",
    ) -> None:
        super().__init__()
        self._batch_norm = nn.BatchNorm(num_channels, act=act)
        self._conv = nn.Conv2D(
            num_channels, num_filters, filter_size, stride=stride, padding=pad, groups=groups, bias_attr=False
        )

    def forward(self, input: Tensor) -> Tensor:
        """The layer's output for `input`."""
        return self._conv(self._batch_norm(input))


class DenseLayer(nn.Layer):
    """A 1x1 and a 3x3 convolution whose result is appended to the channels of the input.

    Args:
        num_channels: int, channels of the input.
        growth_rate: int, channels that are appended.
        bn_size: int, factor of the channels between the convolutions.
        dropout: float, probability of dropping results; 0 for none.
    Example:
        >>> paddle.vision.models.densenet.DenseLayer(8, 4, 2, 0.0)(paddle.zeros([1, 8, 3, 3])).shape
        paddle.Size([1, 12, 3, 3])
    """

    def __init__(self, num_channels: int, growth_rate: int, bn_size: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.bn_ac_func1: BNACConvLayer = BNACConvLayer(num_channels, bn_size * growth_rate, 1)
        self.bn_ac_func2: BNACConvLayer = BNACConvLayer(bn_size * growth_rate, growth_rate, 3, pad=1)
        if dropout:
            self.dropout_func: nn.Dropout = nn.Dropout(dropout, mode="downscale_in_infer")

    def forward(self, input: Tensor) -> Tensor:
        """The layer's output for `input`."""
        new = self.bn_ac_func2(self.bn_ac_func1(input))
        return concat([input, self.dropout_func(new) if self.dropout else new], 1)


class DenseBlock(nn.Layer):
    """Dense layers one after the other.

    Args:
        num_channels, bn_size, growth_rate, dropout: of the first layer; each further one has
            growth_rate more channels.
        num_layers: int.
        name: str, what the names of the layers begin with.
    """

    def __init__(
        self,
        num_channels: int,
        num_layers: int,
        bn_size: int,
        growth_rate: int,
        dropout: float,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.dense_layer_func: list[Layer | None] = [
            self.add_sublayer(
                f"{name}_{i + 1}", DenseLayer(num_channels + i * growth_rate, growth_rate, bn_size, dropout)
            )
            for i in range(num_layers)
        ]

    def forward(self, input: Tensor) -> Tensor:
        """The block's output for `input`."""
        for layer in self.dense_layer_func:
            input = layer(input)
        return input


class TransitionLayer(nn.Layer):
    """A 1x1 convolution and 2x2 mean pooling.

    Args:
        num_channels, num_output_features: int, channels before and after.
    """

    def __init__(self, num_channels: int, num_output_features: int) -> None:
        super().__init__()
        self.conv_ac_func: BNACConvLayer = BNACConvLayer(num_channels, num_output_features, 1)
        self.pool2d_avg: nn.AvgPool2D = nn.AvgPool2D(2, 2, 0)

    def forward(self, input: Tensor) -> Tensor:
        """The layer's output for `input`."""
        return self.pool2d_avg(self.conv_ac_func(input))


class ConvBNLayer(nn.Layer):
    """A convolution without bias, then batch norm with an activation.

    Args:
        num_channels, num_filters, filter_size, stride, pad, groups: of the convolution.
        act: str, name of the activation. Default "relu".
    """

    def __init__(
        self,
        num_channels: int,
        num_filters: int,
        filter_size: int,
        stride: int = 1,
        pad: int = 0,
        groups: int = 1,
        act: str = "relu",
    ) -> None:
        super().__init__()
        self._conv = nn.Conv2D(
            num_channels, num_filters, filter_size, stride=stride, padding=pad, groups=groups, bias_attr=False
        )
        self._batch_norm = nn.BatchNorm(num_filters, act=act)

    def forward(self, input: Tensor) -> Tensor:
        """The layer's output for `input`."""
        return self._batch_norm(self._conv(input))


class DenseNet(nn.Layer):
    """A 7x7 convolution, pooling, four dense blocks with transitions between them, the mean over
    positions, a dense layer.

    Args:
        layers: int, 121, 161, 169, 201 or 264. Default 121.
        bn_size: int, factor of the channels between the two convolutions of a layer. Default 4.
        dropout: float, probability of dropping a layer's results. Default 0.0.
        num_classes: int, length of the output. 0 or less leaves the dense layer out. Default 1000.
        with_pool: bool, take the mean over positions. Default True. Without it the dense layer only fits
            where one position is left.
    Attributes:
        num_classes, with_pool: as given.
        dense_block_func_list, transition_func_list: lists of the blocks, and of the layers between them.
        conv1_func: ConvBNLayer.
        pool2d_max: MaxPool2D.
        batch_norm: BatchNorm.
        pool2d_avg: AdaptiveAvgPool2D.
        out: Linear.
    Shape:
        input: [N, 3, H, W]; output: [N, num_classes]; without dense layer [N, C, 1, 1], without the mean
        [N, C, H / 32, W / 32].
    Raises:
        AssertionError: another number of layers.
    Example:
        >>> paddle.vision.models.DenseNet(121, num_classes=10)(paddle.zeros([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    See:
        Huang et al., arXiv 1608.06993.
    """

    def __init__(
        self,
        layers: int = 121,
        bn_size: int = 4,
        dropout: float = 0.0,
        num_classes: int = 1000,
        with_pool: bool = True,
    ) -> None:
        super().__init__()
        if layers not in _BLOCKS:
            raise AssertionError(
                f"DenseNet: layers: got {layers!r}; allowed are {', '.join(map(str, _BLOCKS))}"
            )
        self.num_classes = num_classes
        self.with_pool = with_pool
        channels, growth, blocks = _BLOCKS[layers]
        self.conv1_func: ConvBNLayer = ConvBNLayer(3, channels, 7, stride=2, pad=3)
        self.pool2d_max: nn.MaxPool2D = nn.MaxPool2D(3, stride=2, padding=1)
        self.dense_block_func_list: list[Any] = []
        self.transition_func_list: list[Any] = []
        # Blocks count from 2, since the first convolution is number 1.
        for number, length in enumerate(blocks, 2):
            block = DenseBlock(channels, length, bn_size, growth, dropout, f"conv{number}")
            self.dense_block_func_list.append(self.add_sublayer(f"db_conv_{number}", block))
            channels += length * growth
            # The last block has no transition.
            if number < 5:
                transition = TransitionLayer(channels, channels // 2)
                self.transition_func_list.append(self.add_sublayer(f"tr_conv{number}_blk", transition))
                channels //= 2
        self.batch_norm: nn.BatchNorm = nn.BatchNorm(channels, act="relu")
        if with_pool:
            self.pool2d_avg: nn.AdaptiveAvgPool2D = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.out: nn.Linear = nn.Linear(
                channels, num_classes, weight_attr=uniform(1 / math.sqrt(channels))
            )

    def forward(self, input: Tensor) -> Tensor:
        """The class scores of `input`, before softmax, or its features."""
        x = self.pool2d_max(self.conv1_func(input))
        for i, block in enumerate(self.dense_block_func_list):
            x = block(x)
            if i < len(self.transition_func_list):
                x = self.transition_func_list[i](x)
        x = self.batch_norm(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        if self.num_classes > 0:
            return self.out(x.flatten(1))
        return x


def _densenet(depth: int, pretrained: bool, kwargs: dict[str, Any]) -> DenseNet:
    return with_weights(DenseNet(layers=depth, **kwargs), f"densenet{depth}", pretrained, model_urls)


def densenet121(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 121 layers.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
        **kwargs: `bn_size`, `dropout`, `num_classes`, `with_pool` of `DenseNet`.
    Returns:
        A DenseNet.
    Raises:
        RuntimeError: the weights are neither there nor to be downloaded.
    Example:
        >>> len(paddle.vision.models.densenet121().state_dict())
        606
    """
    return _densenet(121, pretrained, kwargs)


def densenet161(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 161 layers.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
    Returns:
        A DenseNet.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.densenet161()
        >>> int(sum(p.size for p in net.parameters()))
        28900936
    """
    return _densenet(161, pretrained, kwargs)


def densenet169(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 169 layers.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
    Returns:
        A DenseNet.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.densenet169()
        >>> int(sum(p.size for p in net.parameters()))
        14307880
    """
    return _densenet(169, pretrained, kwargs)


def densenet201(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 201 layers.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
    Returns:
        A DenseNet.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.densenet201()
        >>> int(sum(p.size for p in net.parameters()))
        20242984
    """
    return _densenet(201, pretrained, kwargs)


def densenet264(pretrained: bool = False, **kwargs: Any) -> DenseNet:
    """DenseNet with 264 layers.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
    Returns:
        A DenseNet.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.densenet264()
        >>> int(sum(p.size for p in net.parameters()))
        33736232
    """
    return _densenet(264, pretrained, kwargs)
