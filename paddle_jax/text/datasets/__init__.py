"""Data sets of text, from files of the user's or from the network."""

from paddle_jax.text.datasets.conll05 import Conll05st
from paddle_jax.text.datasets.imdb import Imdb
from paddle_jax.text.datasets.imikolov import Imikolov
from paddle_jax.text.datasets.movielens import Movielens
from paddle_jax.text.datasets.uci_housing import UCIHousing
from paddle_jax.text.datasets.wmt14 import WMT14
from paddle_jax.text.datasets.wmt16 import WMT16

__all__ = []
