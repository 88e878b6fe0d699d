from paddle_jax.framework.io import *
