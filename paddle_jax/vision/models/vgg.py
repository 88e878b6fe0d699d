"""VGG networks with 11, 13, 16 and 19 layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax import nn
from paddle_jax.vision.models._utils import urls, with_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.layers import Layer

__all__ = []

model_urls: dict[str, tuple[str, str]] = urls(
    {"vgg16": "89bbffc0f87d260be9b8cdc169c991c4", "vgg19": "23b18bb13d8894f60f54e642be79a0dd"}
)
_CHANNELS = (64, 128, 256, 512, 512)
# depth -> convolutions in each stage
_REPEATS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


class VGG(nn.Layer):
    """Features, the mean over 7 x 7 fields, three dense layers.

    Args:
        features: Layer that gives [N, 512, H, W].
        num_classes: int, length of the output. 0 or less leaves the dense layers out. Default 1000.
        with_pool: bool, take the means. Default True. Without them the dense layers only fit where 7 x 7
            positions are left.
    Shape:
        input: [N, 3, H, W]; output: [N, num_classes]; without dense layers [N, 512, 7, 7].
    Example:
        >>> paddle.vision.models.vgg11(num_classes=0)(paddle.zeros([1, 3, 32, 32])).shape
        paddle.Size([1, 512, 7, 7])
    See:
        Simonyan and Zisserman, arXiv 1409.1556.
    """

    def __init__(self, features: Layer, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.features = features
        self.num_classes = num_classes
        self.with_pool = with_pool
        # The linear layers take 7 x 7 places, whatever the size of the image.
        if with_pool:
            self.avgpool: nn.AdaptiveAvgPool2D = nn.AdaptiveAvgPool2D((7, 7))
        if num_classes > 0:
            self.classifier: nn.Sequential = nn.Sequential(
                nn.Linear(512 * 7 * 7, 4096),
                nn.ReLU(),
                nn.Dropout(),
                nn.Linear(4096, 4096),
                nn.ReLU(),
                nn.Dropout(),
                nn.Linear(4096, num_classes),
            )

    def forward(self, x: Tensor) -> Tensor:
        """The class scores of `x`, before softmax, or its features."""
        x = self.features(x)
        if self.with_pool:
            x = self.avgpool(x)
        if self.num_classes > 0:
            return self.classifier(x.flatten(1))
        return x


def make_layers(cfg: Sequence[int | str], batch_norm: bool = False) -> Layer:
    """3x3 convolutions with ReLU, and 2x2 maximum pooling.

    Args:
        cfg: list of channel counts, one for each convolution, and "M" for pooling.
        batch_norm: bool, normalise after each convolution. Default False.
    Returns:
        A Sequential.
    Example:
        >>> len(paddle.vision.models.vgg.make_layers([8, "M", 16]))
        5
    """
    layers = []
    channels = 3
    for item in cfg:
        if item == "M":
            layers.append(nn.MaxPool2D(2, 2))
            continue
        layers += [
            nn.Conv2D(channels, item, 3, padding=1),
            *([nn.BatchNorm2D(item)] if batch_norm else []),
            nn.ReLU(),
        ]
        channels = item
    return nn.Sequential(*layers)


def _vgg(depth: int, batch_norm: bool, pretrained: bool, kwargs: dict[str, Any]) -> VGG:
    stages = zip(_CHANNELS, _REPEATS[depth], strict=True)
    model = VGG(
        make_layers([item for channels, n in stages for item in [channels] * n + ["M"]], batch_norm), **kwargs
    )
    return with_weights(model, f"vgg{depth}" + "_bn" * bool(batch_norm), pretrained, model_urls)


def vgg11(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 11 layers. Arguments as for `vgg16`; no weights are published.

    Args:
        pretrained: bool; True is refused, since no weights are published. Default False.
        batch_norm: bool, normalise after each convolution. Default False.
        **kwargs: `num_classes`, `with_pool` of `VGG`.
    Returns:
        A VGG.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.vgg11()
        >>> int(sum(p.size for p in net.parameters()))
        132863336
    """
    return _vgg(11, batch_norm, pretrained, kwargs)


def vgg13(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 13 layers. Arguments as for `vgg16`; no weights are published.

    Args:
        pretrained: bool; True is refused, since no weights are published. Default False.
        batch_norm: bool, normalise after each convolution. Default False.
        **kwargs: `num_classes`, `with_pool` of `VGG`.
    Returns:
        A VGG.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.vgg13()
        >>> int(sum(p.size for p in net.parameters()))
        133047848
    """
    return _vgg(13, batch_norm, pretrained, kwargs)


def vgg16(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 16 layers.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
        batch_norm: bool, normalise after each convolution; no weights are published for it. Default False.
        **kwargs: `num_classes`, `with_pool` of `VGG`.
    Returns:
        A VGG.
    Raises:
        AssertionError: `pretrained` and no weights are published.
        RuntimeError: the weights are neither there nor to be downloaded.
    Example:
        >>> len(paddle.vision.models.vgg16(num_classes=0).state_dict())
        26
    """
    return _vgg(16, batch_norm, pretrained, kwargs)


def vgg19(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 19 layers.

    Args:
        pretrained: bool, load the weights trained on ImageNet from `~/.cache/paddle/hapi/weights`, downloaded
            when not there. Default False.
        batch_norm: bool, normalise after each convolution; no weights are published for it. Default False.
    Returns:
        A VGG.
    Example:
        >>> with paddle.LazyGuard():  # no weights are drawn
        ...     net = paddle.vision.models.vgg19()
        >>> int(sum(p.size for p in net.parameters()))
        143667240
    """
    return _vgg(19, batch_norm, pretrained, kwargs)
