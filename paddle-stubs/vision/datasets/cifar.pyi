from paddle_jax.vision.datasets.cifar import *
from paddle_jax.vision.datasets.cifar import Cifar10 as Cifar10
from paddle_jax.vision.datasets.cifar import Cifar100 as Cifar100
