"""Data sets of text, from files of the user's or from the network."""

from paddle_jax.text.datasets.imdb import Imdb
from paddle_jax.text.datasets.imikolov import Imikolov
from paddle_jax.text.datasets.uci_housing import UCIHousing

__all__ = []
