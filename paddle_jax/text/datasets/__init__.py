"""Data sets of text, from files of the user's or from the network."""

from paddle_jax.text.datasets.conll05 import Conll05st as Conll05st
from paddle_jax.text.datasets.imdb import Imdb as Imdb
from paddle_jax.text.datasets.imikolov import Imikolov as Imikolov
from paddle_jax.text.datasets.movielens import Movielens as Movielens
from paddle_jax.text.datasets.uci_housing import UCIHousing as UCIHousing
from paddle_jax.text.datasets.wmt14 import WMT14 as WMT14
from paddle_jax.text.datasets.wmt16 import WMT16 as WMT16

__all__ = []
