from paddle_jax.incubate.distributed.models.moe.gate.switch_gate import *
