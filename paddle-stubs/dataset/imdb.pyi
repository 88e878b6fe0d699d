from paddle_jax.dataset.imdb import *
from paddle_jax.dataset.imdb import build_dict as build_dict
from paddle_jax.dataset.imdb import fetch as fetch
from paddle_jax.dataset.imdb import reader_creator as reader_creator
from paddle_jax.dataset.imdb import test as test
from paddle_jax.dataset.imdb import tokenize as tokenize
from paddle_jax.dataset.imdb import train as train
from paddle_jax.dataset.imdb import word_dict as word_dict
