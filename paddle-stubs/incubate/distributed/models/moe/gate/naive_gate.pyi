from paddle_jax.incubate.distributed.models.moe.gate.naive_gate import *
