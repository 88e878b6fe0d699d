from paddle_jax.dataset.flowers import *
from paddle_jax.dataset.flowers import default_mapper as default_mapper
from paddle_jax.dataset.flowers import fetch as fetch
from paddle_jax.dataset.flowers import reader_creator as reader_creator
from paddle_jax.dataset.flowers import test as test
from paddle_jax.dataset.flowers import train as train
from paddle_jax.dataset.flowers import valid as valid
