from paddle_jax.base.libpaddle.eager.ops.legacy import *
