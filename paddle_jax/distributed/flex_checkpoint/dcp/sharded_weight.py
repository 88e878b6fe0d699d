"""Parts of Tensors under the path that Paddle gives them."""

from paddle_jax.distributed.checkpoint.sharded_weight import (
    ShardedStateDict as ShardedStateDict,
)
from paddle_jax.distributed.checkpoint.sharded_weight import (
    ShardedWeight as ShardedWeight,
)
from paddle_jax.distributed.checkpoint.sharded_weight import (
    build_sharded_state_dict as build_sharded_state_dict,
)
from paddle_jax.distributed.checkpoint.sharded_weight import (
    create_sharded_weight_with_new_local as create_sharded_weight_with_new_local,
)
from paddle_jax.distributed.checkpoint.sharded_weight import (
    make_replicated_sharded_weight as make_replicated_sharded_weight,
)
from paddle_jax.distributed.checkpoint.sharded_weight import (
    make_tp_sharded_weight_for_checkpoint as make_tp_sharded_weight_for_checkpoint,
)
from paddle_jax.distributed.checkpoint.sharded_weight import (
    shard_weight as shard_weight,
)

__all__ = []
