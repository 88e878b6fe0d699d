from paddle_jax.distributed.fsdp.fully_shard import *
from paddle_jax.distributed.fsdp.fully_shard import MixedPrecisionPolicy as MixedPrecisionPolicy
from paddle_jax.distributed.fsdp.fully_shard import OffloadPolicy as OffloadPolicy
from paddle_jax.distributed.fsdp.fully_shard import fully_shard as fully_shard
