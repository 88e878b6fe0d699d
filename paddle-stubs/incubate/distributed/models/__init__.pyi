from paddle_jax.incubate.distributed.models import *
