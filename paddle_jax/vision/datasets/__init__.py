"""paddle.vision.datasets: data sets of images."""

from paddle_jax.vision.datasets.cifar import Cifar10, Cifar100
from paddle_jax.vision.datasets.flowers import Flowers
from paddle_jax.vision.datasets.folder import DatasetFolder, ImageFolder
from paddle_jax.vision.datasets.mnist import MNIST, FashionMNIST
from paddle_jax.vision.datasets.voc2012 import VOC2012

__all__ = [
    "DatasetFolder",
    "ImageFolder",
    "MNIST",
    "FashionMNIST",
    "Flowers",
    "Cifar10",
    "Cifar100",
    "VOC2012",
]
