from paddle_jax.base.libpaddle.eager.ops import *
