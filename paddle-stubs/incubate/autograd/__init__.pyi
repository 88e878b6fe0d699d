from paddle_jax.incubate.autograd import *
from paddle_jax.incubate.autograd import primapi as primapi
