from paddle_jax.cuda import *
