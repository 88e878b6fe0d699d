from paddle_jax.dataset.cifar import *
from paddle_jax.dataset.cifar import fetch as fetch
from paddle_jax.dataset.cifar import reader_creator as reader_creator
from paddle_jax.dataset.cifar import test10 as test10
from paddle_jax.dataset.cifar import test100 as test100
from paddle_jax.dataset.cifar import train10 as train10
from paddle_jax.dataset.cifar import train100 as train100
