"""LeNet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax import nn

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


class LeNet(nn.Layer):
    """Two convolutions with pooling and three dense layers, for grey images of 28 x 28.

    Args:
        num_classes: int, length of the output. 0 or less leaves the dense layers out and returns the
            features. Default 10.
    Shape:
        input: [N, 1, 28, 28]; output: [N, num_classes], or [N, 16, 5, 5] without dense layers.
    Example:
        >>> paddle.vision.models.LeNet()(paddle.zeros([2, 1, 28, 28])).shape
        paddle.Size([2, 10])
    See:
        LeCun et al., "Gradient-based learning applied to document recognition" (1998); ReLU and maximum
        pooling in place of the originals.
    """

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.features: nn.Sequential = nn.Sequential(
            nn.Conv2D(1, 6, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
            nn.Conv2D(6, 16, 5),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
        )
        if num_classes > 0:
            # Of an image of 28 x 28 pixels 5 x 5 places are left.
            self.fc: nn.Sequential = nn.Sequential(
                nn.Linear(16 * 5 * 5, 120), nn.Linear(120, 84), nn.Linear(84, num_classes)
            )

    def forward(self, inputs: Tensor) -> Tensor:
        """The class scores of `inputs`, before softmax."""
        features = self.features(inputs)
        if self.num_classes > 0:
            return self.fc(features.flatten(1))
        return features
