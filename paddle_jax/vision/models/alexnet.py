"""AlexNet."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from paddle_jax import nn
from paddle_jax.nn import functional as F
from paddle_jax.vision.models._utils import uniform, with_weights

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor

_HOME = "https://paddle-imagenet-models-name.bj.bcebos.com/dygraph/"
model_urls: dict[str, tuple[str, str]] = {
    "alexnet": (f"{_HOME}AlexNet_pretrained.pdparams", "7f0f9f737132e02732d75a1459d98a43")
}


class ConvPoolLayer(nn.Layer):
    """A convolution, ReLU (when `act` is "relu") and 3x3 maximum pooling with stride 2.

    Args:
        input_channels, output_channels, filter_size, stride, padding, groups: of the convolution.
        stdv: float, limit of the evenly distributed initial weights.
        act: "relu" or None.
    """

    def __init__(
        self,
        input_channels: int,
        output_channels: int,
        filter_size: int,
        stride: int,
        padding: int,
        stdv: float,
        groups: int = 1,
        act: str | None = None,
    ) -> None:
        super().__init__()
        self.relu = nn.ReLU() if act == "relu" else None
        self._conv = nn.Conv2D(
            input_channels,
            output_channels,
            filter_size,
            stride,
            padding,
            groups=groups,
            weight_attr=uniform(stdv),
            bias_attr=uniform(stdv),
        )
        self._pool = nn.MaxPool2D(3, 2, 0)

    def forward(self, inputs: Tensor) -> Tensor:
        """[N, C', H', W'] of `inputs` [N, C, H, W]."""
        x = self._conv(inputs)
        return self._pool(x if self.relu is None else self.relu(x))


class AlexNet(nn.Layer):
    """Five convolutions, three of them with pooling, and three dense layers.

    Args:
        num_classes: int, length of the output. 0 or less leaves the dense layers out. Default 1000.
    Attributes:
        num_classes: as given.
        _conv1, _conv2, _conv5: ConvPoolLayer.
        _conv3, _conv4: Conv2D.
        _drop1, _drop2: Dropout.
        _fc6, _fc7, _fc8: Linear.
    Shape:
        input: [N, 3, 224, 224]; output: [N, num_classes], or [N, 256, 6, 6] without dense layers.
    Example:
        >>> paddle.vision.models.AlexNet(0)(paddle.zeros([1, 3, 64, 64])).shape
        paddle.Size([1, 256, 1, 1])
    See:
        Krizhevsky, "One weird trick for parallelizing convolutional neural networks", arXiv 1404.5997.
    """

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.num_classes = num_classes
        # The inputs of each convolution set the spread of its first weights.
        first, second, third, fourth, fifth = (
            1 / math.sqrt(n) for n in (3 * 121, 64 * 25, 192 * 9, 384 * 9, 256 * 9)
        )
        self._conv1 = ConvPoolLayer(3, 64, 11, 4, 2, first, act="relu")
        self._conv2 = ConvPoolLayer(64, 192, 5, 1, 2, second, act="relu")
        self._conv3 = nn.Conv2D(192, 384, 3, padding=1, weight_attr=uniform(third), bias_attr=uniform(third))
        self._conv4 = nn.Conv2D(
            384, 256, 3, padding=1, weight_attr=uniform(fourth), bias_attr=uniform(fourth)
        )
        self._conv5 = ConvPoolLayer(256, 256, 3, 1, 1, fifth, act="relu")
        if num_classes > 0:
            # Of an image of 224 x 224 pixels 6 x 6 places are left.
            length = 256 * 6 * 6
            attrs = {key: uniform(1 / math.sqrt(length)) for key in ("weight_attr", "bias_attr")}
            self._drop1 = nn.Dropout(0.5, mode="downscale_in_infer")
            self._fc6 = nn.Linear(length, 4096, **attrs)
            self._drop2 = nn.Dropout(0.5, mode="downscale_in_infer")
            self._fc7 = nn.Linear(4096, 4096, **attrs)
            self._fc8 = nn.Linear(4096, num_classes, **attrs)

    def forward(self, inputs: Tensor) -> Tensor:
        """The class scores of `inputs`, before softmax, or the features."""
        x = self._conv2(self._conv1(inputs))
        x = self._conv5(F.relu(self._conv4(F.relu(self._conv3(x)))))
        if self.num_classes <= 0:
            return x
        x = F.relu(self._fc6(self._drop1(x.flatten(1))))
        return self._fc8(F.relu(self._fc7(self._drop2(x))))


def alexnet(pretrained: bool = False, **kwargs: Any) -> AlexNet:
    """AlexNet.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
        **kwargs: `num_classes` of `AlexNet`.
    Returns:
        An AlexNet.
    Raises:
        RuntimeError: the weights are neither there nor to be downloaded.
    Example:
        >>> len(paddle.vision.models.alexnet(num_classes=0).state_dict())
        10
    """
    return with_weights(AlexNet(**kwargs), "alexnet", pretrained, model_urls)


__all__ = []
