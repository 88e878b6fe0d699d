"""GoogLeNet."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from paddle_jax import nn
from paddle_jax.nn import functional as F
from paddle_jax.tensor.joining import concat
from paddle_jax.vision.models._utils import uniform, with_weights

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.base.param_attr import ParamAttr

__all__ = []

_HOME = "https://paddle-imagenet-models-name.bj.bcebos.com/dygraph/"
model_urls: dict[str, tuple[str, str]] = {
    "googlenet": (f"{_HOME}GoogLeNet_pretrained.pdparams", "80c06f038e905c53ab32c40eca6e26ae")
}
_BLOCKS = {
    # name -> channels before; of the 1x1, before the 3x3, the 3x3, before the 5x5, the 5x5 and the pooled
    # path
    "3a": (192, 64, 96, 128, 16, 32, 32),
    "3b": (256, 128, 128, 192, 32, 96, 64),
    "4a": (480, 192, 96, 208, 16, 48, 64),
    "4b": (512, 160, 112, 224, 24, 64, 64),
    "4c": (512, 128, 128, 256, 24, 64, 64),
    "4d": (512, 112, 144, 288, 32, 64, 64),
    "4e": (528, 256, 160, 320, 32, 128, 128),
    "5a": (832, 256, 160, 320, 32, 128, 128),
    "5b": (832, 384, 192, 384, 48, 128, 128),
}


def xavier(channels: int, filter_size: int) -> ParamAttr:
    """ParamAttr with values drawn evenly from -s to s, s = sqrt(3 / (filter_size ** 2 * channels))."""
    return uniform(math.sqrt(3.0 / (filter_size**2 * channels)))


class ConvLayer(nn.Layer):
    """A convolution without bias that keeps height and width at stride 1.

    Args:
        num_channels, num_filters, filter_size, stride, groups: of the convolution.
    """

    def __init__(
        self, num_channels: int, num_filters: int, filter_size: int, stride: int = 1, groups: int = 1
    ) -> None:
        super().__init__()
        self._conv = nn.Conv2D(
            num_channels,
            num_filters,
            filter_size,
            stride=stride,
            padding=(filter_size - 1) // 2,
            groups=groups,
            bias_attr=False,
        )

    def forward(self, inputs: Tensor) -> Tensor:
        """The layer's output for `inputs`."""
        return self._conv(inputs)


class Inception(nn.Layer):
    """Four paths side by side: 1x1, 3x3 and 5x5 convolutions and pooling, then ReLU.

    Args:
        input_channels: int.
        output_channels: not used.
        filter1, filter3R, filter3, filter5R, filter5, proj: int, channels of the 1x1 path, before and after
            the 3x3 and 5x5 convolutions, and of the pooled path.
    Attributes:
        _conv1, _conv3r, _conv3, _conv5r, _conv5, _convprj: ConvLayer of the four paths.
        _pool: MaxPool2D before _convprj.
    """

    def __init__(
        self,
        input_channels: int,
        output_channels: int,
        filter1: int,
        filter3R: int,
        filter3: int,
        filter5R: int,
        filter5: int,
        proj: int,
    ) -> None:
        super().__init__()
        self._conv1 = ConvLayer(input_channels, filter1, 1)
        self._conv3r = ConvLayer(input_channels, filter3R, 1)
        self._conv3 = ConvLayer(filter3R, filter3, 3)
        self._conv5r = ConvLayer(input_channels, filter5R, 1)
        self._conv5 = ConvLayer(filter5R, filter5, 5)
        self._pool = nn.MaxPool2D(3, stride=1, padding=1)
        self._convprj = ConvLayer(input_channels, proj, 1)

    def forward(self, inputs: Tensor) -> Tensor:
        """The block's output for `inputs`."""
        paths = [
            self._conv1(inputs),
            self._conv3(self._conv3r(inputs)),
            self._conv5(self._conv5r(inputs)),
            self._convprj(self._pool(inputs)),
        ]
        return F.relu(concat(paths, 1))


class GoogLeNet(nn.Layer):
    """Three convolutions and nine inception blocks; two more outputs from the middle help training.

    Args:
        num_classes: int, length of the outputs. 0 or less leaves the dense layers out. Default 1000.
        with_pool: bool, take means over positions. Default True.
    Attributes:
        num_classes, with_pool: as given.
        _conv, _conv_1, _conv_2: ConvLayer.
        _pool: MaxPool2D.
        _pool_5: AdaptiveAvgPool2D.
        _pool_o1, _pool_o2: AvgPool2D.
        _drop: Dropout.
        _fc_out: Linear.
    Shape:
        input: [N, 3, 224, 224], and other sizes without dense layers.
        output: tuple of three: the scores [N, num_classes] after all blocks, after the third and after the
        sixth; features without dense layers.
    Example:
        >>> [list(out.shape) for out in paddle.vision.models.GoogLeNet(0)(paddle.zeros([1, 3, 64, 64]))]
        [[1, 1024, 1, 1], [1, 512, 1, 1], [1, 528, 1, 1]]
    See:
        Szegedy et al., arXiv 1409.4842.
    """

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.with_pool = with_pool
        self._conv = ConvLayer(3, 64, 7, 2)
        self._pool = nn.MaxPool2D(3, stride=2)
        self._conv_1 = ConvLayer(64, 64, 1)
        self._conv_2 = ConvLayer(64, 192, 3)
        for name, (before, *paths) in _BLOCKS.items():
            setattr(self, f"_ince{name}", Inception(before, before, *paths))
        if with_pool:
            self._pool_5 = nn.AdaptiveAvgPool2D(1)
            self._pool_o1 = nn.AvgPool2D(5, stride=3)
            self._pool_o2 = nn.AvgPool2D(5, stride=3)
        if num_classes > 0:
            self._drop = nn.Dropout(0.4, mode="downscale_in_infer")
            self._fc_out = nn.Linear(1024, num_classes, weight_attr=xavier(1024, 1))
            # Two outputs from the middle help to train the lower layers.
            for number, channels in ((1, 512), (2, 528)):
                setattr(self, f"_conv_o{number}", ConvLayer(channels, 128, 1))
                # Of an image of 224 x 224 pixels 3 x 3 places with 128 channels are left here.
                setattr(self, f"_fc_o{number}", nn.Linear(1152, 1024, weight_attr=xavier(2048, 1)))
                setattr(self, f"_drop_o{number}", nn.Dropout(0.7, mode="downscale_in_infer"))
                setattr(self, f"_out{number}", nn.Linear(1024, num_classes, weight_attr=xavier(1024, 1)))

    def _side(self, x: Tensor, number: int) -> Tensor:
        """One of the two outputs from the middle."""
        if self.with_pool:
            x = getattr(self, f"_pool_o{number}")(x)
        if self.num_classes <= 0:
            return x
        x = getattr(self, f"_fc_o{number}")(getattr(self, f"_conv_o{number}")(x).flatten(1))
        # As in Paddle: only the first side has a ReLU here.
        return getattr(self, f"_out{number}")(
            getattr(self, f"_drop_o{number}")(F.relu(x) if number == 1 else x)
        )

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The three outputs for `inputs`, before softmax."""
        x = self._pool(self._conv_2(self._conv_1(self._pool(self._conv(inputs)))))
        x = self._pool(self._ince3b(self._ince3a(x)))
        third = self._ince4a(x)
        sixth = self._ince4d(self._ince4c(self._ince4b(third)))
        x = self._ince5b(self._ince5a(self._pool(self._ince4e(sixth))))
        if self.with_pool:
            x = self._pool_5(x)
        if self.num_classes > 0:
            x = self._fc_out(self._drop(x).squeeze([2, 3]))
        return x, self._side(third, 1), self._side(sixth, 2)


def googlenet(pretrained: bool = False, **kwargs: Any) -> GoogLeNet:
    """GoogLeNet.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
        **kwargs: `num_classes`, `with_pool` of `GoogLeNet`.
    Returns:
        A GoogLeNet.
    Raises:
        RuntimeError: the weights are neither there nor to be downloaded.
    Example:
        >>> len(paddle.vision.models.googlenet().state_dict())
        69
    """
    return with_weights(GoogLeNet(**kwargs), "googlenet", pretrained, model_urls)
