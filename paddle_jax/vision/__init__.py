"""paddle.vision: image models, data sets, operations on boxes, transforms of samples."""

from paddle_jax.vision import datasets as datasets, models as models, ops as ops, transforms as transforms
from paddle_jax.vision.datasets import (
    MNIST as MNIST,
    VOC2012 as VOC2012,
    Cifar10 as Cifar10,
    Cifar100 as Cifar100,
    DatasetFolder as DatasetFolder,
    FashionMNIST as FashionMNIST,
    Flowers as Flowers,
    ImageFolder as ImageFolder,
)
from paddle_jax.vision.image import get_image_backend, image_load, set_image_backend
from paddle_jax.vision.models import *
from paddle_jax.vision.transforms import (
    BaseTransform as BaseTransform,
    BrightnessTransform as BrightnessTransform,
    CenterCrop as CenterCrop,
    ColorJitter as ColorJitter,
    Compose as Compose,
    ContrastTransform as ContrastTransform,
    Grayscale as Grayscale,
    HueTransform as HueTransform,
    Normalize as Normalize,
    Pad as Pad,
    RandomCrop as RandomCrop,
    RandomHorizontalFlip as RandomHorizontalFlip,
    RandomResizedCrop as RandomResizedCrop,
    RandomRotation as RandomRotation,
    RandomVerticalFlip as RandomVerticalFlip,
    Resize as Resize,
    SaturationTransform as SaturationTransform,
    ToTensor as ToTensor,
    Transpose as Transpose,
    adjust_brightness as adjust_brightness,
    adjust_contrast as adjust_contrast,
    adjust_hue as adjust_hue,
    center_crop as center_crop,
    crop as crop,
    hflip as hflip,
    normalize as normalize,
    pad as pad,
    resize as resize,
    rotate as rotate,
    to_grayscale as to_grayscale,
    to_tensor as to_tensor,
    vflip as vflip,
)

__all__ = ["set_image_backend", "get_image_backend", "image_load"]
