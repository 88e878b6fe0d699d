from paddle_jax.distributed.utils.launch_utils import *
from paddle_jax.distributed.utils.launch_utils import find_free_ports as find_free_ports
