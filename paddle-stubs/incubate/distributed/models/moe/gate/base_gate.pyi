from paddle_jax.incubate.distributed.models.moe.gate.base_gate import *
