"""paddle.vision: image models, data sets, operations on boxes, transforms of samples."""

from paddle_jax.vision import datasets, models, ops, transforms
from paddle_jax.vision.datasets import (
    MNIST,
    VOC2012,
    Cifar10,
    Cifar100,
    DatasetFolder,
    FashionMNIST,
    Flowers,
    ImageFolder,
)
from paddle_jax.vision.image import get_image_backend, image_load, set_image_backend
from paddle_jax.vision.models import *
from paddle_jax.vision.transforms import (
    BaseTransform,
    BrightnessTransform,
    CenterCrop,
    ColorJitter,
    Compose,
    ContrastTransform,
    Grayscale,
    HueTransform,
    Normalize,
    Pad,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomRotation,
    RandomVerticalFlip,
    Resize,
    SaturationTransform,
    ToTensor,
    Transpose,
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    center_crop,
    crop,
    hflip,
    normalize,
    pad,
    resize,
    rotate,
    to_grayscale,
    to_tensor,
    vflip,
)

__all__ = ["set_image_backend", "get_image_backend", "image_load"]
