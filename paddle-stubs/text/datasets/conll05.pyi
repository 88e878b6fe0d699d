from paddle_jax.text.datasets.conll05 import *
from paddle_jax.text.datasets.conll05 import Conll05st as Conll05st
