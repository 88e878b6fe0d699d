from paddle_jax.framework import *
