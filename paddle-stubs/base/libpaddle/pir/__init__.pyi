from paddle_jax.base.libpaddle.pir import *
