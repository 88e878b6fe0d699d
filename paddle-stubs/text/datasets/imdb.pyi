from paddle_jax.text.datasets.imdb import *
from paddle_jax.text.datasets.imdb import Imdb as Imdb
