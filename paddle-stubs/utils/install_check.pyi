from paddle_jax.utils.install_check import *
