from paddle_jax.base.libpaddle import *
