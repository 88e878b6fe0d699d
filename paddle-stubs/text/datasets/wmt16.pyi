from paddle_jax.text.datasets.wmt16 import *
from paddle_jax.text.datasets.wmt16 import WMT16 as WMT16
