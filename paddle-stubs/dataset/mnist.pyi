from paddle_jax.dataset.mnist import *
from paddle_jax.dataset.mnist import fetch as fetch
from paddle_jax.dataset.mnist import reader_creator as reader_creator
from paddle_jax.dataset.mnist import test as test
from paddle_jax.dataset.mnist import train as train
