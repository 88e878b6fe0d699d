from paddle_jax.vision.datasets.mnist import *
from paddle_jax.vision.datasets.mnist import FashionMNIST as FashionMNIST
from paddle_jax.vision.datasets.mnist import MNIST as MNIST
