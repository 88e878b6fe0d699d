from paddle_jax.distribution.continuous_bernoulli import *
