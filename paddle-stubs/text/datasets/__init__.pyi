from paddle_jax.text.datasets import *
from paddle_jax.text.datasets import Conll05st as Conll05st
from paddle_jax.text.datasets import Imdb as Imdb
from paddle_jax.text.datasets import Imikolov as Imikolov
from paddle_jax.text.datasets import Movielens as Movielens
from paddle_jax.text.datasets import UCIHousing as UCIHousing
from paddle_jax.text.datasets import WMT14 as WMT14
from paddle_jax.text.datasets import WMT16 as WMT16
