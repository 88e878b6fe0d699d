from paddle_jax.distributed.fleet.utils import *
from paddle_jax.distributed.fleet.utils import log_util as log_util
