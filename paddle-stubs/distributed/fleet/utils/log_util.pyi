from paddle_jax.distributed.fleet.utils.log_util import *
from paddle_jax.distributed.fleet.utils.log_util import get_log_level_code as get_log_level_code
from paddle_jax.distributed.fleet.utils.log_util import get_log_level_name as get_log_level_name
from paddle_jax.distributed.fleet.utils.log_util import layer_to_str as layer_to_str
from paddle_jax.distributed.fleet.utils.log_util import set_log_level as set_log_level
