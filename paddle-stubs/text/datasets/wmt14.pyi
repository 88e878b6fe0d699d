from paddle_jax.text.datasets.wmt14 import *
from paddle_jax.text.datasets.wmt14 import WMT14 as WMT14
