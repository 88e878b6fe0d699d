from paddle_jax.distributed.models.moe.utils import *
from paddle_jax.distributed.models.moe.utils import _assign_pos as _assign_pos
from paddle_jax.distributed.models.moe.utils import _limit_by_capacity as _limit_by_capacity
from paddle_jax.distributed.models.moe.utils import _number_count as _number_count
from paddle_jax.distributed.models.moe.utils import _prune_gate_by_capacity as _prune_gate_by_capacity
from paddle_jax.distributed.models.moe.utils import _random_routing as _random_routing
