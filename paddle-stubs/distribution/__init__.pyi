from paddle_jax.distribution import *
from paddle_jax.distribution import transform as transform
