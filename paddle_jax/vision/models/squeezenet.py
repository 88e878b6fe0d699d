"""SqueezeNet, versions 1.0 and 1.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax import nn
from paddle_jax.nn import functional as F
from paddle_jax.tensor.joining import concat
from paddle_jax.vision.models._utils import with_weights

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor

__all__ = []

_HOME = "https://paddle-imagenet-models-name.bj.bcebos.com/dygraph/"
model_urls: dict[str, tuple[str, str]] = {
    "squeezenet1_0": (f"{_HOME}SqueezeNet1_0_pretrained.pdparams", "30b95af60a2178f03cf9b66cd77e1db1"),
    "squeezenet1_1": (f"{_HOME}SqueezeNet1_1_pretrained.pdparams", "a11250d3a1f91d7131fd095ebbf09eee"),
}
# channels squeezed to, expanded to on each path
_FIRES = [(16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256)]
_POOLED = {"1.0": (3, 7), "1.1": (2, 4)}  # numbers of the fire modules with pooling after them


class MakeFireConv(nn.Layer):
    """A convolution with ReLU.

    Args:
        input_channels, output_channels, filter_size, padding: of the convolution.
    """

    def __init__(self, input_channels: int, output_channels: int, filter_size: int, padding: int = 0) -> None:
        super().__init__()
        self._conv = nn.Conv2D(input_channels, output_channels, filter_size, padding=padding)

    def forward(self, x: Tensor) -> Tensor:
        """The layer's output for `x`."""
        return F.relu(self._conv(x))


class MakeFire(nn.Layer):
    """A 1x1 convolution to few channels, then a 1x1 and a 3x3 convolution side by side.

    Args:
        input_channels, squeeze_channels, expand1x1_channels, expand3x3_channels: int.
    Example:
        >>> paddle.vision.models.squeezenet.MakeFire(8, 2, 4, 4)(paddle.zeros([1, 8, 3, 3])).shape
        paddle.Size([1, 8, 3, 3])
    """

    def __init__(
        self, input_channels: int, squeeze_channels: int, expand1x1_channels: int, expand3x3_channels: int
    ) -> None:
        super().__init__()
        self._conv = MakeFireConv(input_channels, squeeze_channels, 1)
        self._conv_path1 = MakeFireConv(squeeze_channels, expand1x1_channels, 1)
        self._conv_path2 = MakeFireConv(squeeze_channels, expand3x3_channels, 3, padding=1)

    def forward(self, inputs: Tensor) -> Tensor:
        """The block's output for `inputs`."""
        x = self._conv(inputs)
        return concat([self._conv_path1(x), self._conv_path2(x)], 1)


class SqueezeNet(nn.Layer):
    """A convolution, eight fire modules, a 1x1 convolution to the classes, the mean over positions.

    Args:
        version: "1.0" or "1.1", which has a smaller first convolution and pools earlier.
        num_classes: int, length of the output. 0 or less leaves the last convolution out. Default 1000.
        with_pool: bool, take the mean over positions. Default True.
    Attributes:
        version, num_classes, with_pool: as given.
        _conv: Conv2D, the first layer.
        _pool: MaxPool2D.
        _drop: Dropout.
        _conv9: Conv2D.
        _avg_pool: AdaptiveAvgPool2D.
    Shape:
        input: [N, 3, H, W]; output: [N, num_classes]; without the last convolution [N, 512], without the mean
        [N, num_classes, H', W'].
    Raises:
        AssertionError: another version.
    Example:
        >>> paddle.vision.models.SqueezeNet("1.1", num_classes=10)(paddle.zeros([1, 3, 32, 32])).shape
        paddle.Size([1, 10])
    See:
        Iandola et al., arXiv 1602.07360.
    """

    def __init__(self, version: str, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        if version not in _POOLED:
            raise AssertionError(f"SqueezeNet: version: got {version!r}; allowed are '1.0' and '1.1'")
        self.version = version
        self.num_classes = num_classes
        self.with_pool = with_pool
        if version == "1.0":
            self._conv = nn.Conv2D(3, 96, 7, stride=2)
        else:
            self._conv = nn.Conv2D(3, 64, 3, stride=2, padding=1)
        self._pool = nn.MaxPool2D(3, 2, 0)
        channels = 96 if version == "1.0" else 64
        for number, (squeezed, expanded) in enumerate(_FIRES, 1):
            setattr(self, f"_conv{number}", MakeFire(channels, squeezed, expanded, expanded))
            # A fire joins the outputs of both expansions, so it has twice their channels.
            channels = 2 * expanded
        self._drop = nn.Dropout(0.5, mode="downscale_in_infer")
        self._conv9 = nn.Conv2D(512, num_classes, 1)
        self._avg_pool = nn.AdaptiveAvgPool2D(1)

    def forward(self, inputs: Tensor) -> Tensor:
        """The class scores of `inputs`, before softmax, or the features."""
        x = self._pool(F.relu(self._conv(inputs)))
        for number in range(1, 9):
            x = getattr(self, f"_conv{number}")(x)
            if number in _POOLED[self.version]:
                x = self._pool(x)
        if self.num_classes > 0:
            x = self._conv9(self._drop(x))
        if self.with_pool:
            return self._avg_pool(F.relu(x)).squeeze([2, 3])
        return x


def squeezenet1_0(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.0.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
        **kwargs: `num_classes`, `with_pool` of `SqueezeNet`.
    Returns:
        A SqueezeNet.
    Raises:
        RuntimeError: the weights are neither there nor to be downloaded.
    Example:
        >>> len(paddle.vision.models.squeezenet1_0().state_dict())
        52
    """
    return with_weights(SqueezeNet("1.0", **kwargs), "squeezenet1_0", pretrained, model_urls)


def squeezenet1_1(pretrained: bool = False, **kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.1.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
    Returns:
        A SqueezeNet.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.squeezenet1_1()
        >>> int(sum(p.size for p in net.parameters()))
        1235496
    """
    return with_weights(SqueezeNet("1.1", **kwargs), "squeezenet1_1", pretrained, model_urls)
