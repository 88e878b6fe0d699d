from paddle_jax.base.libpaddle.eager import *
