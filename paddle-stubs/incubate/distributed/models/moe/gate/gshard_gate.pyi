from paddle_jax.incubate.distributed.models.moe.gate.gshard_gate import *
