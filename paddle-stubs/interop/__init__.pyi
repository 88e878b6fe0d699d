from paddle_jax.interop import *
