from paddle_jax.base.executor import *
