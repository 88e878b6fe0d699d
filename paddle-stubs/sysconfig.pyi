from paddle_jax.sysconfig import *
