from paddle_jax.incubate.autotune import *
