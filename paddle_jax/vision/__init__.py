"""paddle.vision: image models, transforms of samples."""

from paddle_jax.vision import models, transforms
from paddle_jax.vision.models import (
    LeNet, ResNet, resnet18, resnet34, resnet50, resnet101, resnet152, resnext50_32x4d, resnext50_64x4d, resnext101_32x4d, resnext101_64x4d,
    resnext152_32x4d, resnext152_64x4d, wide_resnet50_2, wide_resnet101_2,
)
from paddle_jax.vision.transforms import Compose
