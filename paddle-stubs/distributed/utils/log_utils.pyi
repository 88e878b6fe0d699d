from paddle_jax.distributed.utils.log_utils import *
from paddle_jax.distributed.utils.log_utils import get_logger as get_logger
