from paddle_jax.distribution.lkj_cholesky import *
