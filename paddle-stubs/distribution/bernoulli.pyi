from paddle_jax.distribution.bernoulli import *
from paddle_jax.distribution.bernoulli import _clip_probs as _clip_probs
