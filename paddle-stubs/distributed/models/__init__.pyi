from paddle_jax.distributed.models import *
