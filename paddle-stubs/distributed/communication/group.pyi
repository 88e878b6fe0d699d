from paddle_jax.distributed.communication.group import *
from paddle_jax.distributed.communication.group import _get_global_group as _get_global_group
