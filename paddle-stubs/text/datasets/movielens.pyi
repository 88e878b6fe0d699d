from paddle_jax.text.datasets.movielens import *
from paddle_jax.text.datasets.movielens import MovieInfo as MovieInfo
from paddle_jax.text.datasets.movielens import Movielens as Movielens
from paddle_jax.text.datasets.movielens import UserInfo as UserInfo
