from paddle_jax.text.datasets.uci_housing import *
from paddle_jax.text.datasets.uci_housing import UCIHousing as UCIHousing
