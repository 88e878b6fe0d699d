from paddle_jax.utils import *
from paddle_jax.utils import install_check as install_check
