from paddle_jax.distribution.chi2 import *
