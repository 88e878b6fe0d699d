from paddle_jax.dataset import *
from paddle_jax.dataset import common as common
