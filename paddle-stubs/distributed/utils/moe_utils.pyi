from paddle_jax.distributed.utils.moe_utils import *
from paddle_jax.distributed.utils.moe_utils import global_gather as global_gather
from paddle_jax.distributed.utils.moe_utils import global_scatter as global_scatter
