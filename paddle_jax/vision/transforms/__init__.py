"""paddle.vision.transforms: transforms of images and samples."""

from paddle_jax.vision.transforms.functional import (
    adjust_brightness, adjust_contrast, adjust_hue, affine, center_crop, crop, erase, hflip, normalize, pad,
    perspective, resize, rotate, to_grayscale, to_tensor, vflip,
)
from paddle_jax.vision.transforms.base import BaseTransform, Compose
from paddle_jax.vision.transforms.colors import (BrightnessTransform, ColorJitter, ContrastTransform,
                                                 HueTransform, SaturationTransform)
from paddle_jax.vision.transforms.transforms import (
    CenterCrop, Grayscale, Normalize, Pad, RandomCrop, RandomHorizontalFlip, RandomResizedCrop,
    RandomVerticalFlip, Resize, ToTensor, Transpose,
)
from paddle_jax.vision.transforms.warps import RandomAffine, RandomErasing, RandomPerspective, RandomRotation

__all__ = [
    "BaseTransform", "Compose", "Resize", "RandomResizedCrop", "CenterCrop", "RandomHorizontalFlip",
    "RandomVerticalFlip", "Transpose", "Normalize", "BrightnessTransform", "SaturationTransform",
    "ContrastTransform", "HueTransform", "ColorJitter", "RandomCrop", "Pad", "RandomAffine", "RandomRotation",
    "RandomPerspective", "Grayscale", "ToTensor", "RandomErasing", "to_tensor", "hflip", "vflip", "resize",
    "pad", "affine", "rotate", "perspective", "to_grayscale", "crop", "center_crop", "adjust_brightness",
    "adjust_contrast", "adjust_hue", "normalize", "erase",
]
